imrec_test(test_source storage)
imrec_test(test_uri_list storage)
imrec_test(test_folder storage)
imrec_test(test_lock storage LABEL fault)
imrec_test(test_sink storage LABEL fault)

# The server of tests/support/http_proxy.h, itself.
foreach(test test_http_proxy test_http_proxy_rules)
  imrec_test(${test} LABEL fault)
  target_link_libraries(${test} PRIVATE imrec_http_proxy)
endforeach()
if(IMREC_HAVE_CURL)
  imrec_test(test_http storage LABEL fault)
  target_link_libraries(test_http PRIVATE imrec_http_proxy)
endif()
if(IMREC_HAVE_HDFS)
  foreach(test test_webhdfs test_webhdfs_write)
    imrec_test(${test} storage LABEL fault SOURCES support/fake_hdfs.c)
    target_link_libraries(${test} PRIVATE imrec_http_proxy)
    target_compile_definitions(${test} PRIVATE _GNU_SOURCE)
  endforeach()
  imrec_fuzz(webhdfs hdfs)
  # Against a real one, which tests/servers starts where it is installed.
  add_test(NAME hdfs_cluster
           COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/storage/hdfs_cluster.sh ${CMAKE_CURRENT_SOURCE_DIR}/servers
                   $<TARGET_FILE_DIR:imrec_tool> $<TARGET_FILE_DIR:im2rec> $<TARGET_FILE_DIR:make_images>)
  set_tests_properties(hdfs_cluster PROPERTIES LABELS "fault;storage" TIMEOUT 1800 SKIP_RETURN_CODE 77 PROCESSORS 2
                       ENVIRONMENT "${IMREC_TEST_ENV}")
endif()
