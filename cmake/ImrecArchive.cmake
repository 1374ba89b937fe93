# libimrec.a exports what libimrec.so does. Its objects become one, whose hidden symbols are made local: a program
# may have functions of the same names as imrec's own. A sanitizer's objects stay as they are.
get_target_property(kind imrec TYPE)
if(kind STREQUAL "STATIC_LIBRARY" AND CMAKE_OBJCOPY AND NOT IMREC_SANITIZE)
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/libimrec.o)
  add_custom_command(TARGET imrec POST_BUILD
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${joined} -Wl,--whole-archive $<TARGET_FILE:imrec>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${joined}
    COMMAND ${CMAKE_COMMAND} -E rm $<TARGET_FILE:imrec>
    COMMAND ${CMAKE_AR} qcs $<TARGET_FILE:imrec> ${joined}
    COMMAND ${CMAKE_COMMAND} -E rm ${joined}
    VERBATIM)
endif()
