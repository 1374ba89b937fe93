imrec_test(test_cbf_chunk cbf SOURCES unit/test_cbf_chunk.c)
imrec_test(test_cbf_roundtrip cbf SOURCES property/test_cbf_roundtrip.c LABEL property)
imrec_test(test_cbf_vectors cbf SOURCES conformance/test_cbf_vectors.c LABEL conformance)
target_link_libraries(test_cbf_vectors PRIVATE PkgConfig::JANSSON)
imrec_fuzz(cbf cbf)
# CBF chunks to views beside memcpy(): `bench_cbf`. No test.
add_executable(bench_cbf bench/bench_cbf.c)
imrec_link(bench_cbf cbf)
target_link_libraries(bench_cbf PRIVATE m)
