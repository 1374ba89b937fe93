imrec_test(test_normalize augment SOURCES unit/test_normalize.c)

# What a kernel takes, by variant: `bench_normalize [threads]`. No test.
add_executable(bench_normalize bench/bench_normalize.c)
imrec_link(bench_normalize augment)
target_link_libraries(bench_normalize PRIVATE m)
