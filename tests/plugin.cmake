imrec_test(test_prefetch prefetch SOURCES unit/test_prefetch.c)
add_test(NAME example_prefetch COMMAND prefetch_example 200 4)
set_tests_properties(example_prefetch PROPERTIES LABELS cli TIMEOUT 120 ENVIRONMENT "${IMREC_TEST_ENV}"
                     PASS_REGULAR_EXPRESSION "200 items, 2 failed: in order")

# Augmenters of the user's.
add_library(augmenters MODULE support/augmenters.c)
target_link_libraries(augmenters PRIVATE imrec_flags)
imrec_test(test_own iter SOURCES unit/test_own.c)
target_compile_definitions(test_own PRIVATE AUGMENTERS="$<TARGET_FILE:augmenters>")
add_dependencies(test_own augmenters)
