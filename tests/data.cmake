# The generator of images: what it renders is pinned, and that others can read it is shown.
find_package(PkgConfig REQUIRED)
imrec_test(test_photos photos SOURCES unit/test_photos.c)
target_link_libraries(test_photos PRIVATE PkgConfig::JPEG)
