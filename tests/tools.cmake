imrec_test(test_param base SOURCES unit/test_param.c)
imrec_test(test_shown base SOURCES unit/test_shown.c)
imrec_test(test_cli cli SOURCES unit/test_cli.c)
imrec_test(test_cli_output cli SOURCES unit/test_cli_output.c)
imrec_test(test_card_stats iter dataset SOURCES unit/test_card_stats.c)
imrec_test(test_verify_threads iter dataset SOURCES property/test_verify_threads.c LABEL property)
imrec_fuzz(repair iter dataset)
imrec_test(test_repair_match iter dataset SOURCES unit/test_repair_match.c)
imrec_test(test_repair_shifts iter dataset SOURCES property/test_repair_shifts.c LABEL property)
imrec_test(test_dataset_faults iter dataset SOURCES fault/test_dataset_faults.c LABEL fault)
imrec_test(test_dataset_reads iter dataset SOURCES fault/test_dataset_reads.c LABEL fault)
imrec_test(test_drop_behind iter dataset SOURCES property/test_drop_behind.c LABEL property)

# The toolbox from outside: every tests/cli/imrec/CASE.sh on sets made by make_set.
add_executable(make_set support/make_set.c)
imrec_link(make_set iter dataset)
target_link_libraries(make_set PRIVATE m)
file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/imrec/*.sh)
foreach(case IN LISTS cases)
  get_filename_component(name ${case} NAME_WE)
  add_test(NAME cli_imrec_${name} COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.sh ${case}
           $<TARGET_FILE_DIR:imrec_tool> $<TARGET_FILE_DIR:make_set> $<TARGET_FILE_DIR:param_rows>
           $<TARGET_FILE_DIR:im2rec>)
  set_tests_properties(cli_imrec_${name} PROPERTIES LABELS cli TIMEOUT 120 SKIP_RETURN_CODE 77
                       ENVIRONMENT "${IMREC_TEST_ENV}")
endforeach()
add_test(NAME cli_manual COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/cli/manual.sh
         ${PROJECT_BINARY_DIR}/man $<TARGET_FILE_DIR:imrec_tool> $<TARGET_FILE_DIR:im2rec>)
set_tests_properties(cli_manual PROPERTIES LABELS cli ENVIRONMENT "${IMREC_TEST_ENV}")
