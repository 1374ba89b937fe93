# What the programs write, bit for bit, against the sums that are kept. A sanitizer takes many times as
# long, and changes no byte.
if(Python3_FOUND AND NOT IMREC_SANITIZE)
  add_test(NAME golden COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/golden/golden.py ${PROJECT_BINARY_DIR})
  set_tests_properties(golden PROPERTIES LABELS golden TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT "${IMREC_TEST_ENV}")
endif()
