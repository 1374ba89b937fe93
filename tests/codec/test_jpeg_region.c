/* tests/codec/test_jpeg_region.c - the region of a JPEG is, bit for bit, the crop of its whole. */
#include "base/alloc.h"
#include "codec/codec.h"
#include "tests/support/images.h"

#include "tests/support/regions.h"
#include "tests/support/suite.h"
#include <stdlib.h>
#include <string.h>

enum { REGIONS = 4 };

static const int samplings[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1},
                                   {4, 2}, {3, 1}, {1, 4}, {2, 4}, {3, 2}};
static const struct jpeg_layout modes[] = {{.quality = 0},
                                           {.progressive = true},
                                           {.restart_rows = 1},
                                           {.arithmetic = true},
                                           {.progressive = true, .arithmetic = true},
                                           {.separate_scans = true},
                                           {.restart_rows = 2, .progressive = true},
                                           {.quality = 25}};
static const uint32_t sizes[][2] = {{131, 147}, {200, 67}, {97, 33}, {17, 18}, {1, 1}};
enum { SAMPLINGS = 10, MODES = 8, SIZES = 5 };

static void decode(struct codec *c, struct bytes jpeg, const struct imrec_rect *region,
                   uint32_t channels, struct image *out)
{
    const struct codec_limits limits = {.max_pixels = 1 << 24};
    struct imrec_image_info info;
    struct imrec_error err = {0};
    uint32_t warnings = 99;
    ck_assert_msg(codec_begin(c, jpeg, &limits, &info, &err) == IMREC_OK, "%s", err.message);
    const struct imrec_rect all = {0, 0, info.width, info.height};
    ck_assert_msg(codec_decode_image(c, region != NULL ? *region : all, channels, out, &warnings,
                                     &err) == IMREC_OK,
                  "%s", err.message);
    ck_assert_uint_eq(warnings, 0);
}

static void compare(const struct imrec_image *whole, const struct imrec_image *part,
                    struct imrec_rect r, const struct jpeg_layout *l)
{
    const size_t row = (size_t)r.width * whole->channels;
    for (uint32_t y = 0; y < r.height; y++)
        ck_assert_msg(
            memcmp(part->pixels + y * part->stride,
                   whole->pixels + (r.y + y) * whole->stride + (size_t)r.x * whole->channels,
                   row) == 0,
            "%ux%u colours %d sampling %dx%d progressive %d arithmetic %d separate %d: "
            "row %u of region %ux%u at %u,%u to %u channels",
            whole->width, whole->height, l->colours, l->h, l->v, l->progressive, l->arithmetic,
            l->separate_scans, y, r.width, r.height, r.x, r.y, whole->channels);
}

static void
try_layout(struct codec *c, uint32_t width, uint32_t height, const struct jpeg_layout *l)
{
    struct image whole = {0}, part = {0};
    struct bytes jpeg = jpeg_make(width, height, l);
    uint64_t state = width * 7919u + height * 31u + (unsigned)l->h * 5u + (unsigned)l->v;
    for (uint32_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        decode(c, jpeg, NULL, channels, &whole);
        for (int i = 0; i < REGIONS; i++) {
            const struct imrec_rect r = pick_region(&state, width, height);
            decode(c, jpeg, &r, channels, &part);
            compare(&whole.view, &part.view, r, l);
        }
    }
    image_free(&whole);
    image_free(&part);
    bytes_free(jpeg);
}

CASE(.timeout = 120)

LOOP_TEST(every_region_is_the_crop_of_the_whole, 0, SAMPLINGS *MODES) /* _i: samplings x modes */
{
    struct jpeg_layout l = modes[_i % MODES];
    struct codec *c = NULL;
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    l.h = samplings[_i / MODES][0];
    l.v = samplings[_i / MODES][1];
    for (l.colours = COLOURS_GREY; l.colours <= COLOURS_YCCK; l.colours++) {
        const int blocks = l.h * l.v * (l.colours >= COLOURS_CMYK ? 2 : 1) + 2;
        if (blocks > 10 && l.colours != COLOURS_GREY && !l.separate_scans)
            continue; /* an interleaved MCU has at most 10 */
        for (int s = 0; s < SIZES; s++)
            try_layout(c, sizes[s][0], sizes[s][1], &l);
    }
    codec_free(c);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
