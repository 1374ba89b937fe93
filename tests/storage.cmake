imrec_test(test_source storage SOURCES unit/test_source.c)
imrec_test(test_uri_list storage SOURCES unit/test_uri_list.c)
imrec_test(test_sink storage SOURCES fault/test_sink.c LABEL fault)
imrec_test(test_walk split SOURCES property/test_walk.c LABEL property)
