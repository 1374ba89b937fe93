imrec_test(test_source storage)
imrec_test(test_uri_list storage)
imrec_test(test_lock storage LABEL fault)
imrec_test(test_sink storage LABEL fault)
