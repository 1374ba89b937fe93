imrec_test(test_cli cli)
imrec_test(test_cli_output cli)
