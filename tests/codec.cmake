imrec_test(test_codec codec)
imrec_test(test_codec_claim codec SOURCES support/images.c)
imrec_test(test_baseline_kernels kernels jpeg)
imrec_test(test_baseline_rows kernels jpeg)
imrec_test(test_bmp codec)
imrec_test(test_stop codec colour SOURCES support/images.c)
imrec_test(test_jpeg_optimize codec)
imrec_test(test_jpeg_encoder codec encode)
imrec_test(test_jpeg_decode codec SOURCES support/images.c)
imrec_test(test_jpeg_region codec SOURCES support/images.c)
imrec_test(test_baseline codec SOURCES support/images.c)
imrec_test(test_baseline_damage codec SOURCES support/images.c LABEL property)
imrec_test(test_baseline_restarts codec SOURCES support/images.c LABEL property)
imrec_test(test_lanes codec jpeg kernels SOURCES support/images.c)
imrec_test(test_jpeg_tables codec recode SOURCES support/images.c)
imrec_test(test_jpeg_tile codec jpeg SOURCES support/images.c)
imrec_test(test_layouts codec jpeg SOURCES support/images.c LABEL property)
imrec_test(test_scaled codec kernels SOURCES support/images.c LABEL property)
imrec_test(test_jpeg_cases codec jpeg SOURCES support/images.c LABEL property)
imrec_test(test_progressive codec SOURCES support/images.c LABEL property)
imrec_test(test_tiled codec jpeg SOURCES support/images.c LABEL property)
imrec_test(test_together codec jpeg SOURCES support/images.c LABEL property)
imrec_test(test_baseline_symbols codec SOURCES support/images.c LABEL property)
imrec_test(test_codec_words codec SOURCES support/images.c LABEL property)
imrec_test(test_decode_vectors codec formats_set LABEL conformance)
imrec_test(test_first_frames codec LABEL conformance)
imrec_test(test_photo_regions codec limit SOURCES support/images.c LABEL conformance)
imrec_test(test_wav formats_set codec)

# tests/long jpeg_cases: the same, many more
add_test(NAME jpeg_cases COMMAND test_jpeg_cases)
set_tests_properties(jpeg_cases PROPERTIES TIMEOUT 3600 LABELS "codec;long" ENVIRONMENT "IMREC_JPEG_CASES=200000")

# Our decoder is taken on every processor: also where there are no vectors.
foreach(test baseline layouts progressive)
  add_test(NAME test_${test}_scalar COMMAND test_${test})
  set_tests_properties(test_${test}_scalar PROPERTIES TIMEOUT 1500 LABELS "unit;codec" SKIP_RETURN_CODE 77
                       ENVIRONMENT "${IMREC_TEST_ENV};IMREC_CPU=scalar")
endforeach()
# ... and where there is BMI2 without AVX-512, which has a loop of its own.
add_test(NAME test_progressive_bmi2 COMMAND test_progressive)
set_tests_properties(test_progressive_bmi2 PROPERTIES TIMEOUT 1500 LABELS "unit;codec" SKIP_RETURN_CODE 77
                     ENVIRONMENT "${IMREC_TEST_ENV};IMREC_CPU=avx2")

imrec_fuzz(wav formats_set codec)
imrec_fuzz(baseline codec jpeg MAX_LEN 65536 DICTIONARY jpeg)
imrec_fuzz(rewrite codec encode recode MAX_LEN 65536 DICTIONARY jpeg)
imrec_fuzz(jpeg_header codec DICTIONARY jpeg)
imrec_fuzz(image codec MAX_LEN 65536 DICTIONARY image)

target_link_libraries(test_baseline_kernels PRIVATE PkgConfig::JPEG)
target_link_libraries(test_baseline_rows PRIVATE PkgConfig::JPEG)
target_link_libraries(test_decode_vectors PRIVATE PkgConfig::JANSSON)
target_link_libraries(test_first_frames PRIVATE PkgConfig::JANSSON)

# Small files that take much memory, one of each kind: fixture "hostile".
set(IMREC_HOSTILE ${CMAKE_CURRENT_BINARY_DIR}/hostile)
if(Python3_FOUND)
  add_test(NAME make_hostile COMMAND ${Python3_EXECUTABLE}
           ${CMAKE_CURRENT_SOURCE_DIR}/support/make_hostile.py ${IMREC_HOSTILE})
  set_tests_properties(make_hostile PROPERTIES FIXTURES_SETUP hostile LABELS fixture)
endif()
target_compile_definitions(test_codec_claim PRIVATE IMREC_HOSTILE="${IMREC_HOSTILE}")
set_tests_properties(test_codec_claim PROPERTIES FIXTURES_REQUIRED hostile)

imrec_bench(bench_codec codec limit) # what an image takes: `bench_codec`
target_compile_definitions(bench_codec PRIVATE IMREC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
imrec_bench(bench_files codec) # our decoder beside libjpeg-turbo on files: `bench_files [ROUNDS] FILE.jpg ...`
imrec_bench(bench_baseline kernels jpeg) # what the parts of our decoder take, by variant: `bench_baseline`
