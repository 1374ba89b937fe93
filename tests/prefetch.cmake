imrec_test(test_prefetch prefetch SOURCES unit/test_prefetch.c)
add_test(NAME example_prefetch COMMAND prefetch_example 200 4)
set_tests_properties(example_prefetch PROPERTIES LABELS cli TIMEOUT 120 ENVIRONMENT "${IMREC_TEST_ENV}"
                     PASS_REGULAR_EXPRESSION "200 items, 2 failed: in order")
