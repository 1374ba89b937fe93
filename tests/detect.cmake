imrec_test(test_det_label augment SOURCES unit/test_det_label.c)
imrec_test(test_det_draw iter SOURCES unit/test_det_draw.c)
imrec_test(test_det_boxes iter SOURCES property/test_det_boxes.c LABEL property)
imrec_test(test_det_errors iter SOURCES fault/test_det_errors.c LABEL fault)
