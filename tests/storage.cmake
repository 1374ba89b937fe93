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
