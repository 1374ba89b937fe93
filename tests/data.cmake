# The generator of images: what it renders is pinned, and that others can read it is shown.
imrec_test(test_photos photos)

target_link_libraries(test_photos PRIVATE PkgConfig::JPEG)
