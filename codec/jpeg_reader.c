/*
 * codec/jpeg_reader.c - libjpeg's decompressor with manners.
 *
 * Errors leave libjpeg by longjmp to the one setjmp below. What libjpeg calls warnings is
 * counted, with one exception: where the entropy decoder runs into the end of the *data* (not
 * into a marker), pixels are missing and the image is truncated. A missing end-of-image
 * marker alone is a warning: the Huffman decoder reads ahead, so being asked for more bytes
 * proves nothing; only its JWRN_HIT_MARKER does. The arithmetic decoder takes zeros without a
 * word, so there the first request counts.
 */
#include "codec/jpeg_reader.h"
#include "codec/jpeg_errors.h"

#include "base/alloc.h"
#include "base/error.h"

#include <jerror.h>
#include <string.h>

static const JOCTET fake_end[2] = {0xFF, JPEG_EOI};

static struct jpeg_reader *reader_of(void *cinfo)
{
    return ((j_common_ptr)cinfo)->client_data;
}

static void give_up(j_common_ptr cinfo)
{
    longjmp(reader_of(cinfo)->escape, 1);
}

void jpeg_reader_truncated(struct jpeg_reader *r)
{
    if (!r->truncated)
        r->warnings++;
    r->truncated = true;
    if (!r->accept_truncated)
        give_up((j_common_ptr)&r->cinfo);
}

static void count_message(j_common_ptr cinfo, int level)
{
    struct jpeg_reader *r = reader_of(cinfo);
    if (level >= 0)
        return; /* a trace */
    cinfo->err->num_warnings++;
    if (r->ended && cinfo->err->msg_code == JWRN_HIT_MARKER)
        jpeg_reader_truncated(r);
    else if (!r->truncated)
        r->warnings++; /* after the end of the data every block has something to say */
}

static void source_nothing(j_decompress_ptr cinfo)
{
    (void)cinfo;
}

static boolean source_ended(j_decompress_ptr cinfo)
{
    struct jpeg_reader *r = reader_of(cinfo);
    if (!r->ended && !r->truncated)
        r->warnings++; /* no end-of-image marker */
    r->ended = true;
    cinfo->src->next_input_byte = fake_end;
    cinfo->src->bytes_in_buffer = sizeof(fake_end);
    if (cinfo->arith_code)
        jpeg_reader_truncated(r);
    return TRUE;
}

static void source_skip(j_decompress_ptr cinfo, long n)
{
    struct jpeg_source_mgr *s = cinfo->src;
    const size_t step = n < 0 ? 0 : (size_t)n < s->bytes_in_buffer ? (size_t)n : s->bytes_in_buffer;
    s->next_input_byte += step; /* past the end: source_ended() is next */
    s->bytes_in_buffer -= step;
}

/* Called for every few rows. */
static void look_up(j_common_ptr cinfo)
{
    struct jpeg_reader *r = reader_of(cinfo);
    if (stop_asked(r->stop))
        give_up(cinfo);
    if (r->many_scans && (uint32_t)r->cinfo.input_scan_number > r->max_scans) {
        r->too_many_scans = true;
        give_up(cinfo);
    }
}

static void make_tables(struct jpeg_reader *r)
{
    for (int i = 0; i < NUM_QUANT_TBLS; i++)
        r->tables.quant[i] = jpeg_alloc_quant_table((j_common_ptr)&r->cinfo);
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        r->tables.dc[i] = jpeg_alloc_huff_table((j_common_ptr)&r->cinfo);
        r->tables.ac[i] = jpeg_alloc_huff_table((j_common_ptr)&r->cinfo);
    }
}

static void create(struct jpeg_reader *r, void *job)
{
    (void)job;
    jpeg_create_decompress(&r->cinfo); /* keeps err and client_data */
    r->cinfo.src = &r->source;
    r->progress.progress_monitor = look_up;
    make_tables(r);
}

enum imrec_status jpeg_reader_new(struct jpeg_reader **out, struct imrec_error *err)
{
    struct jpeg_reader *r = imrec_zalloc(1, sizeof(*r));
    if (r == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a JPEG decoder");
    r->cinfo.err = jpeg_errors_go_to(&r->errors, give_up, count_message);
    r->cinfo.client_data = r;
    r->source = (struct jpeg_source_mgr){.init_source = source_nothing,
                                         .fill_input_buffer = source_ended,
                                         .skip_input_data = source_skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = source_nothing};
    const enum imrec_status st = jpeg_reader_run(r, create, NULL, err);
    if (st != IMREC_OK)
        jpeg_reader_free(r);
    else
        *out = r;
    return st;
}

void jpeg_reader_free(struct jpeg_reader *r)
{
    if (r != NULL)
        jpeg_destroy_decompress(&r->cinfo);
    imrec_free(r);
}

static JHUFF_TBL *huffman_table(JHUFF_TBL *own, JHUFF_TBL *standard, bool defined)
{
    if (!defined)
        return standard;
    memset(own->bits, 0, sizeof(own->bits));
    return own;
}

/* Gives the image empty tables where it defines some. Where it does not, a sequential
 * Huffman image gets the presets of libjpeg, which it made for an earlier image (else it
 * makes them now, and they are kept). */
static void set_tables(struct jpeg_reader *r, const struct jpeg_head *h)
{
    const struct jpeg_tables *t = &r->tables;
    const bool preset = !jpeg_head_progressive(h) && !jpeg_head_arithmetic(h);
    for (int i = 0; i < NUM_QUANT_TBLS; i++) {
        const bool defined = (h->quant | h->late_quant) >> i & 1;
        memset(t->quant[i]->quantval, 0, sizeof(t->quant[i]->quantval));
        r->cinfo.quant_tbl_ptrs[i] = defined ? t->quant[i] : NULL;
    }
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        r->cinfo.dc_huff_tbl_ptrs[i] = huffman_table(t->dc[i], preset ? t->standard_dc[i] : NULL,
                                                     (h->dc | h->late_dc) >> i & 1);
        r->cinfo.ac_huff_tbl_ptrs[i] = huffman_table(t->ac[i], preset ? t->standard_ac[i] : NULL,
                                                     (h->ac | h->late_ac) >> i & 1);
    }
}

static void keep_presets(struct jpeg_reader *r)
{
    struct jpeg_tables *t = &r->tables;
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        if (t->standard_dc[i] == NULL && r->cinfo.dc_huff_tbl_ptrs[i] != t->dc[i])
            t->standard_dc[i] = r->cinfo.dc_huff_tbl_ptrs[i];
        if (t->standard_ac[i] == NULL && r->cinfo.ac_huff_tbl_ptrs[i] != t->ac[i])
            t->standard_ac[i] = r->cinfo.ac_huff_tbl_ptrs[i];
    }
}

void jpeg_reader_protect_tables(struct jpeg_reader *r)
{
    keep_presets(r);
    memcpy(r->cinfo.dc_huff_tbl_ptrs, r->tables.dc, sizeof(r->tables.dc));
    memcpy(r->cinfo.ac_huff_tbl_ptrs, r->tables.ac, sizeof(r->tables.ac));
    memcpy(r->cinfo.quant_tbl_ptrs, r->tables.quant, sizeof(r->tables.quant));
}

/* libjpeg sets these when it reads them. An earlier error must not show the size or the coding of
 * the image before. */
static void forget_image(struct jpeg_decompress_struct *cinfo)
{
    cinfo->image_width = cinfo->image_height = 0;
    cinfo->output_width = cinfo->output_height = cinfo->output_scanline = 0;
    cinfo->input_scan_number = cinfo->output_scan_number = 0;
    cinfo->progressive_mode = cinfo->arith_code = FALSE;
}

void jpeg_reader_begin(struct jpeg_reader *r, struct bytes image, const struct jpeg_head *head)
{
    forget_image(&r->cinfo);
    set_tables(r, head);
    r->image = image;
    r->source.next_input_byte = image.p;
    r->source.bytes_in_buffer = head->usable;
    r->many_scans = head->many_scans;
    r->cinfo.progress = r->many_scans || r->stop != NULL ? &r->progress : NULL;
    r->ended = r->truncated = r->too_many_scans = false;
    r->warnings = 0;
}

static enum imrec_status status_of(int code)
{
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return IMREC_ERR_NO_MEMORY;
    case JERR_ARITH_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        return IMREC_ERR_UNSUPPORTED;
    default:
        return IMREC_ERR_CORRUPT;
    }
}

/* Of many scans none is a row of pixels before all have been read. */
static enum imrec_status explain_end(const struct jpeg_reader *r, struct imrec_error *err)
{
    const struct jpeg_decompress_struct *cinfo = &r->cinfo;
    const size_t n = r->image.n;
    if (cinfo->output_height == 0 || cinfo->output_scanline == 0)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, n,
                              "JPEG: truncated: the data end at byte %zu, in scan %d, before the "
                              "first of %u rows of pixels",
                              n, cinfo->input_scan_number, cinfo->image_height);
    const uint64_t row =
        (uint64_t)cinfo->output_scanline * cinfo->image_height / cinfo->output_height;
    return imrec_error_at(err, IMREC_ERR_CORRUPT, n,
                          "JPEG: truncated: the data end at byte %zu, in row %u of %u of pixels", n,
                          (uint32_t)row, cinfo->image_height);
}

static enum imrec_status explain(struct jpeg_reader *r, struct imrec_error *err)
{
    char text[JMSG_LENGTH_MAX];
    const size_t n = r->image.n;
    const size_t at = r->ended ? n : (size_t)(r->source.next_input_byte - r->image.p);
    IMREC_TRY(stop_check(r->stop, err));
    if (r->truncated)
        return explain_end(r, err);
    if (r->too_many_scans)
        return imrec_error_at(err, IMREC_ERR_LIMIT, at,
                              "JPEG: more than %u scans (the limit) at byte %zu of %zu",
                              r->max_scans, at, n);
    r->errors.format_message((j_common_ptr)&r->cinfo, text);
    return imrec_error_at(err, status_of(r->errors.msg_code), at, "JPEG: %s (byte %zu of %zu)",
                          text, at, n);
}

/* The one place that libjpeg's errors come back to. */
static bool
attempt(struct jpeg_reader *r, void (*body)(struct jpeg_reader *r, void *job), void *job)
{
    if (setjmp(r->escape) != 0)
        return false;
    body(r, job);
    return true;
}

enum imrec_status jpeg_reader_run(struct jpeg_reader *r,
                                  void (*body)(struct jpeg_reader *r, void *job), void *job,
                                  struct imrec_error *err)
{
    const enum imrec_status st = attempt(r, body, job) ? IMREC_OK : explain(r, err);
    if (r->cinfo.mem != NULL) { /* it was created */
        keep_presets(r);
        jpeg_abort_decompress(&r->cinfo);
    }
    return st;
}
