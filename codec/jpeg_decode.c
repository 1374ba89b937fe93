/*
 * codec/jpeg_decode.c - a JPEG, or a region of it, to rows of pixels.
 *
 * The pixels are those of plain libjpeg-turbo: slow integer DCT, fancy upsampling. To one
 * channel: the Y plane of YCbCr, libjpeg's weights of RGB. CMYK and YCCK leave libjpeg as CMYK.
 * Rows go to the sink while they are in the cache; nothing is decoded after the last row.
 * codec/jpeg decodes plain JPEGs; libjpeg gets the others.
 */
#include "codec/jpeg_decode.h"

#include "base/error.h"
#include "base/math.h"
#include "codec/colour_rows.h"
#include "codec/jpeg/baseline.h"
#include "codec/jpeg/together.h"
#include "codec/jpeg_region.h"
#include "codec/jpeg_try.h"

#include <jerror.h>

enum { LINE = 64, OFF_LINE = 8 }; /* bytes: of the cache; no vector's boundary */
enum { ROWS_AT_ONCE = 4 };        /* of one MCU row's upsampling: max_v_samp_factor */

struct job {
    struct codec *codec;
    uint32_t channels, denominator;
    struct rows *rows;                /* to here, */
    const struct imrec_image *direct; /* or all of the image straight to here */
    struct conversion how;
    bool has_image; /* every pixel has been seen */
};

static bool is_cmyk(const struct jpeg_head *h)
{
    return h->components == 4;
}

static J_COLOR_SPACE output_space(const struct jpeg_head *h, uint32_t channels)
{
    if (is_cmyk(h))
        return JCS_CMYK;
    return channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_EXT_RGBA;
}

/* Of many scans all have been read by now: are some missing because the data end? */
static void check_scans(struct jpeg_reader *r, const struct jpeg_head *h)
{
    if (h->scanned == (1u << h->components) - 1 && jpeg_coefficients_known(&r->cinfo))
        return;
    if (r->ended)
        jpeg_reader_truncated(r);
    else
        r->warnings++;
}

static void start(struct jpeg_reader *r, const struct job *j)
{
    struct jpeg_decompress_struct *cinfo = &r->cinfo;
    const struct jpeg_head *h = &j->codec->head;
    (void)jpeg_read_header(cinfo, TRUE);
    if (cinfo->image_width != h->width || cinfo->image_height != h->height ||
        cinfo->num_components != h->components)
        ERREXIT(cinfo, JERR_BAD_LENGTH); /* limits were checked on other numbers */
    cinfo->out_color_space = output_space(h, j->channels);
    cinfo->dct_method = JDCT_ISLOW;
    cinfo->do_fancy_upsampling = TRUE;
    cinfo->scale_num = 1;
    cinfo->scale_denom = j->denominator;
    (void)jpeg_start_decompress(cinfo);
    if (h->many_scans)
        check_scans(r, h);
}

/* One row, from the region's first column, to the sink. */
static void give(const struct job *j, const uint8_t *row, uint32_t y)
{
    struct rows *out = j->rows;
    if (j->how.from == PIXELS_CMYK) {
        colour_row(&j->how, row, out->region.width, out->line);
        row = out->line;
    }
    out->sink(out->context, y, row);
}

/* libjpeg-turbo writes rows that begin on a vector's boundary around the caches, which are
 * slow to read back at once: so no row of this buffer does. */
static uint8_t *row_buffer(const struct codec *c, size_t row, size_t bytes)
{
    const size_t stride = align_up(bytes, LINE);
    const size_t to_line = LINE - (uintptr_t)c->scratch.p % LINE;
    return c->scratch.p + to_line + OFF_LINE + row * stride;
}

static void read_rows(struct jpeg_reader *r, const struct job *j, struct jpeg_window w)
{
    struct jpeg_decompress_struct *cinfo = &r->cinfo;
    const struct imrec_rect region = j->rows->region;
    const size_t pixel = (size_t)cinfo->output_components;
    const uint32_t end = region.y + region.height;
    JSAMPROW rows[ROWS_AT_ONCE];
    for (size_t i = 0; i < ROWS_AT_ONCE; i++)
        rows[i] = row_buffer(j->codec, i, w.width * pixel);
    while (cinfo->output_scanline < end) {
        const uint32_t y = cinfo->output_scanline, left = end - y;
        const uint32_t n =
            jpeg_read_scanlines(cinfo, rows, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE);
        for (uint32_t i = 0; i < n; i++)
            if (y + i >= region.y)
                give(j, rows[i] + w.offset * pixel, y + i - region.y);
    }
}

static void decode_region(struct jpeg_reader *r, void *job)
{
    const struct job *j = job;
    start(r, j);
    const struct jpeg_window w = jpeg_window_set(r, &j->codec->head, j->rows->region);
    if (w.skip > 0)
        (void)jpeg_skip_scanlines(&r->cinfo, w.skip);
    read_rows(r, j, w);
}

/* After the last row: extraneous bytes and a missing end marker are worth a warning. */
static void read_to_end(struct jpeg_reader *r, struct job *j)
{
    j->has_image = true;
    jpeg_reader_protect_tables(r);
    (void)jpeg_finish_decompress(&r->cinfo);
}

static void decode_direct(struct jpeg_reader *r, void *job)
{
    struct job *j = job;
    struct jpeg_decompress_struct *cinfo = &r->cinfo;
    start(r, j);
    while (cinfo->output_scanline < cinfo->output_height) {
        JSAMPROW rows[ROWS_AT_ONCE];
        const uint32_t y = cinfo->output_scanline, left = cinfo->output_height - y;
        const uint32_t n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        for (uint32_t i = 0; i < n; i++)
            rows[i] = j->direct->pixels + (y + i) * j->direct->stride;
        (void)jpeg_read_scanlines(cinfo, rows, n);
    }
    read_to_end(r, j);
}

/* Entropy-decodes everything; only the last row becomes pixels. */
static void decode_nothing(struct jpeg_reader *r, void *job)
{
    struct job *j = job;
    JSAMPROW row = j->codec->scratch.p;
    start(r, j);
    if (r->cinfo.output_height > 1)
        (void)jpeg_skip_scanlines(&r->cinfo, r->cinfo.output_height - 1);
    (void)jpeg_read_scanlines(&r->cinfo, &row, 1);
    read_to_end(r, j);
}

static enum imrec_status run(struct codec *c, void (*body)(struct jpeg_reader *, void *),
                             struct job *j, uint32_t *warnings, struct imrec_error *err)
{
    /* a row of libjpeg's has 4 components at most */
    const size_t row = (size_t)c->info.width * 4 + LINE;
    IMREC_TRY(codec_reserve(&c->scratch, row * ROWS_AT_ONCE + 2 * LINE, err));
    if (c->jpeg == NULL)
        IMREC_TRY(jpeg_reader_new(&c->jpeg, err));
    j->codec = c;
    c->jpeg->accept_truncated = c->limits.accept_truncated;
    c->jpeg->max_scans = c->limits.max_scans;
    c->jpeg->stop = c->stop;
    jpeg_reader_begin(c->jpeg, c->image, &c->head);
    struct imrec_error why;
    const enum imrec_status st = jpeg_reader_run(c->jpeg, body, j, &why);
    *warnings += c->jpeg->warnings;
    if (st == IMREC_OK)
        return IMREC_OK;
    if (j->has_image) { /* what follows it is not fit to be read */
        ++*warnings;
        return IMREC_OK;
    }
    if (err != NULL)
        *err = why;
    return st;
}

static struct conversion conversion_to(const struct codec *c, uint32_t channels)
{
    return (struct conversion){is_cmyk(&c->head) ? PIXELS_CMYK : PIXELS_RGB, GREY_ROUNDED, channels,
                               c->limits.alpha};
}

static enum imrec_status decode_rows(struct codec *c, struct rows *rows, struct imrec_error *err)
{
    struct job j = {.channels = rows->channels,
                    .denominator = 1,
                    .rows = rows,
                    .how = conversion_to(c, rows->channels)};
    bool done;
    IMREC_TRY(jpeg_try_baseline(c, rows, &done, err));
    return done ? IMREC_OK : run(c, decode_region, &j, &rows->warnings, err);
}

/* In place: 4 bytes a pixel become `channels`; the row is read ahead of being written. */
static void mix_inks(const struct codec *c, const struct image *from, struct image *to)
{
    const struct conversion how = conversion_to(c, to->view.channels);
    for (uint32_t y = 0; y < to->view.height; y++)
        colour_row(&how, from->view.pixels + y * from->view.stride, to->view.width,
                   to->view.pixels + y * to->view.stride);
}

static uint32_t scaled(uint32_t side, uint32_t denominator)
{
    return ceil_div(side, denominator);
}

enum imrec_status jpeg_decode_whole(struct codec *c, uint32_t denominator, uint32_t channels,
                                    struct image *out, uint32_t *warnings, struct imrec_error *err)
{
    const uint32_t width = scaled(c->info.width, denominator);
    const uint32_t height = scaled(c->info.height, denominator);
    const bool cmyk = is_cmyk(&c->head);
    struct image *decoded = cmyk ? &c->whole : out;
    bool done = false;
    IMREC_TRY(image_resize_buffer(out, width, height, channels, err));
    IMREC_TRY(jpeg_try_baseline_whole(c, denominator, &out->view, &done, err));
    if (done)
        return IMREC_OK;
    if (cmyk)
        IMREC_TRY(image_resize_buffer(decoded, width, height, 4, err));
    struct job j = {.channels = channels, .denominator = denominator, .direct = &decoded->view};
    IMREC_TRY(run(c, decode_direct, &j, warnings, err));
    if (cmyk)
        mix_inks(c, decoded, out);
    return IMREC_OK;
}

/* Rows of libjpeg's, of all components in whole MCUs: around an MCU row that is made of
 * coefficients, five row groups of a context; an MCU row upsampled; and ours. */
static uint64_t libjpeg_rows(const struct jpeg_head *h)
{
    enum { MCU_ROWS = 8 + 5 + 1, POOLS = 64 << 10 };
    const uint64_t columns = (uint64_t)scaled(h->width, 8u * h->max_h) * 8u * h->max_h;
    return POOLS + columns * h->components * h->max_v * MCU_ROWS +
           ROWS_AT_ONCE * (4 * (uint64_t)h->width + LINE);
}

static uint64_t claim(const struct codec *c, uint32_t denominator)
{
    const struct jpeg_head *h = &c->head;
    const uint64_t mcus =
        (uint64_t)scaled(h->width, 8u * h->max_h) * scaled(h->height, 8u * h->max_v);
    const uint64_t pixels =
        (uint64_t)scaled(h->width, denominator) * scaled(h->height, denominator);
    uint64_t bytes = libjpeg_rows(h) + (is_cmyk(h) ? 4 * pixels : 0);
    uint64_t coefficients = 0;
    uint32_t down = 0;
    for (size_t i = 0; i < h->components; i++)
        down += h->v[i];
    for (size_t i = 0; h->many_scans && i < h->components; i++)
        coefficients += mcus * h->h[i] * h->v[i] * sizeof(JBLOCK);
    bytes += coefficients;
    return bytes + baseline_claim(c->image.n, h->width, down, h->restarts, coefficients);
}

enum imrec_status jpeg_check(struct codec *c, uint32_t *warnings, struct imrec_error *err)
{
    struct job j = {.channels = 3, .denominator = 1};
    const struct rows nothing = {.region = {0, 0, c->info.width, c->info.height}, .channels = 3};
    bool done;
    IMREC_TRY(jpeg_try_baseline(c, &nothing, &done, err));
    return done ? IMREC_OK : run(c, decode_nothing, &j, warnings, err);
}

static enum imrec_status read_head(struct codec *c, struct imrec_error *err)
{
    const struct jpeg_head *h = &c->head;
    IMREC_TRY(jpeg_head_read(c->image, c->limits.max_scans, &c->head, err));
    c->info.kind = jpeg_head_kind(h);
    c->info.sampling = jpeg_head_sampling(h);
    c->info.width = h->width;
    c->info.height = h->height;
    c->info.channels = h->components;
    c->info.bits = h->precision;
    c->info.orientation = h->orientation;
    c->info.cmyk = is_cmyk(h);
    c->info.restarts = h->restarts;
    return IMREC_OK;
}

static bool is_jpeg(struct bytes b)
{
    return b.n >= 3 && b.p[0] == 0xFF && b.p[1] == 0xD8 && b.p[2] == 0xFF;
}

const struct format codec_jpeg = {"jpeg", NULL, is_jpeg, read_head, decode_rows, claim};

/* ---- side by side --------------------------------------------------------------------------- */

struct together_call {
    struct codec *codec;
    const struct codec_together *source;
};

_Static_assert(CODEC_TOGETHER_MOST == (int)TOGETHER_MOST, "what codec.h promises");

static bool next_together(void *context, bool look, struct together_image *out)
{
    const struct together_call *call = context;
    const struct codec *c = call->codec;
    struct codec_wish wish = {.denominator = 1};
    if (!call->source->next(call->source->context, look, &wish))
        return false;
    *out = (struct together_image){.id = wish.id};
    if (wish.region.width == 0 || c->format != &codec_jpeg || c->info.gzip ||
        c->head.components == 4 || !jpeg_may_be_plain(&c->head, wish.channels))
        return true;
    out->image = c->image;
    out->width = c->info.width;
    out->height = c->info.height;
    out->region = wish.region;
    out->channels = wish.channels;
    out->denominator = wish.denominator;
    return true;
}

static void done_together(void *context, uint64_t id)
{
    const struct together_call *call = context;
    call->source->done(call->source->context, id);
}

void codec_decode_together(struct codec *c, const struct codec_together *source)
{
    struct together_call call = {c, source};
    const struct together_source images = {next_together, done_together, &call};
    if (c->baseline == NULL)
        c->baseline = baseline_new();
    together_decode(c->decoder == CODEC_JPEG_OURS ? baseline_together(c->baseline) : NULL, &images);
}

bool codec_suits_together(void)
{
    return together_suits();
}

uint64_t codec_together_claim(void)
{
    return together_claim();
}
