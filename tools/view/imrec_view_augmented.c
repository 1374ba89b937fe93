/* tools/view/imrec_view_augmented.c - a contact sheet of what the iterator delivers.
 *
 * The images are asked for as bytes, height x width x channels: geometry, order and draws are
 * those of the caller's options, which only normalizing would hide. */
#include "tools/view/imrec_view.h"

#include <string.h>

/* Grey and RGB are encoded as they are, alpha is dropped. `rgb` has room for an image. */
static struct imrec_image
image_of(const struct imrec_shape *shape, const uint8_t *slot, uint8_t *rgb)
{
    struct imrec_image image = {.width = shape->width, .height = shape->height};
    const size_t pixels = (size_t)shape->width * shape->height;
    image.channels = shape->channels == 4 ? 3 : shape->channels;
    image.stride = (size_t)shape->width * image.channels;
    image.pixels = rgb;
    for (size_t i = 0; i < pixels; i++)
        memcpy(rgb + i * image.channels, slot + i * shape->channels, image.channels);
    return image;
}

void sheet_delivered(struct sheet *s, const struct imrec_iter_options *o,
                     const struct imrec_batch *b, uint32_t slot, const struct imrec_image *image)
{
    struct imrec_error err;
    const void *jpeg;
    size_t n;
    sheet_marks(image, o, b, slot);
    if (b->status[slot] != IMREC_OK)
        sheet_no_image(s, "failed");
    else if (imrec_decoder_encode_jpeg(s->decoder, image, s->quality, &jpeg, &n, &err) != IMREC_OK)
        sheet_no_image(s, err.message);
    else
        sheet_image(s, "image/jpeg", jpeg, n);
    sheet_say_marks(s, o, b, slot);
    fprintf(s->out, "id %" PRIu64 ", sweep %" PRIu64, b->ids[slot], b->sweep);
    if (b->repeats * b->view_count > 1)
        fprintf(s->out, ", view %" PRIu32, s->view);
    if (b->draws != NULL && b->status[slot] == IMREC_OK)
        sheet_draw(s->out, &b->draws[slot]);
    sheet_end_figure(s);
}

/* One of the slot's tensors. */
static void show_view(struct sheet *s, const struct imrec_iter_options *o,
                      const struct imrec_batch *b, uint32_t slot, uint32_t tensor, uint8_t *rgb)
{
    const struct imrec_view *v = &b->views[tensor];
    const size_t bytes = (size_t)v->shape.channels * v->shape.height * v->shape.width;
    const struct imrec_image image =
        image_of(&v->shape, (const uint8_t *)v->data + slot * bytes, rgb);
    struct imrec_batch of_view = *b; /* the sheet looks at the draws of the first tensor */
    of_view.draws = v->draws;
    of_view.masks = v->masks;
    s->view = slot % b->repeats * b->view_count + tensor;
    sheet_delivered(s, o, &of_view, slot, &image);
}

static void
show_batch(struct sheet *s, const struct imrec_iter_options *o, const struct imrec_batch *b)
{
    size_t most = 0; /* px of the largest tensor */
    for (uint32_t t = 0; t < b->view_count; t++) {
        const size_t pixels = (size_t)b->views[t].shape.height * b->views[t].shape.width;
        most = pixels > most ? pixels : most;
    }
    uint8_t *rgb = cli_realloc(NULL, most, 3);
    for (uint32_t i = 0; i < b->count; i++)
        for (uint32_t t = 0; t < b->view_count && s->shown < s->wanted; t++)
            show_view(s, o, b, i, t, rgb);
    cli_free(rgb);
}

static int show_all(struct sheet *s, const char *name, struct imrec_iter *it,
                    const struct imrec_iter_options *o)
{
    struct imrec_error err;
    struct imrec_batch b;
    enum imrec_status st = IMREC_OK;
    while (s->shown < s->wanted) {
        st = imrec_iter_next(it, &b, &err);
        if (st == IMREC_END)
            break; /* the shards hold no more */
        if (st == IMREC_ERR_DATA)
            (void)cli_fail(name, &err);
        else if (st != IMREC_OK)
            break;
        show_batch(s, o, &b);
    }
    return st == IMREC_OK || st == IMREC_END || st == IMREC_ERR_DATA ? EXIT_OK
                                                                     : cli_fail(name, &err);
}

int sheet_augmented(struct sheet *s, const char *name, const char *uri, char *const *pairs, int n)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    if (!command_iter_options(name, uri, (int64_t)(s->wanted < 64 ? s->wanted : 64), &s->reader,
                              pairs, n, &o))
        return EXIT_USAGE;
    if (o.batch_size % o.num_views != 0) /* it is not what is looked at */
        o.batch_size += o.num_views - o.batch_size % o.num_views;
    sheet_unnormalized(&o);
    o.mixup = 0;
    if (!sheet_is_detection(&o))
        o.max_random_contrast = o.max_random_illumination = 0; /* of values, too */
    o.dtype = IMREC_UINT8;
    o.layout = IMREC_NHWC;
    o.record_draws = true;
    o.last_batch = IMREC_LAST_PARTIAL;
    o.round_batch = -1;
    int status = command_iter_open(name, &o, &it);
    if (status != EXIT_OK)
        return status;
    status = show_all(s, name, it, &o);
    imrec_iter_close(it);
    return status;
}
