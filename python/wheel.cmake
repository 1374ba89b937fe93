# What a wheel of tools/dev/build_wheel has in addition: the library, its headers, and what all of it needs
# (IMREC_WHEEL_NEEDS, the folder that tools/dev/wheel/libraries fills), in the package's folder.
#
# Wheels hold no links: libimrec.so is a text that the linker reads.
set_target_properties(imrec imrec_python imrec_tool PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
set_target_properties(imrec PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(imrec_python PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
set_target_properties(imrec_tool PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
target_link_options(imrec_flags INTERFACE -s -Wl,--build-id=none -Wl,--gc-sections)
target_link_options(imrec_python PRIVATE -s -Wl,--build-id=none)
target_compile_options(imrec_flags INTERFACE -ffunction-sections -fdata-sections)
install(PROGRAMS $<TARGET_FILE:imrec> DESTINATION imrec/lib RENAME libimrec.so.${IMREC_SOVERSION} COMPONENT python EXCLUDE_FROM_ALL)
install(PROGRAMS ${IMREC_WHEEL_NEEDS}/libimrec-needs.so DESTINATION imrec/lib COMPONENT python EXCLUDE_FROM_ALL)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/libimrec.so "INPUT(libimrec.so.${IMREC_SOVERSION})\n")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/libimrec.so DESTINATION imrec/lib COMPONENT python EXCLUDE_FROM_ALL)
configure_file(imrec.pc.in imrec.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/imrec.pc DESTINATION imrec/lib/pkgconfig COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/imrec DESTINATION imrec/include COMPONENT python EXCLUDE_FROM_ALL)
install(DIRECTORY ${IMREC_WHEEL_NEEDS}/licences/ DESTINATION ${SKBUILD_METADATA_DIR}/licenses/libraries COMPONENT python
        EXCLUDE_FROM_ALL)
install(FILES ${IMREC_WHEEL_NEEDS}/imrec.cdx.json DESTINATION ${SKBUILD_METADATA_DIR}/sboms COMPONENT python EXCLUDE_FROM_ALL)
