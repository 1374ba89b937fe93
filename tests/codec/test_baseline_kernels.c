/* tests/codec/test_baseline_kernels.c - every variant of blocks and rows gives what libjpeg-turbo
 * gives, seen through its public door: coefficients or samples that we choose go into a JPEG and
 * come out of a plain decode. */
#include "codec/jpeg/kernels/jpeg_kernels.h"
#include "tests/support/baseline_variants.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* ---- blocks ------------------------------------------------------------------------------- */

enum { ACROSS = 64, DOWN = 8, BLOCKS = ACROSS * DOWN };

static const uint8_t natural[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

static _Alignas(64) int16_t g_coef[BLOCKS][64];
static uint16_t g_quant[64];
static uint8_t g_want[DOWN * 8][ACROSS * 8];

static void silent(j_common_ptr c, int level)
{
    if (level < 0)
        c->err->num_warnings++;
}

static struct jpeg_error_mgr *quiet_errors(struct jpeg_error_mgr *errors)
{
    jpeg_std_error(errors)->emit_message = silent;
    return errors;
}

/* A grey JPEG of g_coef and g_quant; 16-bit quantization tables are allowed. */
static void write_blocks(uint8_t **jpeg, unsigned long *n)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned int unscaled[64];
    c.err = quiet_errors(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, jpeg, n);
    c.image_width = ACROSS * 8;
    c.image_height = DOWN * 8;
    c.input_components = 1;
    c.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&c);
    for (int k = 0; k < 64; k++)
        unscaled[k] = g_quant[k];
    jpeg_add_quant_table(&c, 0, unscaled, 100, FALSE);
    c.optimize_coding = TRUE;
    jvirt_barray_ptr array =
        c.mem->request_virt_barray((j_common_ptr)&c, JPOOL_IMAGE, TRUE, ACROSS, DOWN, 1);
    jpeg_write_coefficients(&c, &array);
    for (JDIMENSION y = 0; y < DOWN; y++) {
        JBLOCKARRAY row = c.mem->access_virt_barray((j_common_ptr)&c, array, y, 1, TRUE);
        memcpy(row[0], g_coef[y * ACROSS], sizeof(g_coef[0]) * ACROSS);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}

/* False: not without a warning. */
static bool transform_by_libjpeg(void)
{
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    uint8_t *jpeg = NULL;
    unsigned long n = 0;
    write_blocks(&jpeg, &n);
    d.err = quiet_errors(&errors);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, jpeg, n);
    jpeg_read_header(&d, TRUE);
    jpeg_start_decompress(&d);
    while (d.output_scanline < d.output_height) {
        JSAMPROW row = g_want[d.output_scanline];
        jpeg_read_scanlines(&d, &row, 1);
    }
    jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
    free(jpeg);
    return errors.num_warnings == 0;
}

static bool g_by_scalar; /* our scalar code says what is wanted */

static uint32_t last_of(const int16_t *coef)
{
    uint32_t last = 63;
    while (last > 0 && coef[natural[last]] == 0)
        last--;
    return last;
}

static void transform_by_scalar(void)
{
    for (uint32_t b = 0; b < BLOCKS; b++)
        baseline_kernels[CPU_SCALAR].idct(g_coef[b], g_quant, last_of(g_coef[b]),
                                          &g_want[b / ACROSS * 8][b % ACROSS * 8],
                                          sizeof(g_want[0]));
}

/* A row of blocks as one run: what comes of each, and zeros. */
static void compare_runs(const char *what)
{
    enum { BETWEEN = 2 * 64 };
    static _Alignas(64) int16_t zigzag[ACROSS][BETWEEN];
    static const int16_t zeros[64];
    EVERY_VARIANT(level)
    for (uint32_t y = 0; y < DOWN; y++) {
        static uint8_t got[8][ACROSS * 8];
        for (uint32_t x = 0; x < ACROSS; x++)
            for (uint32_t k = 0; k < 64; k++)
                zigzag[x][k] = g_coef[y * ACROSS + x][natural[k]];
        const struct block_run run = {.coef = zigzag[0],
                                      .apart = BETWEEN,
                                      .n = ACROSS,
                                      .quant = g_quant,
                                      .out = got[0],
                                      .stride = sizeof(got[0]),
                                      .step = 8};
        baseline_kernels[level].idct_run(&run);
        ck_assert_msg(memcmp(got, g_want[8 * y], sizeof(got)) == 0, "%s: row of blocks %u, %s",
                      what, y, cpu_level_name(level));
        for (uint32_t x = 0; x < ACROSS; x++)
            ck_assert_mem_eq(zigzag[x], zeros, sizeof(zeros));
    }
}

static void transform_and_compare(const char *what)
{
    if (g_by_scalar)
        transform_by_scalar();
    else
        ck_assert(transform_by_libjpeg());
    EVERY_VARIANT(level)
    for (uint32_t b = 0; b < BLOCKS; b++) {
        uint8_t got[8][8 + 3]; /* a stride of its own */
        const uint32_t last = last_of(g_coef[b]);
        baseline_kernels[level].idct(g_coef[b], g_quant, last, got[0], sizeof(got[0]));
        for (uint32_t y = 0; y < 8; y++)
            ck_assert_msg(memcmp(got[y], &g_want[b / ACROSS * 8 + y][b % ACROSS * 8], 8) == 0,
                          "%s, %s: block %u, last %u, row %u", cpu_level_name(level), what, b, last,
                          y);
    }
    compare_runs(what);
}

static int16_t signed_rnd(int32_t magnitude)
{
    return (int16_t)((int32_t)rnd(2 * (uint32_t)magnitude + 1) - magnitude);
}

/* Coefficients as a photograph has them: smaller the higher they are. No sample is further than
 * 384 from the middle: there all of libjpeg's transforms agree. */
static void fill_ordinary(void)
{
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const uint32_t last = rnd(64);
        memset(g_coef[b], 0, sizeof(g_coef[b]));
        for (uint32_t k = 0; k <= last; k++) {
            const uint32_t most = k == 0 ? 800 : 300 / (1 + k);
            g_coef[b][natural[k]] = signed_rnd((int32_t)(most / g_quant[natural[k]]));
        }
    }
}

/* Few coefficients among zeros, any size: also nothing but a row or a column. */
static void fill_sparse(int32_t magnitude)
{
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const uint32_t count = rnd(5), shape = rnd(4);
        memset(g_coef[b], 0, sizeof(g_coef[b]));
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t at = rnd(64);
            g_coef[b][shape == 0 ? at % 8 : shape == 1 ? at - at % 8 : at] = signed_rnd(magnitude);
        }
    }
}

/* All that the entropy coder can carry, the ends most often. */
static void fill_extreme(uint32_t ends_in_8)
{
    for (uint32_t b = 0; b < BLOCKS; b++) {
        const uint32_t last = rnd(4) == 0 ? rnd(64) : 63;
        memset(g_coef[b], 0, sizeof(g_coef[b]));
        for (uint32_t k = 0; k <= last; k++) {
            const int16_t any = signed_rnd(1023), end = any < 0 ? -1023 : 1023;
            g_coef[b][natural[k]] = rnd(8) < ends_in_8 ? end : any;
        }
    }
}

static void fill_quant(uint32_t most)
{
    for (int k = 0; k < 64; k++)
        g_quant[k] = (uint16_t)(1 + rnd(most));
}

static const uint32_t quants[] = {1, 3, 16, 64, 255, 4095, 32767};
enum { QUANTS = sizeof(quants) / sizeof(quants[0]) };

CASE(.timeout = 60)

TEST(blocks_of_photographs_are_libjpegs)
{
    for (int round = 0; round < 40; round++) {
        fill_quant(1 + (uint32_t)round);
        fill_ordinary();
        transform_and_compare("ordinary");
    }
}

/* Far outside of 0..255 libjpeg-turbo's vectors for x86-64 saturate, its C code wraps, those for
 * Arm do some of both; we do as those for x86-64 on every processor. */
static bool libjpeg_has_vectors(void)
{
#if defined(__x86_64__)
    memset(g_coef, 0, sizeof(g_coef));
    fill_quant(1);
    g_quant[0] = 16;
    for (uint32_t b = 0; b < BLOCKS; b++)
        g_coef[b][0] = 400;
    return transform_by_libjpeg() && g_want[0][0] == 255;
#else
    return false;
#endif
}

static bool choose_truth(void)
{
    g_by_scalar = !libjpeg_has_vectors();
    if (g_by_scalar)
        puts("blocks beyond 8 bits are compared with our scalar code: libjpeg runs without its "
             "vectors for x86-64");
    return true;
}

CASE(.begin = choose_truth, .timeout = 60)

TEST(sparse_blocks_are_libjpegs_however_their_products_overflow)
{
    for (int round = 0; round < 20; round++)
        for (int q = 0; q < QUANTS; q++) {
            fill_quant(quants[q]);
            fill_sparse(round % 2 == 0 ? 1023 : 9);
            transform_and_compare("sparse");
        }
}

TEST(extreme_blocks_are_libjpegs)
{
    for (uint32_t round = 0; round < 20; round++)
        for (int q = 0; q < QUANTS; q++) {
            fill_quant(quants[q]);
            fill_extreme(round % 9);
            transform_and_compare("extreme");
        }
}

TEST(a_single_coefficient_anywhere_is_libjpegs)
{
    for (int round = 0; round < 8; round++) {
        fill_quant(quants[round % QUANTS]);
        memset(g_coef, 0, sizeof(g_coef));
        for (uint32_t b = 0; b < BLOCKS; b++)
            g_coef[b][b % 64] = (int16_t)(1 + rnd(1023)), g_coef[b][0] = signed_rnd(1023);
        transform_and_compare("single");
    }
}
