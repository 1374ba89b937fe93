/* tools/bench/limit/bench_limit.h - measures decoding alone, the limit that reading is compared
 * with, and reading alone. */
#ifndef IMREC_TOOLS_BENCH_LIMIT_BENCH_LIMIT_H
#define IMREC_TOOLS_BENCH_LIMIT_BENCH_LIMIT_H

#include "imrec/reader_options.h"

struct bench_limit; /* compressed images in memory; one thread at a time */

struct bench_limit_result {
    double seconds;     /* wall clock, without loading and without starting threads */
    double cpu_seconds; /* of the whole process: user and system */
    uint64_t images, bytes;
    uint64_t failed; /* images that did not decode; part of images */
    uint32_t threads;
};

/* Loads the first images of `uri`, read as `o` says: at most max_images and max_bytes (0: no
 * limit). */
IMREC_NODISCARD enum imrec_status
bench_limit_open(const char *uri, const struct imrec_reader_options *o, uint64_t max_images,
                 uint64_t max_bytes, struct bench_limit **out, struct imrec_error *err);
/* Lets the first `images` images, if there are as many, be JPEGs as libjpeg-turbo is best at them:
 * in one sequential scan with optimal tables, without restart markers; the same pixels. *changed:
 * how many were not that. */
IMREC_NODISCARD enum imrec_status bench_limit_plain(struct bench_limit *b, uint32_t threads,
                                                    uint64_t images, uint64_t *changed,
                                                    struct imrec_error *err);
uint64_t bench_limit_images(const struct bench_limit *b);
uint64_t bench_limit_bytes(const struct bench_limit *b);

/* Decodes `images` images (the loaded ones, repeated from the first one if needed) completely to
 * RGB with plain libjpeg-turbo, on `threads` threads. The library of its format decodes an image
 * that is not JPEG. */
IMREC_NODISCARD enum imrec_status bench_limit_run(struct bench_limit *b, uint32_t threads,
                                                  uint64_t images, struct bench_limit_result *out,
                                                  struct imrec_error *err);

/* Reads the records of `uri` once, about max_bytes at most (0: all), and does nothing else. */
IMREC_NODISCARD enum imrec_status
bench_limit_read(const char *uri, const struct imrec_reader_options *o, uint64_t max_bytes,
                 struct bench_limit_result *out, struct imrec_error *err);

void bench_limit_close(struct bench_limit *b); /* NULL is allowed */

double bench_now(void);     /* seconds, from any begin */
double bench_cpu_now(void); /* seconds that this process has used */
#endif
