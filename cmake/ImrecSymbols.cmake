# Functions of libimrec.so carry the number of the binary interface, imrec_iter_open@@IMREC_1: a process in which two
# libraries of different numbers meet, one of a program and one of a plugin, calls in each what it was linked with.
get_target_property(kind imrec TYPE)
if(kind STREQUAL "SHARED_LIBRARY" AND NOT IMREC_SANITIZE)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/imrec.map)
  file(WRITE ${map} "IMREC_${IMREC_SOVERSION} {\nglobal:\n    imrec_*;\nlocal:\n    *;\n};\n")
  include(CheckLinkerFlag)
  check_linker_flag(C "-Wl,--version-script=${map}" IMREC_HAS_VERSION_SCRIPT)
  if(IMREC_HAS_VERSION_SCRIPT)
    target_link_options(imrec PRIVATE "-Wl,--version-script=${map}")
    set_property(TARGET imrec APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endif()
