imrec_test(test_classic command SOURCES unit/test_classic.c)
imrec_test(test_stale_parts im2rec SOURCES unit/test_stale_parts.c)
imrec_test(test_old_set reshape SOURCES property/test_old_set.c LABEL property)
imrec_test(test_pack_journal im2rec SOURCES unit/test_pack_journal.c)
imrec_test(test_pack_budget im2rec SOURCES unit/test_pack_budget.c)
imrec_test(test_pack_inputs im2rec SOURCES unit/test_pack_inputs.c)
imrec_test(test_pack_pictures im2rec SOURCES unit/test_pack_pictures.c support/pictures.c)
imrec_test(test_pack_items im2rec iter SOURCES unit/test_pack_items.c)
imrec_test(test_pack_labels im2rec iter SOURCES unit/test_pack_labels.c)
imrec_test(test_python_random im2rec SOURCES unit/test_python_random.c)
imrec_test(test_pack_augment im2rec SOURCES unit/test_pack_augment.c)
imrec_fuzz(coco im2rec)
imrec_test(test_boxes im2rec SOURCES unit/test_boxes.c)
imrec_test(test_tally im2rec SOURCES unit/test_tally.c)
imrec_test(test_pack_property im2rec SOURCES property/test_pack_property.c LABEL property)
imrec_test(test_pack_empty reshape SOURCES property/test_pack_empty.c LABEL property)
imrec_test(test_pack_vectors im2rec SOURCES conformance/test_pack_vectors.c LABEL conformance)
imrec_test(test_reshape_masks reshape SOURCES unit/test_reshape_masks.c)
imrec_test(test_checked reshape SOURCES unit/test_checked.c)
imrec_test(test_reshape_faults reshape SOURCES fault/test_reshape_faults.c LABEL fault)
imrec_test(test_im2rec_faults im2rec SOURCES fault/test_pack_faults.c LABEL fault)
imrec_test(test_pack_items_faults im2rec SOURCES fault/test_pack_items_faults.c LABEL fault)

# im2rec from outside: every tests/cli/im2rec/CASE.sh on a folder of made pictures.
add_executable(make_pictures support/make_pictures.c)
imrec_link(make_pictures im2rec)
target_link_libraries(make_pictures PRIVATE PkgConfig::CHECK m)
file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cli/im2rec/*.sh)
foreach(case IN LISTS cases)
  get_filename_component(name ${case} NAME_WE)
  add_test(NAME cli_im2rec_${name} COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/cli/run.sh ${case}
           $<TARGET_FILE_DIR:im2rec> $<TARGET_FILE_DIR:imrec_tool> $<TARGET_FILE_DIR:make_pictures>)
  set_tests_properties(cli_im2rec_${name} PROPERTIES LABELS cli TIMEOUT 120 SKIP_RETURN_CODE 77
                       ENVIRONMENT "${IMREC_TEST_ENV}")
endforeach()

if(Python3_FOUND)
  add_test(NAME kill_and_resume COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fault/kill_pack.py
           $<TARGET_FILE:im2rec> ${CMAKE_CURRENT_BINARY_DIR}/photos 20)
  set_tests_properties(kill_and_resume PROPERTIES LABELS fault TIMEOUT 600 FIXTURES_REQUIRED photos
                       ENVIRONMENT "${IMREC_TEST_ENV}")
endif()
if(Python3_FOUND)
  add_test(NAME chains_of_copies COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fault/chains.py
           $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool>)
  add_test(NAME kill_export COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/fault/kill_export.py
           $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool>)
  set_tests_properties(chains_of_copies kill_export PROPERTIES LABELS fault TIMEOUT 900
                       ENVIRONMENT "${IMREC_TEST_ENV}")
endif()
imrec_test(test_pack_cbf im2rec SOURCES property/test_pack_cbf.c LABEL property)
imrec_test(test_convert im2rec SOURCES property/test_convert.c LABEL property)
imrec_test(test_convert_faults im2rec SOURCES fault/test_convert_faults.c LABEL fault)
imrec_test(test_ctf2bin_vectors im2rec SOURCES conformance/test_ctf2bin_vectors.c LABEL conformance)
