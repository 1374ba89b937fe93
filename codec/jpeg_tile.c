/*
 * codec/jpeg_tile.c - a JPEG's coefficients with restart markers at the end of each row of MCUs, in
 * one sequential scan with optimal tables: the same pixels for every decoder, of which a region is
 * decoded faster.
 *
 * Markers of applications and comments stay, and so does what follows the image.
 */
#include "base/error.h"
#include "codec/jpeg_reader.h"
#include "codec/jpeg_writer.h"

#include <string.h>

enum { MOST_MARKER = 0xFFFF, APPLICATIONS = 16 };

struct job {
    struct codec *c;
    struct jpeg_writer *w;
    bool is_whole; /* read without a warning */
    enum imrec_status st;
    struct imrec_error *err;
    struct bytes after; /* the image's end */
};

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
    to->restart_in_rows = 1;
    jpeg_write_coefficients(to, w->coefficients);
    for (const struct jpeg_marker_struct *m = w->from->marker_list; m != NULL; m = m->next)
        if (!is_written(to, m))
            jpeg_write_marker(to, m->marker, m->data, m->data_length);
    jpeg_finish_compress(to);
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
    j->is_whole = r->warnings == 0;
    if (!j->is_whole)
        return;
    j->after = (struct bytes){r->source.next_input_byte, r->source.bytes_in_buffer};
    j->w->body = write_coefficients;
    j->st = jpeg_writer_run(j->w, j->c, j->err);
}

/* A reader of its own: it keeps no markers of other images, and no tables. */
static enum imrec_status
transcode(struct codec *c, struct jpeg_writer *w, bool *done, struct imrec_error *err)
{
    struct jpeg_reader *r;
    struct job j = {.c = c, .w = w, .err = err};
    struct imrec_error why;
    IMREC_TRY(jpeg_reader_new(&r, err));
    r->max_scans = c->limits.max_scans;
    r->stop = c->stop;
    jpeg_reader_begin(r, c->image, &c->head);
    enum imrec_status st = jpeg_reader_run(r, read_coefficients, &j, &why);
    if (st != IMREC_OK)
        jpeg_writer_abort(w);
    jpeg_reader_free(r);
    *done = st == IMREC_OK && j.is_whole && j.st == IMREC_OK;
    if (st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_CANCELLED) {
        if (err != NULL)
            *err = why;
        return st;
    }
    c->encoded.max = SIZE_MAX;
    if (*done)
        st = buf_append(&c->encoded, j.after.p, j.after.n, err);
    return *done ? st : j.st; /* of an image that cannot be read nothing is said here */
}

enum imrec_status
codec_tile_jpeg(struct codec *c, bool *done, struct bytes *out, struct imrec_error *err)
{
    struct jpeg_writer *w;
    *done = false;
    *out = c->image;
    if (c->format != &codec_jpeg || jpeg_head_arithmetic(&c->head))
        return IMREC_OK;
    IMREC_TRY(jpeg_writer_of(c, &w, err));
    IMREC_TRY(transcode(c, w, done, err));
    if (*done)
        *out = (struct bytes){c->encoded.p, c->encoded.n};
    return IMREC_OK;
}
