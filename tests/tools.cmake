imrec_test(test_doctor doctor dataset compare transfer iter minibatch convert reshape)
imrec_test(test_top top dataset compare transfer iter minibatch convert reshape)
