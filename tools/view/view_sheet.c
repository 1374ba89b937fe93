/* tools/view/view_sheet.c - the figures of a contact sheet, and records as they are packed. */
#include "tools/view/html.h"
#include "tools/view/imrec_view.h"
#include "tools/view/thumb.h"

#include <string.h>

enum { LARGE_BYTES = 200 * 1024 };

/* ---- options ---------------------------------------------------------------------------- */

bool sheet_is_detection(const struct imrec_iter_options *o)
{
    return strcmp(o->aug_seq, "det_aug_default") == 0;
}

bool sheet_has_boxes(const struct imrec_iter_options *o)
{
    return o->boxes || sheet_is_detection(o);
}

void sheet_unnormalized(struct imrec_iter_options *o)
{
    o->mean_r = o->mean_g = o->mean_b = o->mean_a = 0;
    o->std_r = o->std_g = o->std_b = o->std_a = o->scale = 1;
    o->mean_img = "";
}

/* ---- figures ---------------------------------------------------------------------------- */

void sheet_image(struct sheet *s, const char *mime, const void *bytes, size_t n)
{
    fputs("<figure><img loading=\"lazy\" alt=\"\" src=\"", s->out);
    html_data_uri(s->out, mime, bytes, n);
    fputs("\">", s->out);
    s->shown++;
}

void sheet_no_image(struct sheet *s, const char *why)
{
    fputs("<figure><div class=\"bad\">", s->out);
    html_text(s->out, why);
    fputs("</div>", s->out);
    s->shown++;
    s->failed++;
}

void sheet_label(struct sheet *s, const float *labels, uint32_t n)
{
    const char *name = n > 0 ? imrec_classes_name(s->classes, labels[0]) : NULL;
    fputs("<figcaption><b>", s->out);
    if (name != NULL)
        html_text(s->out, name);
    for (uint32_t i = 0; i < n && i < 8; i++)
        fprintf(s->out, "%s%.9g", i > 0 || name != NULL ? " " : "label ", (double)labels[i]);
    fputs(n > 8 ? " ...</b>" : "</b>", s->out);
}

void sheet_end_figure(struct sheet *s)
{
    fputs("</figcaption></figure>\n", s->out);
}

/* ---- images as packed ----------------------------------------------------------------- */

static void show_record(struct sheet *s, const struct imrec_record *r)
{
    struct imrec_image_info info;
    struct imrec_error err;
    const void *bytes;
    size_t n;
    const bool known =
        r->is_image && imrec_image_info(r->image, r->image_size, &info, NULL) == IMREC_OK;
    if (known && thumb_mime(&info) != NULL && r->image_size <= LARGE_BYTES)
        sheet_image(s, thumb_mime(&info), r->image, r->image_size);
    else if (!r->is_image)
        sheet_no_image(s, "no image record");
    else if (thumb_make(s->decoder, r, THUMB_PX, &bytes, &n, &err) == IMREC_OK)
        sheet_image(s, "image/jpeg", bytes, n);
    else
        sheet_no_image(s, err.message);
    sheet_label(s, r->labels, r->is_image && !s->unlabelled ? r->label_count : 0);
    fprintf(s->out, "id %" PRIu64 ", at %" PRIu64 "<br>", r->is_image ? r->id : 0, r->offset);
    if (known)
        fprintf(s->out, "%" PRIu32 "x%" PRIu32 " %s %s, %zu bytes", info.width, info.height,
                info.format, info.kind, r->image_size);
    sheet_end_figure(s);
}

/* The first `most` records of a partition. */
enum imrec_status sheet_partition(struct sheet *s, const char *uri, uint64_t part, uint64_t parts,
                                  uint64_t most, struct imrec_error *err)
{
    struct imrec_reader *reader;
    struct imrec_record r;
    enum imrec_status st = imrec_reader_open_files_with(uri, part, parts, &s->reader, &reader, err);
    for (uint64_t n = 0; st == IMREC_OK && n < most;) {
        st = imrec_reader_next(reader, &r, err);
        if (st == IMREC_OK && r.metadata == IMREC_NO_METADATA) {
            show_record(s, &r);
            n++;
        } else if (st == IMREC_ERR_DATA) {
            (void)cli_fail(s->name, err);
            s->failed++;
            st = IMREC_OK;
        }
    }
    imrec_reader_close(reader);
    return st == IMREC_END ? IMREC_OK : st;
}
