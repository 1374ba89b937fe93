/*
 * tests/bench/bench_codec.c - the yardstick beside regions: ns an image of 384 x 256 px, quality
 * 95, cut out of the shared photographs. `bench_codec [WORD]` runs what has WORD in its name. No
 * test: it asserts nothing.
 */
#include "codec/codec.h"
#include "tests/bench/load.h"
#include "tests/support/shared.h"
#include "tools/bench/limit/jpeg_plain.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 384, HEIGHT = 256, CROP = 224, MOST = 16, ROUNDS = 81 };

static struct bytes g_images[MOST];
static size_t g_count, g_bytes;
static unsigned g_sum; /* keeps the pixels wanted */

static void add(struct codec *c, const char *path)
{
    const struct bytes file = load_file(path);
    const struct codec_limits limits = {.max_pixels = 1 << 24};
    struct imrec_image_info info;
    struct image image = {0};
    struct bytes jpeg;
    if (g_count == MOST || codec_begin(c, file, &limits, &info, NULL) != IMREC_OK ||
        info.width < WIDTH || info.height < HEIGHT)
        return;
    const struct imrec_rect middle = {(info.width - WIDTH) / 2, (info.height - HEIGHT) / 2, WIDTH,
                                      HEIGHT};
    if (codec_decode_image(c, middle, 3, &image, NULL, NULL) != IMREC_OK ||
        codec_encode_jpeg(c, &image.view, (struct codec_jpeg_how){.quality = 95}, &jpeg, NULL) !=
            IMREC_OK)
        return;
    uint8_t *p = malloc(jpeg.n);
    memcpy(p, jpeg.p, jpeg.n);
    g_images[g_count++] = (struct bytes){p, jpeg.n};
    g_bytes += jpeg.n;
    image_free(&image);
}

static void add_folder(struct codec *c, const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (strstr(e->d_name, ".jpg") != NULL)
            add(c, path);
        else if (e->d_name[0] != '.' && strchr(e->d_name, '.') == NULL)
            add_folder(c, path);
    }
    if (d != NULL)
        closedir(d);
}

static void touch(void *context, uint32_t y, const uint8_t *row)
{
    (void)context;
    g_sum += row[y % 4];
}

static int g_y;

static enum imrec_status
by_libjpeg(enum imrec_status (*run)(struct codec *, struct bytes), struct codec *c, struct bytes b)
{
    codec_use_jpeg(c, CODEC_JPEG_LIBJPEG);
    const enum imrec_status st = run(c, b);
    codec_use_jpeg(c, CODEC_JPEG_OURS);
    return st;
}

static enum imrec_status plain(struct codec *c, struct bytes b)
{
    static struct jpeg_plain *yardstick; /* as long as the program */
    struct imrec_image out;
    (void)c;
    if (yardstick == NULL && jpeg_plain_new(&yardstick, NULL) != IMREC_OK)
        return IMREC_ERR_NO_MEMORY;
    return jpeg_plain_decode(yardstick, b, &out, NULL);
}

static enum imrec_status region(struct codec *c, struct bytes b)
{
    const struct codec_limits limits = {.max_pixels = 1 << 24};
    struct imrec_image_info info;
    if (codec_begin(c, b, &limits, &info, NULL) != IMREC_OK)
        return IMREC_ERR_CORRUPT;
    g_y = (g_y + 7) % (HEIGHT - CROP + 1);
    const struct imrec_rect r = {(uint32_t)(g_y * 5), (uint32_t)g_y, CROP, CROP};
    return codec_decode_rows(c, r, 3, touch, NULL, NULL, NULL);
}

static enum imrec_status whole(struct codec *c, struct bytes b)
{
    const struct codec_limits limits = {.max_pixels = 1 << 24};
    struct imrec_image_info info;
    if (codec_begin(c, b, &limits, &info, NULL) != IMREC_OK)
        return IMREC_ERR_CORRUPT;
    return codec_decode_rows(c, (struct imrec_rect){0, 0, WIDTH, HEIGHT}, 3, touch, NULL, NULL,
                             NULL);
}

static enum imrec_status check(struct codec *c, struct bytes b)
{
    const struct codec_limits limits = {.max_pixels = 1 << 24};
    struct imrec_image_info info;
    if (codec_begin(c, b, &limits, &info, NULL) != IMREC_OK)
        return IMREC_ERR_CORRUPT;
    return codec_check(c, NULL, NULL);
}

static enum imrec_status head(struct codec *c, struct bytes b)
{
    const struct codec_limits limits = {.max_pixels = 1 << 24};
    struct imrec_image_info info;
    return codec_begin(c, b, &limits, &info, NULL);
}

static enum imrec_status region_libjpeg(struct codec *c, struct bytes b)
{
    return by_libjpeg(region, c, b);
}

static enum imrec_status whole_libjpeg(struct codec *c, struct bytes b)
{
    return by_libjpeg(whole, c, b);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        enum imrec_status (*run)(struct codec *, struct bytes);
    } what[] = {{"plain, whole", plain},
                {"region 224 x 224", region},
                {"region, libjpeg", region_libjpeg},
                {"whole, rows", whole},
                {"whole, libjpeg", whole_libjpeg},
                {"check", check},
                {"header walk", head}};
    enum { KINDS = sizeof(what) / sizeof(what[0]) };
    double ns[KINDS][ROUNDS] = {0};
    struct codec *c;
    if (codec_new(&c, NULL) != IMREC_OK)
        return EXIT_FAILURE;
    add_folder(c, shared_path("data/photos"));
    printf("%zu images, %zu bytes each\n", g_count, g_count > 0 ? g_bytes / g_count : 0);
    for (int round = 0; round < ROUNDS; round++) /* interleaved: the machine's moods are shared */
        for (size_t k = 0; k < KINDS; k++) {
            if (argc > 1 && strstr(what[k].name, argv[1]) == NULL)
                continue;
            const double begin = now_ns();
            for (size_t i = 0; i < g_count; i++)
                if (what[k].run(c, g_images[i]) != IMREC_OK)
                    return EXIT_FAILURE;
            ns[k][round] = (now_ns() - begin) / (double)g_count;
        }
    for (size_t k = KINDS; k-- > 0;) { /* the yardstick last: it is sorted then */
        double ratio[ROUNDS];
        for (int i = 0; i < ROUNDS; i++)
            ratio[i] = ns[0][i] / ns[k][i];
        qsort(ratio, ROUNDS, sizeof(double), ascending);
        qsort(ns[k], ROUNDS, sizeof(double), ascending);
        printf("%-18s %8.0f ns (%.0f..%.0f), %.3f x plain's speed (quartiles %.3f, %.3f)\n",
               what[k].name, ns[k][ROUNDS / 2], ns[k][0], ns[k][ROUNDS - 1], ratio[ROUNDS / 2],
               ratio[ROUNDS / 4], ratio[ROUNDS * 3 / 4]);
    }
    codec_free(c);
    return g_sum == 1 ? EXIT_FAILURE : EXIT_SUCCESS;
}
