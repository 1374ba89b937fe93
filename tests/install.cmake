# What a user gets: an installed library and programs, used from outside, and the README's examples.
set(IMREC_PHOTOS ${CMAKE_CURRENT_BINARY_DIR}/photos) # 64 small images; fixture "photos"
add_test(NAME make_photos COMMAND make_photos ${IMREC_PHOTOS} --count 64 --size small --jobs 1)
set_tests_properties(make_photos PROPERTIES FIXTURES_SETUP photos LABELS fixture ENVIRONMENT "${IMREC_TEST_ENV}")

add_test(NAME readme_tour COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/tour.sh ${PROJECT_SOURCE_DIR}
                                  $<TARGET_FILE_DIR:im2rec> $<TARGET_FILE_DIR:imrec_tool> ${IMREC_PHOTOS})
add_test(NAME readme_read COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/read.sh
                                  $<TARGET_FILE:im2rec> $<TARGET_FILE:read_example> ${IMREC_PHOTOS})
add_test(NAME example_ar_store COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/ar_store.sh
                                       $<TARGET_FILE:im2rec> $<TARGET_FILE:ar_store_example> ${IMREC_PHOTOS})
set_tests_properties(readme_tour readme_read example_ar_store PROPERTIES FIXTURES_REQUIRED photos LABELS cli TIMEOUT 300
                     SKIP_RETURN_CODE 77
                     ENVIRONMENT "${IMREC_TEST_ENV}")

add_test(NAME example_softmax COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/softmax.sh
         $<TARGET_FILE:softmax_example> $<TARGET_FILE:im2rec> $<TARGET_FILE:ctf2bin> ${PROJECT_SOURCE_DIR})
set_tests_properties(example_softmax PROPERTIES LABELS cli TIMEOUT 300 ENVIRONMENT "${IMREC_TEST_ENV}")

if(NOT IMREC_SANITIZE)
  foreach(kind shared static)
    if(kind STREQUAL static OR BUILD_SHARED_LIBS)
      add_test(NAME install_${kind} COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/run.sh ${kind}
                                            ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${IMREC_PHOTOS})
      set_tests_properties(install_${kind} PROPERTIES FIXTURES_REQUIRED photos LABELS install TIMEOUT 600)
    endif()
  endforeach()
endif()

# Packages, and machines that have nothing else (tests/long).
foreach(name bare debian)
  add_test(NAME ${name} COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/${name}.sh ${PROJECT_SOURCE_DIR}
                                ${PROJECT_BINARY_DIR}/${name})
  set_tests_properties(${name} PROPERTIES LABELS "install;long" TIMEOUT 7200 SKIP_RETURN_CODE 77)
endforeach()

add_test(NAME macos COMMAND ${IMREC_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/install/macos.py ${CMAKE_MAKE_PROGRAM}
                            ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/macos)
set_tests_properties(macos PROPERTIES LABELS "install;long" TIMEOUT 7200 SKIP_RETURN_CODE 77)

add_test(NAME debian_source COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/debian_source.sh ${PROJECT_SOURCE_DIR}
                                    ${PROJECT_BINARY_DIR}/debian_source)
set_tests_properties(debian_source PROPERTIES LABELS install TIMEOUT 60)
add_test(NAME release COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/release.sh ${PROJECT_SOURCE_DIR}
                              ${PROJECT_BINARY_DIR}/release)
set_tests_properties(release PROPERTIES LABELS install TIMEOUT 600 SKIP_RETURN_CODE 77)

# The binary interface of the library is the one that is kept. Debug information tells it: that of gcc, with -g.
if(BUILD_SHARED_LIBS AND NOT IMREC_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL
   "RelWithDebInfo")
  add_test(NAME abi COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/abi/abi.sh check $<TARGET_FILE:imrec>)
  set_tests_properties(abi PROPERTIES LABELS install SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()

add_test(NAME install_missing COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/install/missing.sh ${PROJECT_SOURCE_DIR}
                                      ${PROJECT_BINARY_DIR}/missing)
set_tests_properties(install_missing PROPERTIES LABELS install TIMEOUT 300)
