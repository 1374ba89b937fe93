# What is needed, and what a build can do without (docs/dependencies.md says why each).
#
# Sets IMREC_CODEC_LIBRARIES and IMREC_CODEC_DEFINITIONS for the codec layer, and IMREC_MODULES and
# IMREC_PLAIN_LIBRARIES, the pkg-config modules and other libraries, for who links libimrec.a.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS C)
pkg_check_modules(JPEG REQUIRED IMPORTED_TARGET libjpeg) # libjpeg-turbo
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
find_path(IMREC_RANDOM123_INCLUDE Random123/philox.h REQUIRED) # headers only

set(IMREC_CODEC_LIBRARIES PkgConfig::JPEG)
set(IMREC_CODEC_DEFINITIONS)
set(IMREC_MODULES JPEG=libjpeg JANSSON=jansson)
set(IMREC_PLAIN_LIBRARIES)

# imrec_with(<NAME> <what>): the codec layer sees IMREC_HAVE_<NAME> as 1 where <NAME>_FOUND, else 0.
function(imrec_with name what)
  if(IMREC_WITH_${name} AND ${name}_FOUND)
    list(APPEND IMREC_CODEC_DEFINITIONS IMREC_HAVE_${name}=1)
  else()
    list(APPEND IMREC_CODEC_DEFINITIONS IMREC_HAVE_${name}=0)
    message(STATUS "imrec: built without ${what}")
  endif()
  set(IMREC_CODEC_DEFINITIONS ${IMREC_CODEC_DEFINITIONS} PARENT_SCOPE)
endfunction()

# imrec_optional(<NAME> <pkg-config module>): option IMREC_WITH_<NAME>, used where it is found.
macro(imrec_optional name module)
  option(IMREC_WITH_${name} "Use ${module}" ON)
  if(IMREC_WITH_${name})
    pkg_check_modules(${name} IMPORTED_TARGET ${module})
  endif()
  imrec_with(${name} ${module})
  if(IMREC_WITH_${name} AND ${name}_FOUND)
    list(APPEND IMREC_CODEC_LIBRARIES PkgConfig::${name})
    list(APPEND IMREC_MODULES ${name}=${module})
  endif()
endmacro()
imrec_optional(SPNG spng)
imrec_optional(WEBP libwebp)
imrec_optional(TIFF libtiff-4)
imrec_optional(ZLIB zlib)

option(IMREC_WITH_GIF "Use giflib" ON) # giflib has no pkg-config file
find_path(GIF_INCLUDE gif_lib.h)
find_library(GIF_LIBRARY gif)
if(IMREC_WITH_GIF AND GIF_INCLUDE AND GIF_LIBRARY)
  set(GIF_FOUND TRUE)
  list(APPEND IMREC_CODEC_LIBRARIES ${GIF_LIBRARY})
  list(APPEND IMREC_PLAIN_LIBRARIES gif)
endif()
imrec_with(GIF giflib)
