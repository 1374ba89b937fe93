/* codec/jpeg_writer.c - libjpeg codes with the standard tables, which it does fast, and
 * jpeg_optimize() exchanges them; libjpeg's own optimization is there for what that declines. The
 * output buffer is used again. */
#include "codec/jpeg_writer.h"
#include "base/alloc.h"
#include "base/error.h"
#include "codec/jpeg/recode/jpeg_tables.h"
#include "codec/jpeg_decode.h"
#include "codec/jpeg_errors.h"

#include <jerror.h>

enum {
    FIRST_BYTES = 64 << 10,
    KEPT_BYTES = 4 << 20, /* of what was on the way to the result, between images */
};

static void give_up(j_common_ptr cinfo)
{
    longjmp(((struct jpeg_writer *)cinfo->client_data)->escape, 1);
}

static void ignore_message(j_common_ptr cinfo, int level)
{
    (void)cinfo, (void)level;
}

/* Whatever room the buffer has: what becomes of an image does not depend on those before. */
static void end_if(struct jpeg_writer *w, bool more)
{
    if (more)
        ERREXIT(&w->cinfo, JERR_BUFFER_SIZE);
}

/* Twice the room; what has been written stays. */
static void grow(struct jpeg_writer *w)
{
    end_if(w, w->out->cap > w->most);
    const size_t cap = w->out->cap > 0 ? 2 * w->out->cap : FIRST_BYTES;
    uint8_t *p = imrec_realloc(w->out->p, cap, 1);
    if (p == NULL) {
        w->no_memory = true;
        give_up((j_common_ptr)&w->cinfo);
    }
    w->destination.next_output_byte = p + w->out->n;
    w->destination.free_in_buffer = cap - w->out->n;
    w->out->p = p;
    w->out->cap = cap;
}

static void begin_output(j_compress_ptr cinfo)
{
    struct jpeg_writer *w = cinfo->client_data;
    w->out->n = 0;
    if (w->out->cap == 0)
        grow(w);
    w->destination.next_output_byte = w->out->p;
    w->destination.free_in_buffer = w->out->cap;
}

static boolean buffer_is_full(j_compress_ptr cinfo)
{
    struct jpeg_writer *w = cinfo->client_data;
    w->out->n = w->out->cap;
    grow(w);
    return TRUE;
}

static void end_output(j_compress_ptr cinfo)
{
    struct jpeg_writer *w = cinfo->client_data;
    w->out->n = w->out->cap - w->destination.free_in_buffer;
    end_if(w, w->out->n > w->most);
}

/* Called for every few rows, also of the pass that finds libjpeg's own optimal tables. */
static void look_up(j_common_ptr cinfo)
{
    if (stop_asked(((struct jpeg_writer *)cinfo->client_data)->stop))
        give_up(cinfo);
}

static void create(struct jpeg_writer *w)
{
    jpeg_create_compress(&w->cinfo); /* keeps err and client_data */
    w->progress.progress_monitor = look_up;
    w->cinfo.progress = &w->progress;
    w->cinfo.dest = &w->destination;
}

void jpeg_writer_abort(struct jpeg_writer *w)
{
    if (w->cinfo.mem != NULL)
        jpeg_abort_compress(&w->cinfo);
}

static enum imrec_status
run(struct jpeg_writer *w, void (*body)(struct jpeg_writer *), struct imrec_error *err)
{
    char text[JMSG_LENGTH_MAX];
    if (setjmp(w->escape) == 0) {
        body(w);
        return IMREC_OK;
    }
    jpeg_writer_abort(w);
    if (w->no_memory || w->errors.msg_code == JERR_OUT_OF_MEMORY)
        return IMREC_NO_MEMORY(err, "no memory to encode a JPEG");
    IMREC_TRY(stop_check(w->stop, err));
    w->errors.format_message((j_common_ptr)&w->cinfo, text);
    return IMREC_REFUSE(err, "JPEG: %s", text);
}

static enum imrec_status writer_new(struct jpeg_writer **out, struct imrec_error *err)
{
    struct jpeg_writer *w = imrec_zalloc(1, sizeof(*w));
    if (w == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a JPEG encoder");
    w->cinfo.err = jpeg_errors_go_to(&w->errors, give_up, ignore_message);
    w->cinfo.client_data = w;
    w->destination.init_destination = begin_output;
    w->destination.empty_output_buffer = buffer_is_full;
    w->destination.term_destination = end_output;
    enum imrec_status st = run(w, create, err);
    if (st == IMREC_OK)
        st = jpeg_optimizer_new(&w->optimizer, err);
    if (st != IMREC_OK)
        jpeg_writer_free(w);
    else
        *out = w;
    return st;
}

void jpeg_writer_free(struct jpeg_writer *w)
{
    if (w == NULL)
        return;
    jpeg_destroy_compress(&w->cinfo);
    jpeg_optimizer_free(w->optimizer);
    buf_free(&w->plain);
    imrec_free(w);
}

void jpeg_writer_drop(struct jpeg_writer *w)
{
    if (w == NULL)
        return;
    jpeg_optimizer_drop(w->optimizer);
    buf_free(&w->plain);
}

size_t jpeg_writer_memory(const struct jpeg_writer *w)
{
    return w == NULL ? 0 : sizeof(*w) + w->plain.cap + jpeg_optimizer_memory(w->optimizer);
}

static enum imrec_status
write_to(struct jpeg_writer *w, struct buf *out, bool optimize, struct imrec_error *err)
{
    w->out = out;
    w->optimize = optimize;
    w->no_memory = false;
    return run(w, w->body, err);
}

/* One large image is no reason to hold its memory for ever, nor while its bytes are copied. */
static void trim(struct jpeg_writer *w)
{
    if (jpeg_writer_memory(w) > KEPT_BYTES)
        jpeg_writer_drop(w);
}

enum imrec_status jpeg_writer_of(struct codec *c, struct jpeg_writer **out, struct imrec_error *err)
{
    if (c->writer == NULL)
        IMREC_TRY(writer_new(&c->writer, err));
    *out = c->writer;
    c->writer->stop = c->stop;
    return IMREC_OK;
}

enum imrec_status jpeg_writer_run(struct jpeg_writer *w, struct codec *c, struct imrec_error *err)
{
    bool done;
    IMREC_TRY(write_to(w, &w->plain, false, err));
    jpeg_optimizer_share(w->optimizer, c->tables != NULL ? c->tables->spec : NULL, w->most);
    const enum imrec_status st = jpeg_optimize(w->optimizer, (struct bytes){w->plain.p, w->plain.n},
                                               c->stop, &c->encoded, &done, err);
    trim(w);
    IMREC_TRY(st);
    if (!done)
        IMREC_TRY(write_to(w, &c->encoded, true, err));
    return stop_check(c->stop, err);
}
