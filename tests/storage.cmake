imrec_test(test_source storage)
imrec_test(test_uri_list storage)
imrec_test(test_file_held storage)
imrec_test(test_folder storage)
imrec_test(test_lock storage SOURCES support/failing_calls.c LABEL fault)
imrec_failing_calls(test_lock)
imrec_test(test_sink storage LABEL fault)
imrec_test(test_cache cache LABEL fault)
if(IMREC_PACKED_LIBRARIES)
  imrec_test(test_gzip_source packed LABEL fault)
  imrec_fuzz(gzip packed MAX_LEN 32768)
endif()
imrec_fuzz(cache cache)

imrec_fuzz(credentials aws)
imrec_test(test_plugged_store im2rec iter dataset)

# The server of tests/support/http_proxy.h, itself.
foreach(test test_http_proxy test_http_proxy_rules)
  imrec_test(${test} LABEL fault)
  target_link_libraries(${test} PRIVATE imrec_http_proxy)
endforeach()
if(IMREC_HAVE_CURL)
  imrec_test(test_http storage LABEL fault)
  target_link_libraries(test_http PRIVATE imrec_http_proxy)
  imrec_test(test_object object LABEL fault)
  target_link_libraries(test_object PRIVATE imrec_http_proxy)
  imrec_test(test_flow wire)
  imrec_test(test_authorities wire)
  imrec_test(test_far_reads container LABEL fault)
  target_link_libraries(test_far_reads PRIVATE imrec_http_proxy)
  imrec_test(test_sigv4 aws LABEL conformance)
  imrec_test(test_aws_account aws LABEL fault)
  target_link_libraries(test_aws_account PRIVATE imrec_http_proxy)
  if(Python3_FOUND)
    add_test(NAME buckets COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/storage/buckets.py
             $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool> ${CMAKE_CURRENT_SOURCE_DIR}/support/fake_bucket.py 5)
    add_test(NAME many_shards COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/storage/many_shards.py
             $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool> ${CMAKE_CURRENT_SOURCE_DIR}/support/fake_bucket.py 100000)
    add_test(NAME far_folder COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/storage/far_folder.py
             $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool> ${CMAKE_CURRENT_SOURCE_DIR}/support/fake_bucket.py 0)
    add_test(NAME trust COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/storage/trust.py
             $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool> $<TARGET_FILE:ctf2bin>)
    add_test(NAME at_aws COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/storage/at_aws.py
             $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool>)
    set_tests_properties(at_aws PROPERTIES SKIP_RETURN_CODE 77)
    set_tests_properties(buckets many_shards far_folder trust at_aws PROPERTIES TIMEOUT 900 LABELS "fault;storage" ENVIRONMENT "${IMREC_TEST_ENV}")
    add_test(NAME uri_commands COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/storage/commands.py
             $<TARGET_FILE:im2rec> $<TARGET_FILE:imrec_tool> $<TARGET_FILE:ctf2bin>
             ${CMAKE_CURRENT_SOURCE_DIR}/support/fake_bucket.py)
    set_tests_properties(uri_commands PROPERTIES TIMEOUT 900 LABELS "storage" ENVIRONMENT "${IMREC_TEST_ENV}")
  endif()
  foreach(test test_webhdfs test_webhdfs_write)
    imrec_test(${test} storage LABEL fault SOURCES support/fake_hdfs.c)
    target_link_libraries(${test} PRIVATE imrec_http_proxy)
    target_compile_definitions(${test} PRIVATE _GNU_SOURCE)
  endforeach()
  imrec_test(test_webhdfs_cache cache SOURCES support/fake_hdfs.c LABEL fault)
  target_link_libraries(test_webhdfs_cache PRIVATE imrec_http_proxy)
  target_compile_definitions(test_webhdfs_cache PRIVATE _GNU_SOURCE)
  imrec_fuzz(webhdfs hdfs DICTIONARY json)
  imrec_bench(bench_distance iter) # sweeps over a slow wire beside those of a folder: `bench_distance FOLDER [pairs]`
  target_link_libraries(bench_distance PRIVATE imrec_http_proxy)
  target_compile_definitions(bench_distance PRIVATE _GNU_SOURCE)
  imrec_fuzz(cloud cloud DICTIONARY xml)
  imrec_fuzz(answer_head wire)
  imrec_test(test_hdfs_nodes hdfs LABEL fault)
  imrec_test(test_cloud_place cloud SOURCES support/canned.c LABEL fault)
  imrec_test(test_aws_files aws LABEL fault)
  imrec_test(test_aws_roles aws SOURCES support/canned.c LABEL fault)
  # Against a real one, which tests/servers starts where it is installed.
  add_test(NAME hdfs_cluster
           COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/storage/hdfs_cluster.sh ${CMAKE_CURRENT_SOURCE_DIR}/servers
                   $<TARGET_FILE_DIR:imrec_tool> $<TARGET_FILE_DIR:im2rec> $<TARGET_FILE_DIR:make_images>)
  set_tests_properties(hdfs_cluster PROPERTIES LABELS "servers;storage" TIMEOUT 1800 SKIP_RETURN_CODE 77 PROCESSORS 2
                       ENVIRONMENT "${IMREC_TEST_ENV}")
endif()
