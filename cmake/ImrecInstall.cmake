# Installs library, headers, CMake package and pkg-config file. For who links libimrec.a both name
# what it needs in turn; libimrec.so hides that.
string(REGEX REPLACE "[^/]+" ".." IMREC_PC_PREFIX "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
set(IMREC_PC_REQUIRES)
set(IMREC_CONFIG_MODULES)
foreach(pair IN LISTS IMREC_MODULES)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 name)
  list(GET pair 1 module)
  string(APPEND IMREC_PC_REQUIRES " ${module}")
  string(APPEND IMREC_CONFIG_MODULES "  pkg_check_modules(${name} REQUIRED IMPORTED_TARGET ${module})\n")
endforeach()
list(TRANSFORM IMREC_PLAIN_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE IMREC_PC_LIBS)
list(APPEND IMREC_PC_LIBS ${OpenMP_C_FLAGS} -pthread -lm)
list(JOIN IMREC_PC_LIBS " " IMREC_PC_LIBS)

if(BUILD_SHARED_LIBS) # pkg-config asks for those packages even for --cflags, and a shared library needs none of them
  set(IMREC_PC_REQUIRES)
  set(IMREC_PC_LIBS)
endif()
configure_file(cmake/imrec.pc.in imrec.pc @ONLY)
configure_file(cmake/imrec-config.cmake.in imrec-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/imrec-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(TARGETS imrec EXPORT imrec-targets)
install(DIRECTORY include/imrec DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/imrec.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(EXPORT imrec-targets NAMESPACE imrec:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/imrec)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/imrec-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/imrec-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/imrec)
