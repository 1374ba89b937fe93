/* imrec/bench.h - measures decoding alone, the limit that reading is compared with. */
#ifndef IMREC_BENCH_H
#define IMREC_BENCH_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct imrec_bench; /* compressed images in memory; one thread at a time */

struct imrec_bench_run {
    double seconds;     /* wall clock, without loading and without starting threads */
    double cpu_seconds; /* of the whole process: user and system */
    uint64_t images, bytes;
    uint64_t failed; /* images that did not decode; part of images */
    uint32_t threads;
};

/* Loads the first images of `uri`: at most max_images and max_bytes (0: no limit). */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_bench_open(const char *uri, uint64_t max_images, uint64_t max_bytes, struct imrec_bench **out,
                 struct imrec_error *err);
IMREC_API uint64_t imrec_bench_images(const struct imrec_bench *b);
IMREC_API uint64_t imrec_bench_bytes(const struct imrec_bench *b);

/* Decodes `images` images (the loaded ones, repeated from the first one if needed) completely to
 * RGB with plain libjpeg-turbo, on `threads` threads. The library of its format decodes an image
 * that is not JPEG. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_bench_limit(struct imrec_bench *b, uint32_t threads, uint64_t images,
                  struct imrec_bench_run *out, struct imrec_error *err);

/* Reads the records of `uri` once, about max_bytes at most (0: all), and does nothing else. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_bench_read(const char *uri, uint64_t max_bytes,
                                                             struct imrec_bench_run *out,
                                                             struct imrec_error *err);

IMREC_API void imrec_bench_close(struct imrec_bench *b); /* NULL is allowed */

#ifdef __cplusplus
}
#endif
#endif
