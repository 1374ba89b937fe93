/*
 * tests/codec/test_photo_regions.c - photographs: all of it as plain libjpeg-turbo has it,
 * and regions as cut out of that.
 */
#include "codec/codec.h"
#include "tests/support/images.h"
#include "tests/support/shared.h"
#include "tools/bench/limit/jpeg_plain.h"

#include "tests/support/suite.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS = 4, MAX_BYTES = 8 << 20 };

static uint8_t g_bytes[MAX_BYTES];
static uint64_t g_state = 3;
static int g_photos;

static void check_region(struct codec *c, const struct imrec_image *whole, uint32_t channels)
{
    struct imrec_rect r = {.width = 1 + pick(&g_state, whole->width),
                           .height = 1 + pick(&g_state, whole->height)};
    struct image part = {0};
    uint32_t warnings;
    r.x = pick(&g_state, whole->width - r.width + 1);
    r.y = pick(&g_state, whole->height - r.height + 1);
    ck_assert_int_eq(codec_decode_image(c, r, channels, &part, &warnings, NULL), IMREC_OK);
    for (uint32_t y = 0; y < r.height; y++)
        ck_assert(memcmp(part.view.pixels + y * part.view.stride,
                         whole->pixels + (r.y + y) * whole->stride + (size_t)r.x * channels,
                         (size_t)r.width * channels) == 0);
    image_free(&part);
}

static void
check_photo(struct codec *c, struct jpeg_plain *yardstick, struct bytes jpeg, const char *name)
{
    const struct codec_limits limits = {.max_pixels = 1 << 26};
    struct imrec_image_info info;
    struct imrec_image plain;
    struct image whole = {0};
    struct imrec_error err = {0};
    ck_assert_msg(codec_begin(c, jpeg, &limits, &info, &err) == IMREC_OK, "%s: %s", name,
                  err.message);
    const struct imrec_rect all = {0, 0, info.width, info.height};
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        ck_assert_msg(codec_decode_image(c, all, channels, &whole, NULL, &err) == IMREC_OK,
                      "%s: %s", name, err.message);
        for (int i = 0; i < REGIONS; i++)
            check_region(c, &whole.view, channels);
    }
    ck_assert_int_eq(jpeg_plain_decode(yardstick, jpeg, &plain, NULL), IMREC_OK);
    if (plain.channels == 3) /* not inks */
        ck_assert_msg(memcmp(plain.pixels, whole.view.pixels, plain.stride * plain.height) == 0,
                      "%s", name);
    image_free(&whole);
    g_photos++;
}

static void check_folder(struct codec *c, struct jpeg_plain *yardstick, const char *folder)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
        if (strstr(e->d_name, ".jp") == NULL) {
            if (e->d_name[0] != '.' && strchr(e->d_name, '.') == NULL)
                check_folder(c, yardstick, path);
            continue;
        }
        FILE *f = fopen(path, "rb");
        ck_assert(f != NULL);
        const size_t n = fread(g_bytes, 1, MAX_BYTES, f);
        fclose(f);
        check_photo(c, yardstick, (struct bytes){g_bytes, n}, e->d_name);
    }
    if (d != NULL)
        closedir(d);
}

CASE(.begin = shared_is_here, .timeout = 300)

TEST(photographs_and_their_regions_are_plain_libjpegs)
{
    struct codec *c;
    struct jpeg_plain *yardstick;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(jpeg_plain_new(&yardstick, NULL), IMREC_OK);
    check_folder(c, yardstick, shared_path("data/photos"));
    ck_assert_int_gt(g_photos, 100);
    codec_free(c);
    jpeg_plain_free(yardstick);
}
