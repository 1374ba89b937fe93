imrec_test(test_doctor doctor dataset iter minibatch convert reshape)
imrec_test(test_top top dataset iter minibatch convert reshape)
