#include "data/jpeg_writer.h"

#include "base/alloc.h"
#include "data/jpeg_tables.h"

#include <stdlib.h>
#include <string.h>

struct component {
    int across, down;            /* samples an MCU, in blocks */
    int width, height;           /* in blocks, padded to whole MCUs */
    int real_width, real_height; /* in blocks, as a scan of its own counts them */
    int table;                   /* 0 luma, 1 chroma */
    uint8_t *samples;            /* width * 8 a row */
    int16_t *blocks;             /* 64 quantized coefficients each, in zigzag order */
};

struct code { /* of a symbol */
    uint16_t bits;
    uint8_t length;
};

struct divisor {
    uint32_t step;    /* of the table, 1..255 */
    uint32_t half;    /* of 8 steps */
    uint32_t inverse; /* 2^32 / (8 steps), rounded up: exact for all that is divided */
};

struct writer {
    const struct jpeg_how *how;
    int width, height, components, mcus_across, mcus_down;
    struct component c[3];
    struct divisor divisors[2][64]; /* in zigzag order */
    struct code codes[4][256];
    uint8_t *out;
    size_t n;
    uint64_t held; /* bits not yet written */
    int held_bits;
};

static void put_byte(struct writer *w, int v)
{
    w->out[w->n++] = (uint8_t)v;
}

static void put_word(struct writer *w, int v)
{
    put_byte(w, v >> 8);
    put_byte(w, v & 255);
}

static void put_bits(struct writer *w, uint32_t bits, int length)
{
    w->held = w->held << length | bits;
    w->held_bits += length;
    while (w->held_bits >= 8) {
        w->held_bits -= 8;
        const int v = (int)(w->held >> w->held_bits & 255);
        put_byte(w, v);
        if (v == 255)
            put_byte(w, 0);
    }
}

static void flush_bits(struct writer *w)
{
    if (w->held_bits > 0)
        put_bits(w, (1u << (8 - w->held_bits)) - 1, 8 - w->held_bits);
    w->held = 0;
}

static void put_symbol(struct writer *w, int table, int symbol)
{
    put_bits(w, w->codes[table][symbol].bits, w->codes[table][symbol].length);
}

/* The low bits of a value: of v - 1 where it is negative (F.1.2.1). */
static void put_magnitude(struct writer *w, int v, int length)
{
    put_bits(w, (uint32_t)(v < 0 ? v - 1 : v) & ((1u << length) - 1), length);
}

static int bit_length(int v)
{
    return v == 0 ? 0 : 32 - __builtin_clz((unsigned)abs(v));
}

/* One line of 8, `step` apart: the cosine transform times 2 * sqrt(2), with `shift` bits taken
 * off. Constants are sqrt(2) * cos(k pi / 16) * 8192; the largest sum is under 2^30. */
static inline void transform_line(int32_t *v, int step, int shift)
{
    int32_t sum[4], odd[4];
    for (int i = 0; i < 4; i++) {
        sum[i] = v[i * step] + v[(7 - i) * step];
        odd[i] = v[i * step] - v[(7 - i) * step];
    }
    const int32_t half = 1 << (shift - 1);
    const int32_t a = sum[0] + sum[3], b = sum[1] + sum[2], c = sum[0] - sum[3],
                  d = sum[1] - sum[2];
    v[0] = ((a + b) * 8192 + half) >> shift;
    v[4 * step] = ((a - b) * 8192 + half) >> shift;
    v[2 * step] = (c * 10703 + d * 4433 + half) >> shift;
    v[6 * step] = (c * 4433 - d * 10703 + half) >> shift;
    static const int32_t row[4][4] = {{11363, 9633, 6437, 2260},
                                      {9633, -2260, -11363, -6437},
                                      {6437, -11363, 2260, 9633},
                                      {2260, -6437, 9633, -11363}};
    for (int k = 0; k < 4; k++)
        v[(2 * k + 1) * step] = (row[k][0] * odd[0] + row[k][1] * odd[1] + row[k][2] * odd[2] +
                                 row[k][3] * odd[3] + half) >>
                                shift;
}

/* 8 x 8 samples to quantized coefficients. */
static void transform_block(const uint8_t *samples, size_t stride, const struct divisor *divisors,
                            int16_t *block)
{
    int32_t v[64];
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            v[8 * y + x] = samples[(size_t)y * stride + (size_t)x] - 128;
    for (int y = 0; y < 8; y++)
        transform_line(v + 8 * y, 1, 9); /* 4 bits kept for the second pass */
    for (int x = 0; x < 8; x++)
        transform_line(v + x, 8, 17);
    for (int k = 0; k < 64; k++) { /* now 8 times the coefficient, as are the divisors */
        const int32_t c = v[zigzag[k]];
        const uint32_t size = (uint32_t)abs(c) + divisors[k].half;
        const int32_t q = (int32_t)((uint64_t)size * divisors[k].inverse >> 32);
        block[k] = (int16_t)(c < 0 ? -(q < 1023 ? q : 1023) : q < 1023 ? q : 1023);
    }
}

static void make_divisors(struct writer *w)
{
    const int q = w->how->quality, scale = q < 50 ? 5000 / q : 200 - 2 * q;
    for (int t = 0; t < 2; t++) {
        for (int k = 0; k < 64; k++) {
            const int v = (quantization[t][zigzag[k]] * scale + 50) / 100;
            const uint32_t step = v < 1 ? 1 : v > 255 ? 255 : (uint32_t)v;
            w->divisors[t][k] = (struct divisor){step, 4 * step, UINT32_MAX / (8 * step) + 1};
        }
    }
}

static void make_codes(struct writer *w) /* annex C */
{
    for (int t = 0; t < 4; t++) {
        const struct huffman_spec *spec = &huffman_specs[t];
        int code = 0, at = 0;
        for (int length = 1; length <= 16; length++, code *= 2)
            for (int i = 0; i < spec->counts[length - 1]; i++)
                w->codes[t][spec->symbols[at++]] = (struct code){(uint16_t)code++, (uint8_t)length};
    }
}

static uint8_t clip(int v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

/* One row of pixels to rows of Y, Cb and Cr (JFIF), n of them, the last pixel repeated. */
static void convert_row(const uint8_t *rgb, int width, int n, uint8_t *const out[3])
{
    for (int x = 0; x < n; x++) {
        const uint8_t *p = rgb + 3 * (size_t)(x < width ? x : width - 1);
        out[0][x] = (uint8_t)((19595 * p[0] + 38470 * p[1] + 7471 * p[2] + 32768) >> 16);
        out[1][x] = clip((-11059 * p[0] - 21709 * p[1] + 32768 * p[2] + (257 << 15)) >> 16);
        out[2][x] = clip((32768 * p[0] - 27439 * p[1] - 5329 * p[2] + (257 << 15)) >> 16);
    }
}

/* Halves a plane, in place: across, down or both; means, rounded up. */
static void halve(uint8_t *plane, int width, int height, int across, int down)
{
    uint8_t *out = plane;
    const int second = across == 2 ? 1 : 0, below = down == 2 ? width : 0;
    for (int y = 0; y < height; y += down) {
        const uint8_t *row = plane + (size_t)y * (size_t)width;
        for (int x = 0; x < width; x += across)
            *out++ = (uint8_t)((row[x] + row[x + second] + row[x + below] +
                                row[x + second + below] + 2) >>
                               2);
    }
}

/* Fills the samples of all components; each plane has the room of the full size. */
static void fill_samples(const struct writer *w, const uint8_t *rgb)
{
    const int width = w->c[0].width * 8, height = w->c[0].height * 8;
    for (int y = 0; y < height; y++) {
        const uint8_t *row =
            rgb + 3 * (size_t)(y < w->height ? y : w->height - 1) * (size_t)w->width;
        uint8_t *out[3];
        for (int i = 0; i < 3; i++) /* a grey image's Cb and Cr are never looked at */
            out[i] = w->c[i < w->components ? i : 0].samples + (size_t)y * (size_t)width;
        if (w->components == 3)
            convert_row(row, w->width, width, out);
        else
            for (int x = 0; x < width; x++)
                out[0][x] = row[3 * (x < w->width ? x : w->width - 1)];
    }
    if (w->c[0].across * w->c[0].down > 1)
        for (int i = 1; i < w->components; i++)
            halve(w->c[i].samples, width, height, w->c[0].across, w->c[0].down);
}

static void transform_component(const struct writer *w, const struct component *c)
{
    int16_t *block = c->blocks;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++, block += 64)
            transform_block(c->samples + (size_t)y * 64 * (size_t)c->width + (size_t)x * 8,
                            (size_t)c->width * 8, w->divisors[c->table], block);
}

static void put_segment(struct writer *w, int marker, int length) /* length without its own field */
{
    put_word(w, 0xff00 | marker);
    put_word(w, length + 2);
}

static void put_bytes(struct writer *w, const void *p, size_t n)
{
    memcpy(w->out + w->n, p, n);
    w->n += n;
}

static void put_app(struct writer *w)
{
    static const uint8_t jfif[14] = {'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
    uint8_t exif[32] = {'E',  'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                        0x01, 0x12, 0,   3,   0, 0, 0,   1,   0, 0,  0, 0, 0, 0, 0, 0};
    if (w->how->orientation == 0) {
        put_segment(w, 0xe0, sizeof(jfif));
        put_bytes(w, jfif, sizeof(jfif));
        return;
    }
    exif[25] = (uint8_t)w->how->orientation;
    put_segment(w, 0xe1, sizeof(exif));
    put_bytes(w, exif, sizeof(exif));
}

static void put_tables(struct writer *w)
{
    const int kinds = w->components == 1 ? 1 : 2;
    for (int t = 0; t < kinds; t++) {
        put_segment(w, 0xdb, 65);
        put_byte(w, t);
        for (int k = 0; k < 64; k++)
            put_byte(w, (int)w->divisors[t][k].step);
    }
    for (int t = 0; t < 2 * kinds; t++) {
        const struct huffman_spec *spec = &huffman_specs[t];
        int symbols = 0;
        for (int i = 0; i < 16; i++)
            symbols += spec->counts[i];
        put_segment(w, 0xc4, 17 + symbols);
        put_byte(w, (t & 1) << 4 | t >> 1);
        put_bytes(w, spec->counts, 16);
        put_bytes(w, spec->symbols, (size_t)symbols);
    }
}

static void put_frame(struct writer *w)
{
    put_segment(w, w->how->progressive ? 0xc2 : 0xc0, 6 + 3 * w->components);
    put_byte(w, 8);
    put_word(w, w->height);
    put_word(w, w->width);
    put_byte(w, w->components);
    for (int i = 0; i < w->components; i++) {
        put_byte(w, i + 1);
        put_byte(w, w->c[i].across << 4 | w->c[i].down);
        put_byte(w, w->c[i].table);
    }
    if (w->how->restart_interval > 0 && !w->how->progressive) {
        put_segment(w, 0xdd, 2);
        put_word(w, w->how->restart_interval);
    }
}

static void put_scan_head(struct writer *w, int first, int count, int low, int high)
{
    put_segment(w, 0xda, 4 + 2 * count);
    put_byte(w, count);
    for (int i = first; i < first + count; i++) {
        put_byte(w, i + 1);
        put_byte(w, w->c[i].table * 0x11);
    }
    put_byte(w, low);
    put_byte(w, high);
    put_byte(w, 0);
}

static void put_dc(struct writer *w, const struct component *c, int value, int *before)
{
    const int difference = value - *before, length = bit_length(difference);
    *before = value;
    put_symbol(w, 2 * c->table, length);
    if (length > 0)
        put_magnitude(w, difference, length);
}

static void
put_ac(struct writer *w, const struct component *c, const int16_t *block, int low, int high)
{
    const int table = 2 * c->table + 1;
    int zeros = 0;
    for (int k = low; k <= high; k++) {
        if (block[k] == 0) {
            zeros++;
            continue;
        }
        for (; zeros > 15; zeros -= 16)
            put_symbol(w, table, 0xf0);
        const int length = bit_length(block[k]);
        put_symbol(w, table, zeros << 4 | length);
        put_magnitude(w, block[k], length);
        zeros = 0;
    }
    if (zeros > 0)
        put_symbol(w, table, 0);
}

/* All components, MCU by MCU: coefficients 0..high. */
static void put_interleaved(struct writer *w, int high)
{
    int before[3] = {0}, restarts = 0;
    const int mcus = w->mcus_across * w->mcus_down;
    put_scan_head(w, 0, w->components, 0, high);
    for (int m = 0; m < mcus; m++) {
        if (w->how->restart_interval > 0 && !w->how->progressive && m > 0 &&
            m % w->how->restart_interval == 0) {
            flush_bits(w);
            put_word(w, 0xffd0 + (restarts++ & 7));
            memset(before, 0, sizeof(before));
        }
        for (int i = 0; i < w->components; i++) {
            const struct component *c = &w->c[i];
            for (int b = 0; b < c->across * c->down; b++) {
                const int x = m % w->mcus_across * c->across + b % c->across;
                const int y = m / w->mcus_across * c->down + b / c->across;
                const int16_t *block = c->blocks + 64 * ((size_t)y * (size_t)c->width + (size_t)x);
                put_dc(w, c, block[0], &before[i]);
                if (high > 0)
                    put_ac(w, c, block, 1, high);
            }
        }
    }
    flush_bits(w);
}

static void put_band(struct writer *w, int component, int low, int high)
{
    const struct component *c = &w->c[component];
    put_scan_head(w, component, 1, low, high);
    for (int y = 0; y < c->real_height; y++)
        for (int x = 0; x < c->real_width; x++)
            put_ac(w, c, c->blocks + 64 * ((size_t)y * (size_t)c->width + (size_t)x), low, high);
    flush_bits(w);
}

static void put_scans(struct writer *w)
{
    put_interleaved(w, w->how->progressive ? 0 : 63);
    if (!w->how->progressive)
        return;
    put_band(w, 0, 1, 5);
    for (int i = 1; i < w->components; i++)
        put_band(w, i, 1, 63);
    put_band(w, 0, 6, 63);
}

static bool start(struct writer *w, const uint8_t *rgb)
{
    const int across = w->how->grey ? 1 : w->how->across, down = w->how->grey ? 1 : w->how->down;
    w->components = w->how->grey ? 1 : 3;
    w->mcus_across = (w->width + 8 * across - 1) / (8 * across);
    w->mcus_down = (w->height + 8 * down - 1) / (8 * down);
    size_t blocks = 0;
    for (int i = 0; i < w->components; i++) {
        struct component *c = &w->c[i];
        c->across = i == 0 ? across : 1;
        c->down = i == 0 ? down : 1;
        c->width = w->mcus_across * c->across;
        c->height = w->mcus_down * c->down;
        c->real_width = (w->width * c->across / across + 7) / 8;
        c->real_height = (w->height * c->down / down + 7) / 8;
        if (i > 0) { /* a component has ceil(width / across) samples (A.1.1) */
            c->real_width = ((w->width + across - 1) / across + 7) / 8;
            c->real_height = ((w->height + down - 1) / down + 7) / 8;
        }
        c->table = i > 0;
        const size_t count = (size_t)w->c[0].width * (size_t)w->c[0].height;
        c->samples = imrec_realloc(NULL, count, 64);
        c->blocks = imrec_realloc(NULL, count, 64 * sizeof(*c->blocks));
        blocks += count;
        if (c->samples == NULL || c->blocks == NULL)
            return false;
    }
    fill_samples(w, rgb);
    /* A coefficient takes at most 16 + 11 bits, doubled where a byte of 255 is stuffed. */
    w->out = imrec_realloc(NULL, blocks * 64 * 7 + 4096, 1);
    return w->out != NULL;
}

uint8_t *
jpeg_write(const uint8_t *rgb, int width, int height, const struct jpeg_how *how, size_t *n)
{
    struct writer w = {.how = how, .width = width, .height = height};
    make_divisors(&w);
    make_codes(&w);
    const bool ready = start(&w, rgb);
    if (ready) {
        for (int i = 0; i < w.components; i++)
            transform_component(&w, &w.c[i]);
        put_word(&w, 0xffd8);
        put_app(&w);
        put_tables(&w);
        put_frame(&w);
        put_scans(&w);
        put_word(&w, 0xffd9);
    }
    for (int i = 0; i < w.components; i++) {
        imrec_free(w.c[i].samples);
        imrec_free(w.c[i].blocks);
    }
    *n = w.n;
    return w.out;
}
