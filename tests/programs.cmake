# The programs from outside: every programs/PROGRAM/CASE.sh, on a folder of made images (im2rec) or on
# sets made by make_set (the toolbox).
add_executable(make_images support/make_images.c support/images.c)
imrec_link(make_images im2rec)
target_link_libraries(make_images PRIVATE PkgConfig::CHECK m)
add_executable(make_set support/make_set.c)
imrec_link(make_set iter dataset)
target_link_libraries(make_set PRIVATE m)

function(imrec_cases program) # imrec_cases(<program> <target whose folder is in the PATH> ...)
  foreach(target IN LISTS ARGN)
    list(APPEND folders $<TARGET_FILE_DIR:${target}>)
  endforeach()
  file(GLOB cases CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/programs/${program}/*.sh)
  foreach(case IN LISTS cases)
    get_filename_component(name ${case} NAME_WE)
    add_test(NAME cli_${program}_${name}
             COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/programs/run.sh ${case} ${folders})
    set_tests_properties(cli_${program}_${name} PROPERTIES LABELS "cli;programs" TIMEOUT 300
                         SKIP_RETURN_CODE 77 ENVIRONMENT "${IMREC_TEST_ENV}")
  endforeach()
endfunction()
imrec_cases(im2rec im2rec imrec_tool make_images)
imrec_cases(imrec imrec_tool make_set param_rows im2rec)

add_test(NAME cli_manual COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/programs/manual.sh
         ${PROJECT_BINARY_DIR}/man $<TARGET_FILE_DIR:imrec_tool> $<TARGET_FILE_DIR:im2rec>)
set_tests_properties(cli_manual PROPERTIES LABELS "cli;programs" ENVIRONMENT "${IMREC_TEST_ENV}")
