imrec_test(test_colour colour SOURCES unit/test_colour.c)
imrec_test(test_draw draw SOURCES unit/test_draw.c)
imrec_test(test_image augment SOURCES unit/test_image.c)
imrec_test(test_kernels augment SOURCES unit/test_kernels.c)
imrec_test(test_normalize normalize SOURCES unit/test_normalize.c)
imrec_test(test_ops colour SOURCES unit/test_ops.c)
imrec_test(test_orient geometry SOURCES unit/test_orient.c)
imrec_test(test_resample augment SOURCES unit/test_resample.c)
imrec_test(test_resize resize SOURCES unit/test_resize.c)
imrec_test(test_warp geometry SOURCES unit/test_warp.c)

# What a kernel takes, by variant: `bench_normalize [threads]`. No test.
add_executable(bench_normalize bench/bench_normalize.c)
imrec_link(bench_normalize normalize)
target_link_libraries(bench_normalize PRIVATE m)
# The resizes, likewise: `bench_resample [rounds]`.
add_executable(bench_resample bench/bench_resample.c)
imrec_link(bench_resample resize)
target_link_libraries(bench_resample PRIVATE m)
