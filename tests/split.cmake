imrec_test(test_split_text split LABEL property)
imrec_test(test_split_records split LABEL property)
imrec_test(test_split_places split LABEL property)
imrec_test(test_split_damage split LABEL fault)
imrec_test(test_input_split_vectors split LABEL conformance)
if(IMREC_HAVE_CURL)
  imrec_test(test_split_http split LABEL fault)
  target_link_libraries(test_split_http PRIVATE imrec_http_proxy)
endif()

imrec_fuzz(split split DICTIONARY recordio)

# The three parts of a file have as many lines as it has that are not blank.
add_test(NAME example_input_split COMMAND ${BASH} -c
         "for part in 0 1 2; do $<TARGET_FILE:input_split_example> CMakeLists.txt $part 3 || exit 1; done |
          awk -v want=$(grep -c . CMakeLists.txt) '{ n += $5 } END { print n, \"lines of\", want; exit n != want || NR != 3 }'"
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(example_input_split PROPERTIES LABELS "cli;split" TIMEOUT 120 ENVIRONMENT "${IMREC_TEST_ENV}")
