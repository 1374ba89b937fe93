# The Python package.
set(python_env ${IMREC_TEST_ENV} PYTHONPATH=${PROJECT_BINARY_DIR}/python PYTHONDONTWRITEBYTECODE=1)
if(IMREC_SANITIZE MATCHES "address") # Python itself is built without, and never frees all
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(FILTER python_env EXCLUDE REGEX ASAN_OPTIONS)
  # torch throws: the sanitizer must find the library of C++ when it begins, not when torch brings it.
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libstdc++.so.6 OUTPUT_VARIABLE cxx OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND python_env "LD_PRELOAD=${asan} ${cxx}" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:protect_shadow_gap=0)
endif()
if(IMREC_PYTHON_FOUND)
  add_test(NAME python COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/python/run.sh ${IMREC_PYTHON_EXECUTABLE}
           WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
else()
  add_test(NAME python COMMAND ${BASH} -c "echo 'skipped: no python3-dev, venv or cffi: tools/install_dependencies python'; exit 77")
endif()
if(IMREC_PYTHON_FOUND)
  add_test(NAME many_files COMMAND ${IMREC_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/python/many_files.py
                                   $<TARGET_FILE:im2rec> $<TARGET_FILE:make_photos> 1280000)
  set_tests_properties(many_files PROPERTIES LABELS "python;long" TIMEOUT 7200 ENVIRONMENT "${python_env}")
endif()
if(IMREC_PYTHON_FOUND AND NOT IMREC_SANITIZE)
  add_test(NAME engines COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/python/engines.sh ${PROJECT_SOURCE_DIR}/build/venv_engines
                                ${IMREC_PYTHON_EXECUTABLE})
  set_tests_properties(engines PROPERTIES LABELS "python;long" TIMEOUT 3600 SKIP_RETURN_CODE 77 ENVIRONMENT "${python_env}")
endif()
if(IMREC_PYTHON_FOUND AND NOT IMREC_SANITIZE)
  add_test(NAME frameworks COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/trainers/frameworks.sh ${PROJECT_SOURCE_DIR}/build/venv_frameworks)
  set_tests_properties(frameworks PROPERTIES LABELS python TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT "${python_env}")
endif()
add_test(NAME trainers COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/trainers/run.sh ${PROJECT_SOURCE_DIR}/build/venv_trainers)
set_tests_properties(trainers PROPERTIES LABELS "python;long" TIMEOUT 3600 SKIP_RETURN_CODE 77 ENVIRONMENT "${python_env}")
if(IMREC_PYTHON_FOUND AND NOT IMREC_SANITIZE)
  add_test(NAME tensorflow COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/python/tensorflow.sh
                                   ${PROJECT_SOURCE_DIR}/build/venv_tensorflow $<TARGET_FILE:imrec_tool>)
  set_tests_properties(tensorflow PROPERTIES LABELS "python;long" TIMEOUT 3600 SKIP_RETURN_CODE 77 ENVIRONMENT "${python_env}")
endif()
if(IMREC_PYTHON_FOUND AND NOT IMREC_SANITIZE)
  add_test(NAME mxnet COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/python/mxnet.sh ${PROJECT_SOURCE_DIR}/build/venv_mxnet)
  set_tests_properties(mxnet PROPERTIES LABELS "python;long" TIMEOUT 1800 SKIP_RETURN_CODE 77 ENVIRONMENT "${python_env}")
endif()
set_tests_properties(python PROPERTIES LABELS python TIMEOUT 1200 SKIP_RETURN_CODE 77 ENVIRONMENT "${python_env}")

if(IMREC_PYTHON_FOUND AND NOT IMREC_SANITIZE)
  add_test(NAME python_wheel COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/python/wheel.sh ${PROJECT_SOURCE_DIR}
                                     ${PROJECT_BINARY_DIR}/wheel)
  set_tests_properties(python_wheel PROPERTIES LABELS install TIMEOUT 900 SKIP_RETURN_CODE 77)
  add_test(NAME wheels COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/python/wheels.sh ${PROJECT_SOURCE_DIR}
                               ${PROJECT_BINARY_DIR}/wheels)
  set_tests_properties(wheels PROPERTIES LABELS "install;long" TIMEOUT 7200 SKIP_RETURN_CODE 77)
  add_test(NAME free_threaded COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/python/free_threaded.sh ${PROJECT_SOURCE_DIR}
                                      ${PROJECT_BINARY_DIR}/free_threaded)
  set_tests_properties(free_threaded PROPERTIES LABELS "install;long" TIMEOUT 7200 SKIP_RETURN_CODE 77)
endif()
