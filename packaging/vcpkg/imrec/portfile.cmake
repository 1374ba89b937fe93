# The archive of the release lies where VCPKG_IMREC_ARCHIVE names it: imrec has no address of its own.
set(archive "$ENV{VCPKG_IMREC_ARCHIVE}")
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${archive}")

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES net IMREC_WITH_CURL)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${options} -DIMREC_BUILD_TESTS=OFF -DIMREC_WITH_MPI=OFF "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
          -DCMAKE_DISABLE_FIND_PACKAGE_Python=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/imrec)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES im2rec imrec ctf2bin AUTO_CLEAN)
else()
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin")
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/bin" "${CURRENT_PACKAGES_DIR}/debug/include"
     "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
