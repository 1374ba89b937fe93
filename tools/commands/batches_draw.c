/* tools/commands/batches_draw.c */
#include "tools/commands/batches_draw.h"

#include "cli/json.h"

#include <stddef.h>

/* Every field: its name, type, place and number of values. */
static const struct field {
    const char *name;
    enum field_type { U8, U32, I32, I64, FLAG, REAL } type;
    size_t offset, count;
} fields[] = {
#define AT(type, name) MANY(type, name, 0)
#define MANY(type, name, n)                                                                        \
    {                                                                                              \
#name, type, offsetof(struct imrec_draw, name), n                                          \
    }
    /* clang-format off */
    AT(U32, x), AT(U32, y), AT(U32, width), AT(U32, height), AT(FLAG, mirror), AT(FLAG, warped),
    AT(U8, resize_method), AT(U8, warp_method), AT(U8, crop_method), MANY(U8, light_order, 3),
    AT(U32, crop_width), AT(U32, crop_height), AT(I32, angle), AT(REAL, shear), AT(REAL, scale),
    AT(REAL, aspect), MANY(REAL, matrix, 6), AT(U32, canvas_width), AT(U32, canvas_height),
    AT(REAL, brightness), AT(REAL, contrast), AT(REAL, saturation), AT(I32, shift_h),
    AT(I32, shift_l), AT(I32, shift_s), MANY(REAL, light, 3), AT(REAL, value_contrast),
    AT(REAL, value_illumination), AT(U8, op_count), MANY(U8, op, 4), MANY(REAL, op_magnitude, 4),
    AT(REAL, hue), AT(FLAG, grey), AT(REAL, blur_sigma), AT(U32, erase_x), AT(U32, erase_y),
    AT(U32, erase_width), AT(U32, erase_height), AT(REAL, mix_share), AT(U32, mix_partner),
    AT(U32, cut_x), AT(U32, cut_y), AT(U32, cut_width), AT(U32, cut_height), AT(U32, pad_x),
    AT(U32, pad_y), AT(U32, fit_width), AT(U32, fit_height), AT(I32, crop_sampler),
    AT(U32, crop_trials), AT(U32, boxes), AT(I64, sound_begin), AT(REAL, sound_gain),
    /* clang-format on */
};
/* A new field after this one belongs in the table, or among the younger ones below. */
_Static_assert(offsetof(struct imrec_draw, pasted) + 4 >= sizeof(struct imrec_draw),
               "a draw has more fields");
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static void put_value(struct json *j, const char *key, enum field_type type, const void *at)
{
    if (type == U8 || type == U32)
        json_uint(j, key, type == U8 ? *(const uint8_t *)at : *(const uint32_t *)at);
    else if (type == I32 || type == I64)
        json_int(j, key, type == I32 ? *(const int32_t *)at : *(const int64_t *)at);
    else if (type == FLAG)
        json_bool(j, key, *(const bool *)at);
    else
        json_float(j, key, *(const float *)at);
}

static size_t bytes_of(enum field_type type)
{
    return type == U8 || type == FLAG ? 1 : type == I64 ? 8 : 4;
}

/* Of these those that are not neutral. */
static void put_younger(struct json *j, const struct imrec_draw *d)
{
    if (d->flip)
        json_bool(j, "flip", true);
    if (d->solarized)
        json_bool(j, "solarized", true);
    if (d->tilt[0] != 0 || d->tilt[1] != 0) {
        json_array(j, "tilt");
        json_float(j, NULL, d->tilt[0]);
        json_float(j, NULL, d->tilt[1]);
        json_end(j);
    }
    if (d->pasted != 0)
        json_uint(j, "pasted", d->pasted);
    if (!d->mosaic)
        return;
    json_bool(j, "mosaic", true);
    json_uint(j, "mosaic_x", d->mosaic_x);
    json_uint(j, "mosaic_y", d->mosaic_y);
    json_float(j, "mosaic_scale", d->mosaic_scale);
}

void batches_draw(FILE *out, const struct imrec_draw *d)
{
    struct json j;
    if (d == NULL) {
        fputs("null\n", out);
        return;
    }
    json_begin_line(&j, out);
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *f = &fields[i];
        const char *at = (const char *)d + f->offset;
        if (f->count == 0) {
            put_value(&j, f->name, f->type, at);
            continue;
        }
        json_array(&j, f->name);
        for (size_t k = 0; k < f->count; k++)
            put_value(&j, NULL, f->type, at + k * bytes_of(f->type));
        json_end(&j);
    }
    put_younger(&j, d);
    json_close(&j);
}
