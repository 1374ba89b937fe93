imrec_test(test_team iter)
imrec_test(test_prefetch prefetch)

# The team whatever the environment says of OpenMP.
target_link_libraries(test_team PRIVATE OpenMP::OpenMP_C)
add_test(NAME test_team_in_a_stingy_environment COMMAND test_team)
add_test(NAME test_team_under_a_thread_limit COMMAND test_team)
set_tests_properties(test_team_in_a_stingy_environment PROPERTIES LABELS "unit;parallel" TIMEOUT 60
                     ENVIRONMENT "${IMREC_TEST_ENV};OMP_NUM_THREADS=1;OMP_DYNAMIC=true;OMP_WAIT_POLICY=active")
set_tests_properties(test_team_under_a_thread_limit PROPERTIES LABELS "unit;parallel" TIMEOUT 60
                     ENVIRONMENT "${IMREC_TEST_ENV};OMP_THREAD_LIMIT=3")

add_test(NAME example_prefetch COMMAND prefetch_example 200 4)
set_tests_properties(example_prefetch PROPERTIES LABELS "cli;parallel" TIMEOUT 120 ENVIRONMENT "${IMREC_TEST_ENV}"
                     PASS_REGULAR_EXPRESSION "200 items, 2 failed: in order")
