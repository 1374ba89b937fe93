# IMREC_HARDEN: what makes a bug in a parser harder to use by a hostile file: canaries on the stack, checked calls of
# the C library, relocations that are read-only before main(), programs at random addresses, control flow that only
# lands where it may. tests/lint/hardening.sh looks for all of it in what was built. The flags are those of imrec_flags, and
# in IMREC_HARDEN_COMPILE and IMREC_HARDEN_LINK for what has flags of its own: the Python module.
option(IMREC_HARDEN "Build with the hardening flags of compiler and linker" ON)
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
set(IMREC_HARDEN_COMPILE)
set(IMREC_HARDEN_LINK)
check_pie_supported() # CMAKE_POSITION_INDEPENDENT_CODE is for programs, too
if(NOT IMREC_HARDEN OR IMREC_SANITIZE OR NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  return() # _FORTIFY_SOURCE needs an optimizer, and sanitizers check more
endif()
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "IMREC_HAS${flag}" has)
  check_c_compiler_flag(${flag} ${has})
  if(${has})
    list(APPEND IMREC_HARDEN_COMPILE ${flag})
  endif()
endforeach()
list(APPEND IMREC_HARDEN_COMPILE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  string(MAKE_C_IDENTIFIER "IMREC_HAS${flag}" has)
  check_linker_flag(C ${flag} ${has})
  if(${has})
    list(APPEND IMREC_HARDEN_LINK ${flag})
  endif()
endforeach()
target_compile_options(imrec_flags INTERFACE ${IMREC_HARDEN_COMPILE})
target_link_options(imrec_flags INTERFACE ${IMREC_HARDEN_LINK})
