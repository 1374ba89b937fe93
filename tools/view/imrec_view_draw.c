/* tools/view/imrec_view_draw.c - what was drawn for a sample, in words beneath its image. */
#include "tools/view/imrec_view.h"

static void show_ops(FILE *out, const struct imrec_draw *d)
{
    static const char *const names[IMREC_ALL_OPS] = {
        "identity",     "shear x",  "shear y",  "translate x", "translate y", "rotate",
        "brightness",   "colour",   "contrast", "sharpness",   "posterize",   "solarize",
        "autocontrast", "equalize", "invert",   "solarize add"};
    for (uint32_t i = 0; i < d->op_count && i < 4; i++)
        if (d->op[i] < IMREC_ALL_OPS)
            fprintf(out, "<br>%s %.3g", names[d->op[i]], (double)d->op_magnitude[i]);
}

static void show_values(FILE *out, const struct imrec_draw *d)
{
    if (d->value_contrast != 1)
        fprintf(out, "<br>times %.3g", (double)d->value_contrast);
    if (d->value_illumination != 0)
        fprintf(out, "<br>plus %.3g", (double)d->value_illumination);
}

/* What happens in the slot, after all else. */
static void show_slot_steps(FILE *out, const struct imrec_draw *d)
{
    if (d->erase_width != 0)
        fprintf(out, "<br>erased %" PRIu32 "x%" PRIu32 " at %" PRIu32 ", %" PRIu32, d->erase_width,
                d->erase_height, d->erase_x, d->erase_y);
    if (d->cut_width != 0)
        fprintf(out, "<br>slot %" PRIu32 "'s %" PRIu32 "x%" PRIu32 " at %" PRIu32 ", %" PRIu32,
                d->mix_partner, d->cut_width, d->cut_height, d->cut_x, d->cut_y);
    else if (d->mix_share < 1)
        fprintf(out, "<br>%.3g of it, the rest slot %" PRIu32 "'s", (double)d->mix_share,
                d->mix_partner);
}

/* What was drawn, as far as it is not neutral. */
void sheet_draw(FILE *out, const struct imrec_draw *d)
{
    fprintf(out,
            "<br>%" PRIu32 "x%" PRIu32 " at %" PRIu32 ", %" PRIu32 " of %" PRIu32 "x%" PRIu32 "%s",
            d->crop_width, d->crop_height, d->x, d->y, d->width, d->height,
            d->mirror ? ", mirrored" : "");
    if (d->flip)
        fputs(", flipped", out);
    if (d->warped && d->fit_width == 0)
        fprintf(out, "<br>turned %d&deg;, shear %.3g, scale %.3g, aspect %.3g", (int)d->angle,
                (double)d->shear, (double)d->scale, (double)d->aspect);
    show_ops(out, d);
    if (d->fit_width != 0) /* with boxes */
        fprintf(out, "<br>canvas from %" PRIu32 ", %" PRIu32 "%s", d->pad_x, d->pad_y,
                d->crop_sampler < 0 ? "" : "; cropped by a sampler");
    if (d->pasted != 0)
        fprintf(out, "<br>%" PRIu32 " objects pasted", d->pasted);
    if (d->mosaic)
        fprintf(out, "<br>mosaic that meets at %" PRIu32 ", %" PRIu32 ", scale %.3g", d->mosaic_x,
                d->mosaic_y, (double)d->mosaic_scale);
    else if (d->warped && d->fit_width != 0)
        fprintf(out, "<br>moved by %.3g %.3g %.3g, %.3g %.3g %.3g, tilt %.2g %.2g",
                (double)d->matrix[0], (double)d->matrix[1], (double)d->matrix[2],
                (double)d->matrix[3], (double)d->matrix[4], (double)d->matrix[5],
                (double)d->tilt[0], (double)d->tilt[1]);
    show_values(out, d);
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
    if (d->solarized)
        fputs("<br>solarized", out);
    if (d->blur_sigma > 0)
        fprintf(out, "<br>blurred by %.2g px", (double)d->blur_sigma);
    show_slot_steps(out, d);
}
