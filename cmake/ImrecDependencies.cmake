# What is needed, and what a build can do without (docs/dependencies.md says why each).
#
# Sets IMREC_CODEC_LIBRARIES and IMREC_CODEC_DEFINITIONS for the codec layer, and IMREC_MODULES and
# IMREC_PLAIN_LIBRARIES, the pkg-config modules and other libraries, for who links libimrec.a.

# What is missing is told in one message, with what Debian and Ubuntu call it.
set(missing)
set(packages)
macro(imrec_need found what package)
  if(NOT ${found})
    list(APPEND missing "${what}")
    list(APPEND packages ${package})
  endif()
endmacro()
find_package(PkgConfig)
imrec_need(PKG_CONFIG_FOUND pkg-config pkg-config)
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS C)
imrec_need(OpenMP_C_FOUND "OpenMP of the C compiler" libomp-dev) # gcc has its own
if(PKG_CONFIG_FOUND)
  pkg_check_modules(JPEG IMPORTED_TARGET libjpeg) # libjpeg-turbo
  pkg_check_modules(JANSSON IMPORTED_TARGET jansson>=2.11) # json_error_code()
endif()
imrec_need(JPEG_FOUND libjpeg-turbo libjpeg-dev)
imrec_need(JANSSON_FOUND jansson libjansson-dev)
find_path(IMREC_RANDOM123_INCLUDE Random123/philox.h) # headers only
imrec_need(IMREC_RANDOM123_INCLUDE Random123 librandom123-dev)
if(missing)
  list(JOIN missing ", " missing)
  list(JOIN packages " " packages)
  message(FATAL_ERROR "imrec needs what is not here: ${missing}.\n"
          "Debian, Ubuntu: apt-get install ${packages}\n"
          "or, in a clone, tools/install_dependencies, which installs all that a build can use (docs/dependencies.md).")
endif()

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
set(IMREC_PACKED_LIBRARIES) # what storage/packed unpacks with
if(IMREC_WITH_ZLIB AND ZLIB_FOUND)
  set(IMREC_PACKED_LIBRARIES PkgConfig::ZLIB)
endif()

option(IMREC_WITH_CURL "Use libcurl, libcrypto and expat: stores behind http://, https://, s3://, ..." ON)
set(IMREC_WIRE_LIBRARIES)
set(IMREC_HAVE_CURL FALSE)
if(IMREC_WITH_CURL)
  pkg_check_modules(CURL IMPORTED_TARGET libcurl>=7.85) # CURLOPT_REDIR_PROTOCOLS_STR
  pkg_check_modules(CRYPTO IMPORTED_TARGET libcrypto>=1.1) # of OpenSSL: sums that sign requests
  pkg_check_modules(EXPAT IMPORTED_TARGET expat>=2.4) # bounds what entities can do
endif()
if(IMREC_WITH_CURL AND CURL_FOUND AND CRYPTO_FOUND AND EXPAT_FOUND)
  set(IMREC_HAVE_CURL TRUE)
  set(IMREC_WIRE_LIBRARIES ${CURL_LINK_LIBRARIES} ${CRYPTO_LINK_LIBRARIES} ${EXPAT_LINK_LIBRARIES})
  # By name: pkg-config --static would ask for the development files of all that libcurl itself uses.
  list(APPEND IMREC_PLAIN_LIBRARIES curl crypto expat)
else()
  message(STATUS "imrec: built without libcurl, libcrypto and expat, which go together")
endif()

option(IMREC_WITH_GIF "Use giflib" ON) # giflib has no pkg-config file
find_path(GIF_INCLUDE gif_lib.h)
find_library(GIF_LIBRARY gif)
if(IMREC_WITH_GIF AND GIF_INCLUDE AND GIF_LIBRARY)
  set(GIF_FOUND TRUE)
  list(APPEND IMREC_CODEC_LIBRARIES ${GIF_LIBRARY})
  list(APPEND IMREC_PLAIN_LIBRARIES gif)
endif()
imrec_with(GIF giflib)
