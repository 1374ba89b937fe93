/*
 * codec/jpeg_tile.c - a JPEG's coefficients in one sequential scan with optimal tables: the same
 * pixels for every decoder. With restart markers at the end of each row of MCUs a region of it is
 * decoded faster.
 *
 * Markers of applications and comments stay, and so does what follows the image.
 */
#include "base/error.h"
#include "base/math.h"
#include "codec/jpeg_reader.h"
#include "codec/jpeg_region.h"
#include "codec/jpeg_writer.h"

#include <string.h>

enum { MOST_MARKER = 0xFFFF, APPLICATIONS = 16 };

struct job {
    struct codec *c;
    struct jpeg_writer *w;
    bool is_whole; /* read without a warning, and can be written */
    enum imrec_status st;
    struct imrec_error err;
    struct bytes after; /* the image's end */
};

/* ---- what it holds ------------------------------------------------------------------------ */

static bool is_for_us(const struct codec *c)
{
    return c->format == &codec_jpeg && !jpeg_head_arithmetic(&c->head);
}

static uint64_t blocks_of(const struct jpeg_head *h)
{
    const uint64_t mcus =
        (uint64_t)ceil_div(h->width, 8u * h->max_h) * ceil_div(h->height, 8u * h->max_v);
    uint64_t blocks = 0;
    for (size_t i = 0; i < h->components; i++)
        blocks += mcus * h->h[i] * h->v[i];
    return blocks;
}

/* A scan of few bytes may have codes that are shorter than the standard ones for all that it has,
 * or, progressive, none for most blocks: a DC difference and an end of block each. */
uint64_t codec_tile_jpeg_most(const struct codec *c)
{
    enum { HEADERS = 4096, BLOCK = 6 };
    return is_for_us(c) ? 2 * (uint64_t)c->image.n + BLOCK * blocks_of(&c->head) + HEADERS : 0;
}

/* libjpeg's coefficients and saved markers. The bytes with standard tables are in a buffer that
 * doubles; with optimal tables they have room for what stuffing may add, and once more without it,
 * or the image is written twice: six times the bytes. */
uint64_t codec_tile_jpeg_claim(const struct codec *c)
{
    enum { POOLS = 512 << 10, BUFFERS = 6 };
    if (!is_for_us(c))
        return 0;
    const uint64_t blocks = blocks_of(&c->head);
    return (c->info.gzip ? c->unpacked.cap : 0) + blocks * sizeof(JBLOCK) + c->image.n +
           BUFFERS * codec_tile_jpeg_most(c) + jpeg_optimizer_claim(DCTSIZE2 * blocks * 2 / 3) +
           POOLS;
}

/* ---- writing ------------------------------------------------------------------------------ */

static bool starts_with(const struct jpeg_marker_struct *m, int marker, const char *text, size_t n)
{
    return m->marker == marker && m->data_length >= n && memcmp(m->data, text, n) == 0;
}

/* libjpeg has written these itself. */
static bool is_written(const struct jpeg_compress_struct *to, const struct jpeg_marker_struct *m)
{
    return (to->write_JFIF_header && starts_with(m, JPEG_APP0, "JFIF", 5)) ||
           (to->write_Adobe_marker && starts_with(m, JPEG_APP0 + 14, "Adobe", 5));
}

static void write_coefficients(struct jpeg_writer *w)
{
    struct jpeg_compress_struct *to = &w->cinfo;
    jpeg_copy_critical_parameters(w->from, to);
    to->optimize_coding = w->optimize;
    to->restart_in_rows = w->tile;
    jpeg_write_coefficients(to, w->coefficients);
    for (const struct jpeg_marker_struct *m = w->from->marker_list; m != NULL; m = m->next)
        if (!is_written(to, m))
            jpeg_write_marker(to, m->marker, m->data, m->data_length);
    jpeg_finish_compress(to);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* What 8-bit samples can come from: for others Huffman codes have no symbol, and what libjpeg
 * writes of them is other ones. */
static bool is_ordinary(const JCOEF *block)
{
    enum { MOST = 1023 };
    bool large = block[0] > MOST || block[0] < -MOST - 1;
    for (int k = 1; k < DCTSIZE2; k++)
        large |= block[k] > MOST || block[k] < -MOST;
    return !large;
}

static bool are_ordinary(struct jpeg_decompress_struct *from, jvirt_barray_ptr *coefficients)
{
    for (int c = 0; c < from->num_components; c++) {
        const jpeg_component_info *info = &from->comp_info[c];
        for (JDIMENSION y = 0; y < info->height_in_blocks; y++) {
            JBLOCKARRAY rows =
                from->mem->access_virt_barray((j_common_ptr)from, coefficients[c], y, 1, FALSE);
            for (JDIMENSION x = 0; x < info->width_in_blocks; x++)
                if (!is_ordinary(rows[0][x]))
                    return false;
        }
    }
    return true;
}

/* No scan of a progressive image is missing: what decodes it counts that as a defect, and of one
 * sequential scan nobody could tell. */
static bool has_all_scans(const struct jpeg_head *h, const struct jpeg_decompress_struct *from)
{
    return !h->many_scans ||
           (h->scanned == (1u << h->components) - 1 && jpeg_coefficients_known(from));
}

static void read_coefficients(struct jpeg_reader *r, void *context)
{
    struct job *j = context;
    struct jpeg_decompress_struct *from = &r->cinfo;
    jpeg_save_markers(from, JPEG_COM, MOST_MARKER);
    for (int i = 0; i < APPLICATIONS; i++)
        jpeg_save_markers(from, JPEG_APP0 + i, MOST_MARKER);
    (void)jpeg_read_header(from, TRUE);
    j->w->from = from;
    j->w->coefficients = jpeg_read_coefficients(from);
    j->is_whole = r->warnings == 0 && has_all_scans(&j->c->head, from) &&
                  are_ordinary(from, j->w->coefficients);
    if (!j->is_whole)
        return;
    j->after = (struct bytes){r->source.next_input_byte, r->source.bytes_in_buffer};
    j->w->body = write_coefficients;
    j->st = jpeg_writer_run(j->w, j->c, &j->err);
}

/* A reader of its own: it keeps no markers of other images, and no tables. */
static enum imrec_status read_and_write(struct job *j, struct imrec_error *err)
{
    struct codec *c = j->c;
    struct jpeg_reader *r;
    IMREC_TRY(jpeg_reader_new(&r, err));
    r->max_scans = c->limits.max_scans;
    r->stop = c->stop;
    jpeg_reader_begin(r, c->image, &c->head);
    const enum imrec_status st = jpeg_reader_run(r, read_coefficients, j, &j->err);
    if (st != IMREC_OK)
        jpeg_writer_abort(j->w);
    jpeg_reader_free(r);
    if (st != IMREC_OK)
        j->st = st;
    return IMREC_OK;
}

/* Of an image that cannot be read, or written, nothing is said: it stays as it is. */
static enum imrec_status
transcode(struct codec *c, bool tile, bool *done, struct bytes *out, struct imrec_error *err)
{
    struct job j = {.c = c};
    IMREC_TRY(jpeg_writer_of(c, &j.w, err));
    j.w->tile = tile;
    j.w->most = codec_tile_jpeg_most(c);
    IMREC_TRY(read_and_write(&j, err));
    if (j.st == IMREC_ERR_NO_MEMORY || j.st == IMREC_ERR_CANCELLED) {
        if (err != NULL)
            *err = j.err;
        return j.st;
    }
    if (j.st != IMREC_OK || !j.is_whole)
        return IMREC_OK;
    c->encoded.max = SIZE_MAX;
    IMREC_TRY(buf_append(&c->encoded, j.after.p, j.after.n, err));
    *out = (struct bytes){c->encoded.p, c->encoded.n};
    *done = true;
    return IMREC_OK;
}

enum imrec_status
codec_tile_jpeg(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err)
{
    *done = false;
    *out = c->image;
    return is_for_us(c) ? transcode(c, true, done, out, err) : IMREC_OK;
}

enum imrec_status
codec_baseline_jpeg(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err)
{
    *done = false;
    *out = c->image;
    return is_for_us(c) && jpeg_head_progressive(&c->head) ? transcode(c, false, done, out, err)
                                                           : IMREC_OK;
}

/* Of luma's AC, or grey's, the counts of codes are those of the standard (T.81, table K.5). */
static bool has_standard_tables(struct bytes jpeg)
{
    static const uint8_t counts[] = {0x10, 0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D};
    for (size_t i = 0; i + sizeof(counts) <= jpeg.n && i < MOST_MARKER; i++)
        if (jpeg.p[i] == counts[0] && memcmp(jpeg.p + i, counts, sizeof(counts)) == 0)
            return true;
    return false;
}

enum imrec_status
codec_plain_jpeg(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err)
{
    const bool is_other =
        is_for_us(c) && (c->head.many_scans || c->head.restarts || has_standard_tables(c->image));
    *done = false;
    *out = c->image;
    return is_other ? transcode(c, false, done, out, err) : IMREC_OK;
}
