/* tools/imrec_view_augmented.c - a contact sheet of what the iterator delivers.
 *
 * The pictures are asked for as bytes, height x width x channels: geometry, order and draws are
 * those of the caller's options, which only normalizing would hide. */
#include "tools/imrec_view.h"

#include <string.h>

/* Grey and RGB are encoded as they are, alpha is left out. `rgb` has room for a picture. */
static struct imrec_image
picture_of(const struct imrec_shape *shape, const uint8_t *slot, uint8_t *rgb)
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

static void show_ops(FILE *out, const struct imrec_draw *d)
{
    static const char *const names[IMREC_OPS] = {
        "identity",  "shear x",    "shear y",      "translate x", "translate y",
        "rotate",    "brightness", "colour",       "contrast",    "sharpness",
        "posterize", "solarize",   "autocontrast", "equalize"};
    for (uint32_t i = 0; i < d->op_count && i < 4; i++)
        if (d->op[i] < IMREC_OPS)
            fprintf(out, "<br>%s %.3g", names[d->op[i]], (double)d->op_magnitude[i]);
}

/* What was drawn, as far as it is not neutral. */
static void show_draw(FILE *out, const struct imrec_draw *d)
{
    fprintf(out, "<br>at %" PRIu32 ", %" PRIu32 " of %" PRIu32 "x%" PRIu32 "%s", d->x, d->y,
            d->width, d->height, d->mirror ? ", mirrored" : "");
    if (d->warped)
        fprintf(out, "<br>turned %d&deg;, shear %.3g, scale %.3g, aspect %.3g", (int)d->angle,
                (double)d->shear, (double)d->scale, (double)d->aspect);
    show_ops(out, d);
    if (d->fit_width != 0) /* with boxes */
        fprintf(out, "<br>canvas from %" PRIu32 ", %" PRIu32 "; crop %" PRIu32 "x%" PRIu32 "%s",
                d->pad_x, d->pad_y, d->crop_width, d->crop_height,
                d->crop_sampler < 0 ? "" : " by a sampler");
    if (d->value_contrast != 1)
        fprintf(out, "<br>times %.3g", (double)d->value_contrast);
    if (d->brightness != 1 || d->contrast != 1 || d->saturation != 1)
        fprintf(out, "<br>brightness %.3g, contrast %.3g, saturation %.3g", (double)d->brightness,
                (double)d->contrast, (double)d->saturation);
    if (d->shift_h != 0 || d->shift_l != 0 || d->shift_s != 0)
        fprintf(out, "<br>H %+d, L %+d, S %+d", (int)d->shift_h, (int)d->shift_l, (int)d->shift_s);
    if (d->light[0] != 0 || d->light[1] != 0 || d->light[2] != 0)
        fprintf(out, "<br>light %+.1f, %+.1f, %+.1f", (double)d->light[0], (double)d->light[1],
                (double)d->light[2]);
    if (d->hue != 0)
        fprintf(out, "<br>hue %+.3g", (double)d->hue);
    if (d->grey)
        fputs("<br>grey", out);
    if (d->blur_sigma > 0)
        fprintf(out, "<br>blurred by %.2g px", (double)d->blur_sigma);
}

static bool has_boxes(const struct imrec_iter_options *o)
{
    return strcmp(o->aug_seq, "det_aug_default") == 0;
}

static void show_slot(struct sheet *s, const struct imrec_iter_options *o,
                      const struct imrec_batch *b, uint32_t slot, uint8_t *rgb)
{
    const size_t bytes =
        (size_t)o->data_shape.channels * o->data_shape.height * o->data_shape.width;
    const struct imrec_image image =
        picture_of(&o->data_shape, (const uint8_t *)b->data + slot * bytes, rgb);
    struct imrec_error err;
    const float *label = b->labels + (size_t)slot * b->label_width;
    const bool boxes = has_boxes(o);
    const void *jpeg;
    size_t n;
    if (boxes)
        sheet_frames(&image, label);
    if (b->status[slot] != IMREC_OK)
        sheet_no_picture(s, "failed");
    else if (imrec_decoder_encode_jpeg(s->decoder, &image, 92, &jpeg, &n, &err) != IMREC_OK)
        sheet_no_picture(s, err.message);
    else
        sheet_picture(s, "image/jpeg", jpeg, n);
    if (boxes)
        sheet_boxes(s, label);
    else
        sheet_label(s, label, b->label_width);
    fprintf(s->out, "id %" PRIu64 ", sweep %" PRIu64, b->ids[slot], b->sweep);
    if (b->draws != NULL && b->status[slot] == IMREC_OK)
        show_draw(s->out, &b->draws[slot]);
    sheet_end_figure(s);
}

static int show_all(struct sheet *s, const char *name, struct imrec_iter *it,
                    const struct imrec_iter_options *o)
{
    struct imrec_error err;
    struct imrec_batch b;
    uint8_t *rgb = cli_realloc(NULL, (size_t)o->data_shape.height * o->data_shape.width, 3);
    enum imrec_status st = IMREC_OK;
    while (s->shown < s->wanted) {
        st = imrec_iter_next(it, &b, &err);
        if (st == IMREC_END)
            break; /* the shards hold no more */
        if (st == IMREC_ERR_DATA)
            (void)cli_fail(name, &err);
        else if (st != IMREC_OK)
            break;
        for (uint32_t i = 0; i < b.count && s->shown < s->wanted; i++)
            show_slot(s, o, &b, i, rgb);
    }
    cli_free(rgb);
    return st == IMREC_OK || st == IMREC_END || st == IMREC_ERR_DATA ? EXIT_OK
                                                                     : cli_fail(name, &err);
}

int sheet_augmented(struct sheet *s, const char *name, const char *uri, char *const *pairs, int n)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    imrec_iter_options_init(&o);
    o.path_imgrec = uri;
    o.data_shape = (struct imrec_shape){3, 224, 224};
    o.batch_size = (int64_t)(s->wanted < 64 ? s->wanted : 64);
    if (!command_iter_options(name, pairs, n, &o))
        return EXIT_USAGE;
    o.mean_r = o.mean_g = o.mean_b = o.mean_a = 0;
    o.std_r = o.std_g = o.std_b = o.std_a = o.scale = 1;
    o.mean_img = "";
    o.mixup = 0;
    if (!has_boxes(&o))
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
