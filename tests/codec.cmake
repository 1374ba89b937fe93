# The tests of codec/.
imrec_test(test_codec codec SOURCES unit/test_codec.c)

# Small files that take much memory, one of each kind: fixture "hostile".
set(IMREC_HOSTILE ${CMAKE_CURRENT_BINARY_DIR}/hostile)
if(Python3_FOUND)
  add_test(NAME make_hostile COMMAND Python3::Interpreter
           ${CMAKE_CURRENT_SOURCE_DIR}/support/make_hostile.py ${IMREC_HOSTILE})
  set_tests_properties(make_hostile PROPERTIES FIXTURES_SETUP hostile LABELS fixture)
endif()
imrec_test(test_codec_claim codec SOURCES unit/test_codec_claim.c)
target_compile_definitions(test_codec_claim PRIVATE IMREC_HOSTILE="${IMREC_HOSTILE}")
set_tests_properties(test_codec_claim PROPERTIES FIXTURES_REQUIRED hostile)
imrec_test(test_baseline_kernels jpeg SOURCES unit/test_baseline_kernels.c)
target_link_libraries(test_baseline_kernels PRIVATE PkgConfig::JPEG)
imrec_test(test_baseline_rows jpeg SOURCES unit/test_baseline_rows.c)
target_link_libraries(test_baseline_rows PRIVATE PkgConfig::JPEG)
imrec_test(test_bmp codec SOURCES unit/test_bmp.c)
imrec_test(test_stop codec augment SOURCES unit/test_stop.c support/images.c)
imrec_test(test_jpeg_optimize codec SOURCES unit/test_jpeg_optimize.c)
imrec_test(test_jpeg_decode codec SOURCES unit/test_jpeg_decode.c support/images.c)
imrec_test(test_jpeg_region codec SOURCES unit/test_jpeg_region.c support/images.c)
imrec_test(test_baseline codec SOURCES unit/test_baseline.c support/images.c)
imrec_test(test_baseline_damage codec SOURCES property/test_baseline_damage.c support/images.c
           LABEL property)
imrec_test(test_baseline_symbols codec SOURCES property/test_baseline_symbols.c support/images.c
           LABEL property)
imrec_test(test_codec_words codec SOURCES property/test_codec_words.c support/images.c
           LABEL property)
imrec_test(test_decode_vectors codec formats_set SOURCES conformance/test_decode_vectors.c LABEL conformance)
target_link_libraries(test_decode_vectors PRIVATE PkgConfig::JANSSON)
imrec_test(test_first_frames codec SOURCES conformance/test_first_frames.c LABEL conformance)
target_link_libraries(test_first_frames PRIVATE PkgConfig::JANSSON)
imrec_test(test_photo_regions codec SOURCES conformance/test_photo_regions.c support/images.c
           LABEL conformance)

# What an image takes: `bench_codec`. No test.
add_executable(bench_codec bench/bench_codec.c)
imrec_link(bench_codec codec)
target_link_libraries(bench_codec PRIVATE m)
target_compile_definitions(bench_codec PRIVATE IMREC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

imrec_fuzz(baseline codec MAX_LEN 65536)
imrec_fuzz(jpeg_header codec)
imrec_fuzz(image codec MAX_LEN 65536)

# What its parts take, by variant: `bench_baseline`. No test.
add_executable(bench_baseline bench/bench_baseline.c)
imrec_link(bench_baseline jpeg)
