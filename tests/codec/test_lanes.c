/* tests/codec/test_lanes.c - pieces of entropy-coded data in lanes: every variant has the
 * coefficients, and finds the defects, of decoding piece by piece. */
#include "codec/jpeg/entropy.h"
#include "codec/jpeg/frame.h"
#include "codec/jpeg/lanes.h"
#include "tests/support/baseline_variants.h"
#include "tests/support/images.h"

#include "tests/support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 300, BLOCK_SIZE = BLOCK * BLOCK, ROOM = 1 << 20, DAMAGES = 60 };

static struct lane_tables g_tables;
static struct lane_piece g_piece[MOST];
static size_t g_pieces, g_used;
static uint8_t g_bits[ROOM];
static _Alignas(64) int16_t g_out[2][ROOM];

/* The intervals of a JPEG as pieces, whose coefficients begin at out[0]. */
static void take_apart(struct bytes jpeg)
{
    static struct frame f;
    ck_assert(frame_read(&f, jpeg));
    const uint32_t across = (f.width + BLOCK * f.h - 1) / (BLOCK * f.h);
    const uint32_t down = (f.height + BLOCK * f.v - 1) / (BLOCK * f.v);
    struct intervals v = {.left = {jpeg.p + f.entropy, jpeg.n - f.entropy},
                          .mcus_left = across * down,
                          .restart = f.restart};
    uint8_t *bits = g_bits;
    g_tables.blocks = f.components == 1 ? 1 : f.h * f.v + 2;
    for (uint32_t i = 0; i < g_tables.blocks; i++)
        g_tables.kind[i] = f.components == 3 && i >= f.h * f.v;
    for (uint32_t kind = 0; kind < (f.components == 1 ? 1u : 2u); kind++)
        ck_assert(lane_tables_make(&g_tables, kind, &f.ac[f.ac_of[kind]], &f.dc[f.dc_of[kind]]));
    g_used = 0;
    for (g_pieces = 0; v.mcus_left > 0; g_pieces++) {
        size_t n;
        const uint32_t blocks = intervals_mcus(&v) * g_tables.blocks;
        ck_assert_uint_lt(g_pieces, MOST);
        ck_assert(intervals_unstuff(&v, bits, &n, LANE_PADDING));
        g_piece[g_pieces] = (struct lane_piece){bits, (uint32_t)n, blocks, g_out[0] + g_used, 0};
        g_used += (size_t)blocks * BLOCK_SIZE + LANE_SLACK;
        bits += n + LANE_PADDING;
        ck_assert_uint_lt((size_t)(bits - g_bits) + jpeg.n, ROOM);
        ck_assert_uint_lt(g_used, ROOM);
    }
}

/* By a variant, to out[which]. */
static bool decode(lanes_fn *lanes, int which, uint64_t *taken)
{
    static struct lane_piece piece[MOST];
    memset(g_out[which], 0, g_used * sizeof(int16_t));
    for (size_t i = 0; i < g_pieces; i++) {
        piece[i] = g_piece[i];
        piece[i].out = g_out[which] + (g_piece[i].out - g_out[0]);
    }
    const bool good = lanes(&g_tables, piece, g_pieces);
    for (size_t i = 0; i < g_pieces; i++)
        taken[i] = piece[i].taken;
    return good;
}

/* True: they could be decoded. */
static bool must_agree(void)
{
    static uint64_t truth[MOST], taken[MOST];
    const bool good = decode(lanes_scalar, 0, truth);
    EVERY_VARIANT(level)
    {
        ck_assert_msg(decode(lane_kernels[level].decode, 1, taken) == good, "%s",
                      cpu_level_name(level));
        if (!good)
            continue;
        ck_assert_mem_eq(truth, taken, g_pieces * sizeof(truth[0]));
        for (size_t i = 0; i < g_pieces; i++) /* what is in the slack is not said */
            ck_assert_mem_eq(g_piece[i].out, g_out[1] + (g_piece[i].out - g_out[0]),
                             g_piece[i].blocks * BLOCK_SIZE * sizeof(int16_t));
    }
    return good;
}

static const struct jpeg_layout layouts[] = {
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_rows = 1, .quality = 95, .optimal = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_mcus = 1, .quality = 100},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .restart_mcus = 5, .quality = 100, .optimal = true},
    {.colours = COLOURS_YCC, .h = 2, .v = 1, .restart_mcus = 3, .quality = 80},
    {.colours = COLOURS_YCC, .h = 1, .v = 1, .restart_rows = 1, .quality = 20},
    {.colours = COLOURS_YCC, .h = 1, .v = 1, .restart_mcus = 7, .quality = 100, .optimal = true},
    {.colours = COLOURS_GREY, .h = 1, .v = 1, .restart_rows = 2, .quality = 90},
    {.colours = COLOURS_GREY, .h = 1, .v = 1, .restart_mcus = 4, .quality = 100},
    {.colours = COLOURS_YCC, .h = 2, .v = 2, .quality = 90},
};
enum { LAYOUTS = sizeof(layouts) / sizeof(layouts[0]) };

CASE(.timeout = 60)

LOOP_TEST(coefficients_are_the_same, 0, LAYOUTS) /* _i: layouts */
{
    for (uint32_t side = 1; side < 200; side += 23) {
        const struct bytes jpeg = jpeg_make(side, 150 - side / 2, &layouts[_i]);
        take_apart(jpeg);
        ck_assert(must_agree());
        bytes_free(jpeg);
    }
}

/* Of bits that are no longer those of an encoder, as of those that end too early. */
LOOP_TEST(defects_are_found_alike, 0, LAYOUTS) /* _i: layouts */
{
    const struct bytes jpeg = jpeg_make(97, 90, &layouts[_i]);
    uint64_t state = 5;
    uint32_t bad = 0;
    take_apart(jpeg);
    for (uint32_t round = 0; round < DAMAGES; round++) {
        struct lane_piece *p = &g_piece[pick(&state, (uint32_t)g_pieces)];
        if (p->bytes == 0)
            continue;
        uint8_t *byte = g_bits + (p->bits - g_bits) + pick(&state, p->bytes);
        const uint8_t was = *byte;
        const uint32_t bytes = p->bytes;
        *byte ^= (uint8_t)(1u << pick(&state, 8));
        p->bytes -= round % 3 == 0 ? pick(&state, bytes) : 0;
        bad += !must_agree();
        *byte = was;
        p->bytes = bytes;
    }
    ck_assert_uint_gt(bad, 0);
    bytes_free(jpeg);
}
