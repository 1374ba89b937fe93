imrec_test(test_ctf_number ctf SOURCES property/test_ctf_number.c LABEL property)
imrec_test(test_ctf_vectors ctf storage SOURCES conformance/test_ctf_vectors.c LABEL conformance)
imrec_fuzz(ctf ctf)
