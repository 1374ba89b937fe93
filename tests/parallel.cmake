# The ordered map whatever the environment says of OpenMP.
imrec_test(test_ordered parallel)
imrec_test(test_ordered_run parallel)
imrec_test(test_prefetch parallel)

target_link_libraries(test_ordered PRIVATE OpenMP::OpenMP_C)
add_test(NAME test_ordered_in_a_stingy_environment COMMAND test_ordered)
add_test(NAME test_ordered_under_a_thread_limit COMMAND test_ordered)
add_test(NAME test_ordered_run_under_a_thread_limit COMMAND test_ordered_run)
set_tests_properties(test_ordered_in_a_stingy_environment PROPERTIES LABELS "unit;parallel" TIMEOUT 60
                     ENVIRONMENT "${IMREC_TEST_ENV};OMP_NUM_THREADS=1;OMP_DYNAMIC=true;OMP_WAIT_POLICY=active")
set_tests_properties(test_ordered_under_a_thread_limit PROPERTIES LABELS "unit;parallel" TIMEOUT 60
                     ENVIRONMENT "${IMREC_TEST_ENV};OMP_THREAD_LIMIT=3")
# Two threads: the runtime lets more than there are CPUs for spin less, and what spins is to be seen.
set_tests_properties(test_ordered_run_under_a_thread_limit PROPERTIES LABELS "unit;parallel" TIMEOUT 60
                     ENVIRONMENT "${IMREC_TEST_ENV};OMP_THREAD_LIMIT=2;OMP_WAIT_POLICY=active")

add_test(NAME example_prefetch COMMAND prefetch_example 200 4)
set_tests_properties(example_prefetch PROPERTIES LABELS "cli;parallel" TIMEOUT 120 ENVIRONMENT "${IMREC_TEST_ENV}"
                     PASS_REGULAR_EXPRESSION "200 items, 2 failed: in order")
