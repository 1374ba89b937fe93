# The documents as a reader uses them: the site, and the programs that pages show.
if(NOT IMREC_SANITIZE)
  add_test(NAME docs_site COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/docs/site.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}
                                  ${PROJECT_BINARY_DIR}/site)
  set_tests_properties(docs_site PROPERTIES LABELS "docs;install" TIMEOUT 900 SKIP_RETURN_CODE 77)
endif()

# Commands that pages show, also those that no test runs, against --help.
if(Python3_FOUND)
  add_test(NAME docs_commands COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/docs/commands.py ${PROJECT_SOURCE_DIR}
                                      $<TARGET_FILE_DIR:im2rec> $<TARGET_FILE_DIR:imrec_tool>)
  set_tests_properties(docs_commands PROPERTIES LABELS docs ENVIRONMENT "${IMREC_TEST_ENV}")
endif()

# What pages show runs as written: with the frameworks where they are installed, otherwise without.
if(IMREC_PYTHON_FOUND AND NOT IMREC_SANITIZE)
  set(page_env ${python_env} "PATH=$<TARGET_FILE_DIR:im2rec>:$<TARGET_FILE_DIR:imrec_tool>:$ENV{PATH}" TF_CPP_MIN_LOG_LEVEL=3
      IMREC_BUILD=${PROJECT_BINARY_DIR})
  foreach(page guide/quickstart determinism tutorial/pytorch tutorial/pack tutorial/check tutorial/s3 tutorial/cluster tutorial/c
          migrate/torchvision migrate/webdataset migrate/cntk)
    string(REPLACE "/" "_" name ${page})
    add_test(NAME docs_${name} COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/docs/page.sh ${IMREC_PHOTOS}
             ${PROJECT_SOURCE_DIR}/docs/${page}.md ${PROJECT_SOURCE_DIR}/build/venv_frameworks/bin/python
             ${IMREC_PYTHON_EXECUTABLE})
    set_tests_properties(docs_${name} PROPERTIES LABELS docs TIMEOUT 600 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED photos
                         ENVIRONMENT "${page_env}")
  endforeach()
  add_test(NAME migrate COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/docs/migrate.sh ${IMREC_PHOTOS} ${PROJECT_SOURCE_DIR})
  set_tests_properties(migrate PROPERTIES LABELS "docs;long" TIMEOUT 1800 SKIP_RETURN_CODE 77 FIXTURES_REQUIRED photos
                       ENVIRONMENT "${page_env}")
endif()
