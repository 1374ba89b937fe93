add_test(NAME example_prefetch COMMAND prefetch_example 200 4)
set_tests_properties(example_prefetch PROPERTIES LABELS cli TIMEOUT 120 ENVIRONMENT "${IMREC_TEST_ENV}"
                     PASS_REGULAR_EXPRESSION "200 items, 2 failed: in order")

# Augmenters of the user's.
add_library(augmenters MODULE support/augmenters.c)
target_link_libraries(augmenters PRIVATE imrec_flags)
imrec_test(test_own iter SOURCES unit/test_own.c)
target_compile_definitions(test_own PRIVATE AUGMENTERS="$<TARGET_FILE:augmenters>")
add_dependencies(test_own augmenters)

# Sources of the user's.
add_library(sources MODULE support/sources.c)
target_link_libraries(sources PRIVATE imrec_flags)
foreach(test property/test_source_threads fault/test_source_faults)
  get_filename_component(name ${test} NAME)
  get_filename_component(label ${test} DIRECTORY)
  imrec_test(${name} iter SOURCES ${test}.c LABEL ${label})
  target_compile_definitions(${name} PRIVATE SOURCES="$<TARGET_FILE:sources>")
  add_dependencies(${name} sources)
endforeach()
add_library(ppm_source MODULE ${PROJECT_SOURCE_DIR}/examples/source/ppm.c)
target_link_libraries(ppm_source PRIVATE imrec_flags)
imrec_test(test_source_ppm iter SOURCES unit/test_source_ppm.c)
target_compile_definitions(test_source_ppm PRIVATE PPM="$<TARGET_FILE:ppm_source>")
add_dependencies(test_source_ppm ppm_source)
