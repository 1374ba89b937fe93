imrec_test(test_masks iter SOURCES property/test_masks.c support/pictures.c LABEL property)
imrec_test(test_pack_masks im2rec iter SOURCES property/test_pack_masks.c support/pictures.c LABEL property)
