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
static uint32_t g_blocks; /* of an MCU */
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
    g_blocks = f.components == 1 ? 1 : f.h * f.v + 2;
    for (uint32_t kind = 0; kind < (f.components == 1 ? 1u : 2u); kind++)
        ck_assert(lane_tables_make(&g_tables, kind, &f.ac[f.ac_of[kind]], &f.dc[f.dc_of[kind]]));
    g_used = 0;
    for (g_pieces = 0; v.mcus_left > 0; g_pieces++) {
        size_t n;
        const uint32_t blocks = intervals_mcus(&v) * g_blocks;
        ck_assert_uint_lt(g_pieces, MOST);
        ck_assert(intervals_unstuff(&v, bits, &n, LANE_PADDING));
        g_piece[g_pieces] = (struct lane_piece){.bits = bits,
                                                .bytes = (uint32_t)n,
                                                .blocks = blocks,
                                                .mcu = f.components == 1 ? LANE_GREY
                                                       : f.h * f.v == 4  ? LANE_LUMA_4
                                                       : f.h * f.v == 2  ? LANE_LUMA_2
                                                                         : LANE_LUMA_1,
                                                .out = g_out[0] + g_used};
        g_used += (size_t)blocks * BLOCK_SIZE + LANE_SLACK;
        bits += n + LANE_PADDING;
        ck_assert_uint_lt((size_t)(bits - g_bits) + jpeg.n, ROOM);
        ck_assert_uint_lt(g_used, ROOM);
    }
}

/* Pieces one after the other; or, in two parts, each is decoded as two that follow each other. */
struct pieces {
    struct lane_piece piece[MOST];
    uint32_t blocks[MOST]; /* of the second part, which is still to come */
    size_t given;
    bool in_parts;
};

static void cut(struct pieces *p, size_t i)
{
    const uint32_t mcus = p->piece[i].blocks / g_blocks;
    const uint32_t first = p->in_parts && mcus > 1 ? (1 + (uint32_t)i % (mcus - 1)) : mcus;
    p->blocks[i] = (mcus - first) * g_blocks;
    p->piece[i].blocks = first * g_blocks;
}

static struct lane_piece *next_piece(void *context, struct lane_piece *done)
{
    struct pieces *p = context;
    uint32_t *left = done != NULL ? &p->blocks[done - p->piece] : NULL;
    if (left != NULL && *left > 0 && !done->bad) {
        done->out += (size_t)done->blocks * BLOCK_SIZE;
        done->from = done->taken;
        done->blocks = *left;
        *left = 0;
        return done;
    }
    return p->given < g_pieces ? &p->piece[p->given++] : NULL;
}

/* By a variant, to out[which]. */
static const struct pieces *decode(lanes_fn *lanes, int which, bool in_parts)
{
    static struct pieces all[2];
    struct pieces *p = &all[which];
    const struct lane_source source = {next_piece, p};
    memset(g_out[which], 0, g_used * sizeof(int16_t));
    p->given = 0;
    p->in_parts = in_parts;
    for (size_t i = 0; i < g_pieces; i++) {
        p->piece[i] = g_piece[i];
        p->piece[i].out = g_out[which] + (g_piece[i].out - g_out[0]);
        cut(p, i);
    }
    lanes(&g_tables, &source);
    return p;
}

static void must_be_same(const struct pieces *a, const struct pieces *b, size_t i)
{
    const size_t at = (size_t)(g_piece[i].out - g_out[0]);
    ck_assert(a->piece[i].bad == b->piece[i].bad);
    if (a->piece[i].bad)
        return;
    ck_assert_uint_eq(a->piece[i].taken, b->piece[i].taken);
    ck_assert_mem_eq(g_out[0] + at, g_out[1] + at, /* what is in the slack is not said */
                     g_piece[i].blocks * BLOCK_SIZE * sizeof(int16_t));
}

/* Returns how many cannot be decoded. */
static size_t must_agree(void)
{
    const struct pieces *truth = decode(lanes_scalar, 0, false);
    size_t bad = 0;
    for (size_t i = 0; i < g_pieces; i++)
        bad += truth->piece[i].bad;
    EVERY_VARIANT(level)
    for (int parts = 0; parts < 2; parts++) {
        const struct pieces *made = decode(lane_kernels[level].decode, 1, parts != 0);
        ck_assert_uint_eq(made->given, g_pieces);
        for (size_t i = 0; i < g_pieces; i++)
            must_be_same(truth, made, i);
    }
    return bad;
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
        ck_assert_uint_eq(must_agree(), 0);
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
        bad += must_agree() != 0;
        *byte = was;
        p->bytes = bytes;
    }
    ck_assert_uint_gt(bad, 0);
    bytes_free(jpeg);
}
