imrec_test(test_doctor doctor dataset iter minibatch convert reshape)
