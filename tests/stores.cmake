# Sets on real servers, of those that tests/servers starts; label servers, and long for those that tests/long runs
# instead of every .ci/run. A server that is not installed is skipped, with the reason: tests/servers NAME install.
add_executable(read_steps support/read_steps.c)
imrec_link(read_steps iter)
target_link_libraries(read_steps PRIVATE m)

function(imrec_store_test name labels)
  add_test(NAME servers_${name}
           COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/stores/store.sh ${name} ${CMAKE_CURRENT_SOURCE_DIR} ${IMREC_PHOTOS}
                   $<TARGET_FILE_DIR:im2rec> $<TARGET_FILE_DIR:imrec_tool> $<TARGET_FILE_DIR:read_steps>)
  set_tests_properties(servers_${name} PROPERTIES LABELS "${labels}" FIXTURES_REQUIRED photos TIMEOUT 1800
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${IMREC_TEST_ENV}")
endfunction()
if(IMREC_HAVE_CURL)
  foreach(server http s3 gcs)
    imrec_store_test(${server} servers)
  endforeach()
  foreach(server s3-swift gcs-hmac az)
    imrec_store_test(${server} "servers;long")
  endforeach()
endif()
