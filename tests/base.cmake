imrec_test(test_param base)
imrec_test(test_shown base)
