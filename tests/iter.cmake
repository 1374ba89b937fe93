imrec_test(test_plan plan SOURCES unit/test_plan.c)
imrec_test(test_schedule plan SOURCES unit/test_schedule.c)
imrec_test(test_order iter SOURCES unit/test_order.c)
imrec_test(test_team iter SOURCES unit/test_team.c)
target_link_libraries(test_team PRIVATE OpenMP::OpenMP_C)
add_test(NAME test_team_in_a_stingy_environment COMMAND test_team)
add_test(NAME test_team_under_a_thread_limit COMMAND test_team)
set_tests_properties(test_team_in_a_stingy_environment PROPERTIES LABELS unit TIMEOUT 60
                     ENVIRONMENT "${IMREC_TEST_ENV};OMP_NUM_THREADS=1;OMP_DYNAMIC=true;OMP_WAIT_POLICY=active")
set_tests_properties(test_team_under_a_thread_limit PROPERTIES LABELS unit TIMEOUT 60
                     ENVIRONMENT "${IMREC_TEST_ENV};OMP_THREAD_LIMIT=3")
imrec_test(test_pixels iter SOURCES conformance/test_pixels.c LABEL conformance TIMEOUT 120)
imrec_test(test_iter_stream iter SOURCES property/test_iter_stream.c LABEL property TIMEOUT 300)
imrec_test(test_iter_restore iter SOURCES property/test_iter_restore.c LABEL property TIMEOUT 300)
