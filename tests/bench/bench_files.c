/* tests/bench/bench_files.c - `bench_files [ROUNDS] FILE.jpg ...`: complete images to RGB by our
 * decoder and by libjpeg-turbo in turns; of the rounds' ratios the median, 10 % and 90 %. No test.
 */
#include "codec/codec.h"
#include "tests/bench/load.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096 };

/* µs an image. */
static double take(struct codec *c, const struct bytes *image, size_t n, struct image *out)
{
    const struct codec_limits limits = {.max_pixels = 1 << 28};
    const double begin = now_ns();
    for (size_t i = 0; i < n; i++) {
        struct imrec_image_info info;
        struct imrec_error err = {0};
        enum imrec_status st = codec_begin(c, image[i], &limits, &info, &err);
        if (st == IMREC_OK)
            st = codec_decode_image(c, (struct imrec_rect){0, 0, info.width, info.height}, 3, out,
                                    NULL, &err);
        if (st != IMREC_OK) {
            fprintf(stderr, "image %zu: %s\n", i + 1, err.message);
            exit(1);
        }
    }
    return (now_ns() - begin) / 1e3 / (double)n;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *values, int n, double share)
{
    qsort(values, (size_t)n, sizeof(*values), by_value);
    return values[(int)(share * (n - 1) + 0.5)];
}

int main(int argc, char **argv)
{
    static struct bytes image[MOST];
    static double own[MOST], other[MOST], ratio[MOST];
    const int first = argc > 1 && atoi(argv[1]) > 0 ? 2 : 1;
    const int rounds = first == 2 && atoi(argv[1]) < MOST ? atoi(argv[1]) : 21;
    size_t n = 0;
    for (int i = first; i < argc && n < MOST; i++, n++)
        if ((image[n] = load_file(argv[i])).n == 0)
            return fprintf(stderr, "%s cannot be read\n", argv[i]), 1;
    struct codec *ours, *libjpeg;
    struct image out = {0};
    if (n == 0 || codec_new(&ours, NULL) != IMREC_OK || codec_new(&libjpeg, NULL) != IMREC_OK)
        return fprintf(stderr, "usage: bench_files [ROUNDS] FILE.jpg ...\n"), 2;
    codec_use_jpeg(libjpeg, CODEC_JPEG_LIBJPEG);
    for (int r = 0; r < rounds; r++) {
        own[r] = take(ours, image, n, &out);
        other[r] = take(libjpeg, image, n, &out);
        ratio[r] = other[r] / own[r];
    }
    printf("%zu images, %d rounds: libjpeg-turbo / imrec %.2f (%.2f-%.2f), %.0f and %.0f us an "
           "image\n",
           n, rounds, middle(ratio, rounds, 0.5), middle(ratio, rounds, 0.1),
           middle(ratio, rounds, 0.9), middle(other, rounds, 0.5), middle(own, rounds, 0.5));
    return 0;
}
