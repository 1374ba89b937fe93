imrec_test(test_doctor doctor dataset compare transfer iter minibatch convert reshape)
imrec_test(test_top top dataset compare transfer iter minibatch convert reshape)
# A machine that stops at any call; more states in tests/long.
imrec_crash_test(test_crash_commands crash_states_commands tools dataset compare transfer iter minibatch convert reshape)
