imrec_test(test_colour augment)
imrec_test(test_draw augment)
imrec_test(test_kernels augment)
imrec_test(test_image augment)
imrec_test(test_normalize augment)
imrec_test(test_ops augment)
imrec_test(test_orient augment)
imrec_test(test_resample augment)
imrec_test(test_resize augment)
imrec_test(test_targets augment)
imrec_test(test_warp augment)
imrec_test(test_det_label augment)
imrec_test(test_det_draw iter)
imrec_test(test_draw_spread iter)
imrec_test(test_steps iter)
imrec_test(test_mix iter)
imrec_test(test_pillow iter LABEL conformance)
imrec_test(test_sound iter)

imrec_bench(bench_normalize augment) # what a kernel takes, by variant: `bench_normalize [threads]`
imrec_bench(bench_resample augment) # the resizes, likewise: `bench_resample [rounds]`
imrec_bench(bench_augment iter) # what each augmenter takes: `bench_augment [rounds]`
