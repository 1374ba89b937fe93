# Hours of packing and reading while calls of the system fail; a few seconds of the same in every run, so that it works.
if(IMREC_PYTHON_FOUND AND NOT IMREC_SANITIZE) # a sanitizer's own library must be the first that is preloaded
  add_library(faulty_calls MODULE soak/faulty_calls.c)
  set_target_properties(faulty_calls PROPERTIES C_VISIBILITY_PRESET default)
  target_include_directories(faulty_calls PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(faulty_calls PRIVATE imrec_flags ${CMAKE_DL_LIBS})
  set(soak_command ${IMREC_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/soak/soak.py ${PROJECT_BINARY_DIR}
                   $<TARGET_FILE:faulty_calls>)
  add_test(NAME soak_briefly COMMAND ${soak_command})
  set_tests_properties(soak_briefly PROPERTIES LABELS "fault;iter;im2rec" TIMEOUT 300
                       ENVIRONMENT "${python_env};IMREC_SOAK_SECONDS=6;IMREC_SOAK_SEED=1")
  add_test(NAME soak COMMAND ${soak_command})
  set_tests_properties(soak PROPERTIES LABELS "fault;long" TIMEOUT 10800
                       ENVIRONMENT "${python_env};IMREC_SOAK_SECONDS=7200;IMREC_SOAK_CPU=40")
endif()
