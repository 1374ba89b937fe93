# What tools/dev/test_arm64 builds and runs under emulation, label arm64: all that depends on the processor and takes
# seconds there. Not here are tests that run programs, that take minutes (test_iter_restore, test_jpeg_optimize ...), and
# those of whatever bits a damaged JPEG has (test_baseline_damage, test_baseline_symbols, test_tiled): they compare with
# libjpeg-turbo, whose vectors for Arm do not give the pixels of those for x86-64 where samples are far outside of
# 0..255.
set(IMREC_ARM64_TESTS
    test_rng test_threads
    test_checksums test_cbf_chunk test_cbf_roundtrip test_cbf_vectors test_ctf_number test_ctf_values test_ctf_vectors
    test_image_record test_record_index test_recordio test_recordio_roundtrip test_recordio_vectors test_text_number
    test_text_vectors test_tfrecord
    test_baseline_kernels test_baseline_rows test_baseline_restarts test_lanes test_codec test_jpeg_decode
    test_jpeg_encoder test_scaled
    test_decode_vectors test_first_frames test_bmp test_wav
    test_kernels test_colour test_mix test_normalize test_ops test_pillow test_resample test_resize test_resize_pillow
    test_image test_warp
    test_erase test_orient test_paste test_steps test_targets test_sound)
add_custom_target(arm64_tests)
foreach(name IN LISTS IMREC_ARM64_TESTS)
  add_dependencies(arm64_tests ${name})
  set_property(TEST ${name} APPEND PROPERTY LABELS arm64)
endforeach()
