imrec_test(test_doctor doctor dataset transfer iter minibatch convert reshape)
imrec_test(test_top top dataset transfer iter minibatch convert reshape)
