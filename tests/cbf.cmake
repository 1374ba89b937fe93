imrec_test(test_cbf_vectors cbf SOURCES conformance/test_cbf_vectors.c LABEL conformance)
