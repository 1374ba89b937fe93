imrec_test(test_masks iter SOURCES property/test_masks.c support/pictures.c LABEL property)
imrec_test(test_pack_masks im2rec iter SOURCES property/test_pack_masks.c support/pictures.c LABEL property)
imrec_test(test_record_mask iter SOURCES unit/test_record_mask.c support/pictures.c)
imrec_fuzz(record_mask codec formats)
