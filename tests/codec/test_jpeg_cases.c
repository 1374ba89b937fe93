/* tests/codec/test_jpeg_cases.c - JPEGs of any size, sampling, colours, quality, restart interval
 * and scans: our decoder and libjpeg-turbo agree on any region, at any scale. $IMREC_JPEG_CASES:
 * how many. */
#include "codec/jpeg/tiled.h"
#include "tests/support/images.h"
#include "tests/support/regions.h"
#include "tests/support/suite.h"
#include "tests/support/twin.h"

enum { CASES = 4000, MOST_SIDE = 200 };

static const struct codec_limits limits = {.max_pixels = 1 << 20};
static uint64_t g_state;

static uint32_t factor(void)
{
    return pick(&g_state, 3) == 0 ? 4 : 1 + pick(&g_state, 2);
}

/* Half of them are common; in the others a component has 1, 2 or 4 blocks across and down. */
static void any_sampling(struct jpeg_layout *l, uint32_t components)
{
    static const int common[][2] = {{1, 1}, {2, 1}, {2, 2}};
    static uint8_t sampling[4];
    const int *c = common[pick(&g_state, 3)];
    uint32_t blocks;
    l->h = c[0];
    l->v = c[1];
    if (pick(&g_state, 2) == 0 && (components < 4 || l->h * l->v < 4))
        return;
    do {
        blocks = 0;
        for (uint32_t i = 0; i < components; i++) {
            const uint32_t h = factor(), v = factor();
            sampling[i] = (uint8_t)(h << 4 | v);
            blocks += h * v;
        }
    } while (blocks > 10 && components > 1 && !l->separate_scans);
    l->sampling = sampling;
}

static struct jpeg_layout any_layout(void)
{
    static const enum colours colours[] = {COLOURS_YCC, COLOURS_YCC,  COLOURS_GREY,
                                           COLOURS_RGB, COLOURS_CMYK, COLOURS_YCCK};
    struct jpeg_layout l = {.colours = colours[pick(&g_state, COUNT(colours))],
                            .quality = 1 + (int)pick(&g_state, 100),
                            .wide = pick(&g_state, 2) == 0,
                            .optimal = pick(&g_state, 2) == 0,
                            .progressive = pick(&g_state, 3) == 0};
    if (!l.progressive && pick(&g_state, 4) == 0)
        l.separate_scans = true;
    any_sampling(&l, l.colours == COLOURS_GREY ? 1 : l.colours >= COLOURS_CMYK ? 4 : 3);
    if (pick(&g_state, 2) == 0)
        l.restart_rows = (int)pick(&g_state, 3);
    else
        l.restart_mcus = (int)pick(&g_state, 20);
    if (l.progressive && pick(&g_state, 2) == 0)
        l.script = 1 + pick(&g_state, 1 << 30);
    return l;
}

CASE(.timeout = 3600)

TEST(any_jpeg_has_libjpeg_s_pixels_in_any_region_at_any_scale)
{
    const char *asked = getenv("IMREC_JPEG_CASES");
    const uint32_t cases = asked != NULL ? (uint32_t)strtoul(asked, NULL, 10) : CASES;
    struct twin twin;
    uint64_t own = 0;
    twin_begin(&twin);
    for (uint32_t i = 0; i < cases; i++) {
        g_state = i;
        tiled_use_always(i % 2 == 0);
        const uint32_t width = 1 + pick(&g_state, MOST_SIDE),
                       height = 1 + pick(&g_state, MOST_SIDE);
        const struct jpeg_layout l = any_layout();
        const struct bytes jpeg = jpeg_make(width, height, &l);
        own += twin_compare(&twin, jpeg, &limits, pick(&g_state, 2) == 0 ? TWIN_ROWS : TWIN_REGION,
                            any_region(&g_state, width, height, 4), pick(&g_state, 3) == 0 ? 1 : 3);
        if (i % 4 == 0)
            (void)twin_compare(&twin, jpeg, &limits, TWIN_CHECK,
                               (struct imrec_rect){0, 0, width, height}, 3);
        const uint32_t d = 2u << pick(&g_state, 3), channels = pick(&g_state, 3) == 0 ? 1 : 3;
        const struct imrec_rect r =
            any_region(&g_state, (width + d - 1) / d, (height + d - 1) / d, 4);
        (void)twin_compare_scaled(&twin, jpeg, &limits, d, channels, r);
        bytes_free(jpeg);
    }
    tiled_use_always(false);
    twin_end(&twin);
    printf("%u cases, %llu regions by our decoder\n", cases, (unsigned long long)own);
    ck_assert_uint_eq(own, cases);
}
