/* tools/view/view_sheet.c - the figures of a contact sheet, and records as they are packed. */
#include "tools/view/html.h"
#include "tools/view/imrec_view.h"

#include <string.h>

enum { LARGE_BYTES = 200 * 1024, THUMB_PX = 256 };

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

/* Can a browser show the bytes as they are? Its type, or NULL. */
static const char *mime_of(const struct imrec_image_info *i)
{
    static const char *const types[][2] = {{"jpeg", "image/jpeg"},
                                           {"png", "image/png"},
                                           {"gif", "image/gif"},
                                           {"webp", "image/webp"},
                                           {"bmp", "image/bmp"}};
    if (i->gzip || i->cmyk || strcmp(i->kind, "arithmetic") == 0)
        return NULL;
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        if (strcmp(i->format, types[t][0]) == 0)
            return types[t][1];
    return NULL;
}

/* Decodes, shrinks to a thumbnail and encodes again. */
static enum imrec_status make_thumb(struct sheet *s, const struct imrec_record *r,
                                    const void **bytes, size_t *n, struct imrec_error *err)
{
    struct imrec_image image;
    enum imrec_status st = imrec_decoder_decode(s->decoder, r->image, r->image_size, 3, true,
                                                INT64_C(178956970), &image, err);
    if (st != IMREC_OK)
        return st;
    const uint32_t side = image.width < image.height ? image.width : image.height;
    if (side <= THUMB_PX)
        return imrec_decoder_encode_jpeg(s->decoder, &image, 90, bytes, n, err);
    struct imrec_image thumb = {.width = (uint32_t)((uint64_t)image.width * THUMB_PX / side),
                                .height = (uint32_t)((uint64_t)image.height * THUMB_PX / side),
                                .channels = 3};
    thumb.stride = (size_t)thumb.width * 3;
    thumb.pixels = cli_realloc(NULL, thumb.height, thumb.stride);
    st = imrec_image_resize(&image, &thumb, 3, err);
    if (st == IMREC_OK)
        st = imrec_decoder_encode_jpeg(s->decoder, &thumb, 88, bytes, n, err);
    cli_free(thumb.pixels);
    return st;
}

static void show_record(struct sheet *s, const struct imrec_record *r)
{
    struct imrec_image_info info;
    struct imrec_error err;
    const void *bytes;
    size_t n;
    const bool known =
        r->is_image && imrec_image_info(r->image, r->image_size, &info, NULL) == IMREC_OK;
    if (known && mime_of(&info) != NULL && r->image_size <= LARGE_BYTES)
        sheet_image(s, mime_of(&info), r->image, r->image_size);
    else if (!r->is_image)
        sheet_no_image(s, "no image record");
    else if (make_thumb(s, r, &bytes, &n, &err) == IMREC_OK)
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
    enum imrec_status st = imrec_reader_open_files(uri, part, parts, &reader, err);
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
