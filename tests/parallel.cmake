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

# Ring, ordered map and prefetcher in every order of their threads: their source, compiled for a scheduler that chooses. It
# moves stacks, which a sanitizer does not follow.
if(NOT IMREC_SANITIZE AND NOT IMREC_FUZZ AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  set(model ${CMAKE_CURRENT_SOURCE_DIR}/parallel/model)
  add_executable(model_parallel parallel/model/model.c parallel/model/scenarios.c ${PROJECT_SOURCE_DIR}/base/sized.c)
  foreach(file ring ordered prefetch)
    target_sources(model_parallel PRIVATE ${PROJECT_SOURCE_DIR}/parallel/${file}.c)
  endforeach()
  target_include_directories(model_parallel BEFORE PRIVATE ${model})
  target_link_libraries(model_parallel PRIVATE imrec_flags)
  add_test(NAME model_parallel COMMAND model_parallel)
  set_tests_properties(model_parallel PROPERTIES LABELS "property;parallel" TIMEOUT 300)
  if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
    set(mutants ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/parallel/model_mutants.py ${CMAKE_C_COMPILER}
                ${PROJECT_SOURCE_DIR})
    add_test(NAME model_finds_what_is_broken COMMAND ${mutants} 6) # all of them: tests/long model_mutants
    add_test(NAME model_mutants COMMAND ${mutants})
    set_tests_properties(model_finds_what_is_broken model_mutants PROPERTIES LABELS "property;parallel" TIMEOUT 900)
    set_tests_properties(model_mutants PROPERTIES LABELS "property;parallel;long")
  endif()
endif()
