imrec_test(test_det_label augment SOURCES unit/test_det_label.c)
imrec_test(test_det_draw iter SOURCES unit/test_det_draw.c)
imrec_test(test_det_boxes iter dataset SOURCES property/test_det_boxes.c LABEL property)
imrec_test(test_det_errors iter dataset SOURCES fault/test_det_errors.c LABEL fault)

# The guide's table is printed from THE table.
add_executable(param_rows support/param_rows.c)
target_include_directories(param_rows PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(param_rows PRIVATE imrec_flags)
add_test(NAME lint_tables COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/lint/tables.sh $<TARGET_FILE:param_rows>
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(lint_tables PROPERTIES LABELS lint TIMEOUT 60)
imrec_fuzz(boxes iter)
