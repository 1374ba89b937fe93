imrec_test(test_masks iter SOURCES property/test_masks.c support/pictures.c LABEL property)
