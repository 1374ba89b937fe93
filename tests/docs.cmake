# The documents as a reader uses them: the site, and the programs that pages show.
if(NOT IMREC_SANITIZE)
  add_test(NAME docs_site COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/docs/site.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                                  ${PROJECT_BINARY_DIR}/site)
  set_tests_properties(docs_site PROPERTIES LABELS "docs;install" TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()
