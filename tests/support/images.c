/* tests/support/images.c - JPEGs of every layout, by libjpeg itself. */
#include "tests/support/images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

uint32_t pick(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

uint8_t *image_pixels(uint32_t width, uint32_t height, uint32_t channels)
{
    uint8_t *p = malloc((size_t)width * height * channels), *at = p;
    uint64_t state = width * 31u + height;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++)
                *at++ = (uint8_t)((x * (c + 2) + y * (3 - c % 3) + pick(&state, 90)) & 255);
    return p;
}

static void choose_layout(struct jpeg_compress_struct *cinfo, const struct jpeg_layout *l)
{
    static const J_COLOR_SPACE stored[] = {JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK};
    jpeg_set_defaults(cinfo);
    jpeg_set_colorspace(cinfo, stored[l->colours]);
    jpeg_set_quality(cinfo, l->quality > 0 ? l->quality : 90, !l->wide);
    for (int i = 0; i < cinfo->num_components; i++) {
        jpeg_component_info *c = &cinfo->comp_info[i];
        c->h_samp_factor = l->sampling != NULL ? l->sampling[i] >> 4 : i % 3 == 0 ? l->h : 1;
        c->v_samp_factor = l->sampling != NULL ? l->sampling[i] & 15 : i % 3 == 0 ? l->v : 1;
        c->component_id = l->ids != NULL ? (uint8_t)l->ids[i] : c->component_id;
    }
    if (l->bare)
        cinfo->write_JFIF_header = cinfo->write_Adobe_marker = FALSE;
    cinfo->arith_code = l->arithmetic;
    cinfo->optimize_coding = l->optimal;
    cinfo->restart_in_rows = l->restart_rows;
    if (l->restart_mcus > 0)
        cinfo->restart_interval = (unsigned)l->restart_mcus;
    if (l->progressive)
        jpeg_simple_progression(cinfo);
}

enum { MOST_SCANS = 100, BAND_SHIFT = 2 };

struct script {
    jpeg_scan_info scan[MOST_SCANS];
    int n;
};

static void
add_scan(struct script *s, int component, int components, int from, int end, int high, int low)
{
    jpeg_scan_info *scan = &s->scan[s->n++];
    *scan =
        (jpeg_scan_info){.comps_in_scan = components, .Ss = from, .Se = end, .Ah = high, .Al = low};
    for (int i = 0; i < components; i++)
        scan->component_index[i] = component + i;
}

/* DC of all components, together or one by one, to the bit `low`. */
static void add_dc(struct script *s, uint64_t *state, int components, int high, int low)
{
    if (pick(state, 2) == 0) {
        add_scan(s, 0, components, 0, 0, high, low);
        return;
    }
    for (int i = 0; i < components; i++)
        add_scan(s, i, 1, 0, 0, high, low);
}

/* Bands of AC, each from its own bit on to the last one. */
static void add_ac(struct script *s, uint64_t *state, int component)
{
    for (int from = 1, end; from < 64; from = end + 1) {
        end = pick(state, 2) == 0 ? 63 : from + (int)pick(state, (uint32_t)(64 - from));
        const int low = (int)pick(state, BAND_SHIFT + 1);
        add_scan(s, component, 1, from, end, 0, low);
        for (int bit = low; bit > 0; bit--)
            add_scan(s, component, 1, from, end, bit, bit - 1);
        if (s->n > MOST_SCANS / 4 * (component + 1)) { /* the rest at once */
            if (end < 63)
                add_scan(s, component, 1, end + 1, 63, 0, 0);
            return;
        }
    }
}

/* Scans of every kind that are a progressive image together. */
static void make_script(struct script *s, uint64_t seed, int components)
{
    uint64_t state = seed;
    const int low = (int)pick(&state, 3);
    s->n = 0;
    add_dc(s, &state, components, 0, low);
    for (int i = 0; i < components; i++)
        add_ac(s, &state, i);
    for (int bit = low; bit > 0; bit--)
        add_dc(s, &state, components, bit, bit - 1);
}

struct bytes jpeg_make(uint32_t width, uint32_t height, const struct jpeg_layout *l)
{
    const bool inks = l->colours == COLOURS_CMYK || l->colours == COLOURS_YCCK;
    const uint32_t channels = l->colours == COLOURS_GREY ? 1 : inks ? 4 : 3;
    uint8_t *pixels = image_pixels(width, height, channels);
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr errors;
    jpeg_scan_info scans[4] = {0};
    unsigned char *out = NULL;
    unsigned long n = 0;
    cinfo.err = jpeg_std_error(&errors);
    errors.trace_level = -1; /* no word of 16-bit tables */
    jpeg_create_compress(&cinfo);
    jpeg_mem_dest(&cinfo, &out, &n);
    cinfo.image_width = width;
    cinfo.image_height = height;
    cinfo.input_components = (int)channels;
    cinfo.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    choose_layout(&cinfo, l);
    for (int i = 0; i < 4; i++)
        scans[i] = (jpeg_scan_info){.comps_in_scan = 1, .component_index = {i}, .Se = 63};
    if (l->separate_scans) {
        cinfo.scan_info = scans;
        cinfo.num_scans = cinfo.num_components;
    }
    if (l->two_scans && cinfo.num_components > 1) {
        const int rest = cinfo.num_components - 1;
        scans[1] = (jpeg_scan_info){.comps_in_scan = rest, .component_index = {1, 2, 3}, .Se = 63};
        cinfo.scan_info = scans;
        cinfo.num_scans = 2;
    }
    struct script script;
    if (l->script != 0) {
        make_script(&script, l->script, cinfo.num_components);
        cinfo.scan_info = script.scan;
        cinfo.num_scans = script.n - l->incomplete;
    }
    jpeg_start_compress(&cinfo, TRUE);
    for (JSAMPROW row = pixels; cinfo.next_scanline < height; row += (size_t)width * channels)
        (void)jpeg_write_scanlines(&cinfo, &row, 1);
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    free(pixels);
    return (struct bytes){out, n};
}

struct bytes jpeg_with_orientation(struct bytes jpeg, uint8_t orientation, bool big_endian)
{
    static const uint8_t little[36] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0,    0,    'I', 'I',
                                       42,   0,    8, 0,  0,   0,   1,   0,   0x12, 0x01, 3,   0,
                                       1,    0,    0, 0,  99,  0,   0,   0,   0,    0,    0,   0};
    static const uint8_t big[36] = {0xFF, 0xE1, 0, 34, 'E', 'x', 'i', 'f', 0,    0,    'M', 'M',
                                    0,    42,   0, 0,  0,   8,   0,   1,   0x01, 0x12, 0,   3,
                                    0,    0,    0, 1,  0,   99,  0,   0,   0,    0,    0,   0};
    uint8_t *p = malloc(jpeg.n + sizeof(big));
    memcpy(p, jpeg.p, 2);
    memcpy(p + 2, big_endian ? big : little, sizeof(big));
    p[2 + (big_endian ? 29 : 28)] = orientation;
    memcpy(p + 2 + sizeof(big), jpeg.p + 2, jpeg.n - 2);
    bytes_free(jpeg);
    return (struct bytes){p, jpeg.n + sizeof(big)};
}

static uint8_t *put_bit(uint8_t *to, uint32_t *have, uint32_t bit)
{
    *to = (uint8_t)(*to << 1 | bit);
    return ++*have % 8 == 0 ? to + 1 : to;
}

struct bytes jpeg_of_short_codes(uint32_t blocks)
{
    enum { COEFFICIENTS = 21, BITS = 6 }; /* each third one: a code of one bit, and five of value */
    static const uint8_t quant[] = {0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0},
                         code[] = {0xFF, 0xC4, 0, 20, 0, 1},
                         scan[] = {0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0};
    const uint32_t width = 8 * blocks;
    const uint8_t frame[] = {0xFF,           0xC0, 0, 11,   8, 0, 8, (uint8_t)(width >> 8),
                             (uint8_t)width, 1,    1, 0x11, 0};
    uint8_t *p = calloc(1, 256 + 16 * (size_t)blocks), *to = p;
    uint32_t have = 0;
    to = (uint8_t *)memcpy(to, quant, sizeof(quant)) + sizeof(quant);
    to = (uint8_t *)memset(to, 1, 64) + 64;
    to = (uint8_t *)memcpy(to, frame, sizeof(frame)) + sizeof(frame);
    for (int ac = 0; ac < 2; ac++, to += 22) {
        memcpy(to, code, sizeof(code));
        to[4] = (uint8_t)(ac << 4);
        to[21] = ac != 0 ? 0x25 : 0x00;
    }
    to = (uint8_t *)memcpy(to, scan, sizeof(scan)) + sizeof(scan);
    for (uint32_t i = 0; i < blocks; i++) {
        to = put_bit(to, &have, 0);
        for (uint32_t k = 0; k < COEFFICIENTS * BITS; k++)
            to = put_bit(to, &have, k % 2);
    }
    while (have % 8 != 0)
        to = put_bit(to, &have, 1);
    memcpy(to, "\xFF\xD9", 2);
    return (struct bytes){p, (size_t)(to + 2 - p)};
}

void bytes_free(struct bytes b)
{
    free((void *)(uintptr_t)b.p);
}

bool bytes_hold(struct bytes b, const char *text, size_t n)
{
    for (size_t i = 0; i + n <= b.n; i++)
        if (memcmp(b.p + i, text, n) == 0)
            return true;
    return false;
}
