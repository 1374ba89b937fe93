imrec_test(test_param base SOURCES unit/test_param.c)
imrec_test(test_cli cli SOURCES unit/test_cli.c)
imrec_test(test_cli_output cli SOURCES unit/test_cli_output.c)
