# The tests of codec/.
imrec_test(test_jpeg_region codec SOURCES unit/test_jpeg_region.c support/pictures.c TIMEOUT 300)
