imrec_test(test_minibatch_config minibatch SOURCES unit/test_minibatch_config.c)
imrec_test(test_seed_configs minibatch SOURCES conformance/test_seed_configs.c LABEL conformance)
imrec_test(test_minibatch_sizes plan SOURCES unit/test_minibatch_sizes.c)
imrec_test(test_timeline plan SOURCES unit/test_timeline.c)
