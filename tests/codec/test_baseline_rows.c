/* tests/codec/test_baseline_rows.c - every variant of rows gives the pixels that libjpeg-turbo
 * gives: planes that we choose go into a JPEG; its samples and its RGB come out of two plain
 * decodes. */
#include "codec/jpeg/kernels/jpeg_kernels.h"
#include "tests/support/baseline_variants.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

enum { MOST = 2048, AROUND = KERNEL_SLACK, STRIDE = MOST + 2 * AROUND, MARK = 0xa5 };

struct image {
    uint32_t width, height;
    uint32_t h, v; /* how chroma is halved: 1 or 2 */
    uint8_t *plane[3];
    uint8_t *rgb;
};

static struct image new_image(uint32_t width, uint32_t height, uint32_t h, uint32_t v)
{
    struct image p = {.width = width, .height = height, .h = h, .v = v};
    for (int c = 0; c < 3; c++)
        p.plane[c] = calloc(STRIDE, height + 32);
    p.rgb = calloc(3 * MOST, height);
    return p;
}

static void free_image(struct image *p)
{
    for (int c = 0; c < 3; c++)
        free(p->plane[c]);
    free(p->rgb);
}

static uint8_t *line(const struct image *p, int c, uint32_t y)
{
    return p->plane[c] + (size_t)y * STRIDE + AROUND;
}

static uint32_t chroma_width(const struct image *p)
{
    return (p->width + p->h - 1) / p->h;
}

static uint32_t chroma_height(const struct image *p)
{
    return (p->height + p->v - 1) / p->v;
}

/* ---- to a JPEG and back -----------------------------------------------------------------------
 */

/* Both directions take MCU rows of planes. */
struct lines {
    JSAMPROW rows[3][16];
    JSAMPARRAY planes[3];
};

static void lines_at(const struct image *p, uint32_t y, struct lines *l)
{
    for (uint32_t c = 0; c < 3; c++) {
        const uint32_t v = c == 0 ? 1 : p->v;
        for (uint32_t k = 0; k < 8 * p->v / v; k++)
            l->rows[c][k] = line(p, (int)c, y / v + k);
        l->planes[c] = l->rows[c];
    }
}

static void write_planes(const struct image *p, uint8_t **jpeg, unsigned long *n)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    struct lines l;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, jpeg, n);
    c.image_width = p->width;
    c.image_height = p->height;
    c.input_components = 3;
    c.in_color_space = JCS_YCbCr;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 100, TRUE);
    c.comp_info[0].h_samp_factor = (int)p->h;
    c.comp_info[0].v_samp_factor = (int)p->v;
    c.raw_data_in = TRUE;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        lines_at(p, c.next_scanline, &l);
        jpeg_write_raw_data(&c, l.planes, 8 * p->v);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}

static void read_jpeg(struct image *p, const uint8_t *jpeg, unsigned long n, bool samples)
{
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    struct lines l;
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, jpeg, n);
    jpeg_read_header(&d, TRUE);
    d.raw_data_out = samples;
    jpeg_start_decompress(&d);
    while (d.output_scanline < d.output_height)
        if (samples) {
            lines_at(p, d.output_scanline, &l);
            jpeg_read_raw_data(&d, l.planes, 8 * p->v);
        } else {
            JSAMPROW row = p->rgb + (size_t)d.output_scanline * 3 * MOST;
            jpeg_read_scanlines(&d, &row, 1);
        }
    jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
}

/* Afterwards the planes are the JPEG's samples, copies at their edges, and rgb is libjpeg's. */
static void through_libjpeg(struct image *p)
{
    uint8_t *jpeg = NULL;
    unsigned long n = 0;
    write_planes(p, &jpeg, &n);
    read_jpeg(p, jpeg, n, true);
    read_jpeg(p, jpeg, n, false);
    free(jpeg);
    for (int c = 1; c < 3; c++)
        for (uint32_t y = 0; y < chroma_height(p); y++) {
            uint8_t *row = line(p, c, y);
            row[-1] = row[0];
            row[chroma_width(p)] = row[chroma_width(p) - 1];
        }
}

static void fill_noise(struct image *p)
{
    for (int c = 0; c < 3; c++)
        for (uint32_t y = 0; y < p->height + 16; y++)
            for (uint32_t x = 0; x < MOST; x++)
                line(p, c, y)[x] = (uint8_t)(rnd(4) == 0 ? rnd(2) * 255 : rnd(256));
}

/* ---- rows -------------------------------------------------------------------------------------
 */

static uint32_t far_row(const struct image *p, uint32_t y)
{
    const uint32_t near = y / 2, last = chroma_height(p) - 1;
    if (y % 2 == 0)
        return near == 0 ? 0 : near - 1;
    return near == last ? last : near + 1;
}

static void make(const struct baseline_kernels *k, const struct image *p, struct kernel_row r)
{
    if (p->h == 1)
        k->row_444(&r);
    else if (p->v == 1)
        k->row_422(&r);
    else
        k->row_420(&r);
}

/* Columns from x on of one row; what lies beyond the slack must stay. */
static void compare(enum cpu_level level, const struct image *p, uint32_t x, uint32_t n, uint32_t y)
{
    static uint8_t got[3 * MOST + KERNEL_SLACK + 1];
    const uint32_t end = 3 * n + KERNEL_SLACK;
    const uint8_t *want = p->rgb + ((size_t)y * MOST + x) * 3;
    const uint32_t far = p->v == 2 ? far_row(p, y) : 0;
    got[end] = MARK;
    make(&baseline_kernels[level], p,
         (struct kernel_row){.y = line(p, 0, y) + x,
                             .cb = line(p, 1, y / p->v) + x / p->h,
                             .cr = line(p, 2, y / p->v) + x / p->h,
                             .cb_far = line(p, 1, far) + x / p->h,
                             .cr_far = line(p, 2, far) + x / p->h,
                             .n = n,
                             .rgb = got});
    uint32_t i = 0;
    while (i < 3 * n && got[i] == want[i])
        i++;
    ck_assert_msg(i == 3 * n,
                  "%s, %u x %u, chroma / %u, %u: row %u, %u columns from %u: byte %u is %u, not %u",
                  cpu_level_name(level), p->width, p->height, p->h, p->v, y, n, x, i, got[i],
                  want[i]);
    ck_assert_uint_eq(got[end], MARK);
}

static void compare_windows(struct image *p)
{
    through_libjpeg(p);
    EVERY_VARIANT(level)
    for (uint32_t y = 0; y < p->height; y++) {
        const uint32_t x = rnd(p->width) & ~1u;
        compare(level, p, 0, p->width, y);
        compare(level, p, x, p->width - x, y);
        compare(level, p, x, 1 + rnd(p->width - x), y);
    }
}

static const uint32_t samplings[3][2] = {{1, 1}, {2, 1}, {2, 2}};

CASE(.timeout = 60)

LOOP_TEST(rows_of_any_size_are_libjpegs, 0, 3)
{
    for (uint32_t width = 5; width < 300; width += width < 140 ? 1 : 37) {
        struct image p = new_image(width, 1 + rnd(40), samplings[_i][0], samplings[_i][1]);
        fill_noise(&p);
        compare_windows(&p);
        free_image(&p);
    }
}

TEST(every_chroma_gives_libjpegs_colours)
{
    static bool seen[256][256];
    struct image p = new_image(2048, 2048, 1, 1);
    fill_noise(&p);
    for (uint32_t y = 0; y < 2048; y++)
        for (uint32_t x = 0; x < 2048; x++) { /* flat blocks survive as they are */
            line(&p, 1, y)[x] = (uint8_t)(x / 8);
            line(&p, 2, y)[x] = (uint8_t)(y / 8);
        }
    through_libjpeg(&p);
    for (uint32_t y = 0; y < 2048; y++)
        for (uint32_t x = 0; x < 2048; x++)
            seen[line(&p, 1, y)[x]][line(&p, 2, y)[x]] = true;
    ck_assert_ptr_null(memchr(seen, false, sizeof(seen)));
    EVERY_VARIANT(level)
    for (uint32_t y = 0; y < 2048; y++)
        compare(level, &p, 0, 2048, y);
    free_image(&p);
}

TEST(grey_rows_are_three_times_y)
{
    static uint8_t y[MOST + KERNEL_SLACK], got[3 * MOST + KERNEL_SLACK + 1];
    uint32_t wrong = 0;
    for (size_t i = 0; i < sizeof(y); i++)
        y[i] = (uint8_t)rnd(256);
    EVERY_VARIANT(level)
    for (uint32_t n = 1; n < 200; n++) {
        const struct kernel_row r = {.y = y, .n = n, .rgb = got};
        got[3 * n + KERNEL_SLACK] = MARK;
        baseline_kernels[level].row_grey(&r);
        for (uint32_t i = 0; i < 3 * n; i++)
            wrong += got[i] != y[i / 3];
        wrong += got[3 * n + KERNEL_SLACK] != MARK;
    }
    ck_assert_uint_eq(wrong, 0);
}
