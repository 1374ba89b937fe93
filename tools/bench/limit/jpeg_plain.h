/* tools/bench/limit/jpeg_plain.h - the yardstick: complete JPEGs to RGB by libjpeg-turbo alone. */
#ifndef IMREC_TOOLS_BENCH_LIMIT_JPEG_PLAIN_H
#define IMREC_TOOLS_BENCH_LIMIT_JPEG_PLAIN_H

#include "base/bytes.h"
#include "base/image.h"

struct jpeg_plain; /* keeps its buffers between images; one thread at a time */

IMREC_NODISCARD enum imrec_status jpeg_plain_new(struct jpeg_plain **out, struct imrec_error *err);
void jpeg_plain_free(struct jpeg_plain *p); /* NULL is allowed */

/* *out is valid until the next call. CMYK is not converted: it has 4 channels. */
IMREC_NODISCARD enum imrec_status jpeg_plain_decode(struct jpeg_plain *p, struct bytes image,
                                                    struct imrec_image *out,
                                                    struct imrec_error *err);
#endif
