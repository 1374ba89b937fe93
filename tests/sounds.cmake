imrec_test(test_wav formats_set codec SOURCES unit/test_wav.c)
imrec_test(test_sound iter SOURCES unit/test_sound.c)
imrec_fuzz(wav formats_set codec)
imrec_test(test_iter_sounds iter im2rec SOURCES property/test_iter_sounds.c LABEL property)
