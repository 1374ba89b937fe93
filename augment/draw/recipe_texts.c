/* augment/draw/recipe_texts.c - parameters that are lists of numbers, read into a recipe. */
#include "augment/draw/recipe_texts.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* "-30,0,30" */
static enum imrec_status read_angles(struct recipe *r, const char *text, struct imrec_error *err)
{
    while (*text != '\0') {
        char *end;
        const long angle = strtol(text, &end, 10);
        if (end == text || (*end != ',' && *end != '\0') || angle < -360 || angle > 360)
            return IMREC_REFUSE(err,
                                "rotate_list must be whole angles from -360 to 360 with commas "
                                "between, not '%.40s'",
                                text);
        if (r->angle_count == RECIPE_ANGLES)
            return IMREC_REFUSE(err, "rotate_list has more than %d angles", RECIPE_ANGLES);
        r->angles[r->angle_count++] = (int32_t)angle;
        text = end + (*end == ',');
    }
    return IMREC_OK;
}

/* "0-1,2-3" */
static enum imrec_status read_pairs(struct recipe *r, const char *text, struct imrec_error *err)
{
    while (*text != '\0') {
        char *dash, *end = NULL;
        const long a = strtol(text, &dash, 10);
        const long b = *dash == '-' && dash != text ? strtol(dash + 1, &end, 10) : -1;
        const bool read = end != NULL && end != dash + 1 && (*end == ',' || *end == '\0');
        if (!read || a < 0 || b < 0 || a >= (long)r->keypoints || b >= (long)r->keypoints ||
            r->pair_count == RECIPE_PAIRS)
            return IMREC_REFUSE(err,
                                "keypoint_pairs must be up to %d pairs such as 1-2,3-4 of "
                                "keypoints from 0 to keypoints - 1 (%d), not '%.40s'",
                                RECIPE_PAIRS, (int)r->keypoints - 1, text);
        r->pairs[r->pair_count][0] = (uint16_t)a;
        r->pairs[r->pair_count++][1] = (uint16_t)b;
        text = end + (*end == ',');
    }
    return IMREC_OK;
}

/* A number that ends at one of `ends`, which moves after it. False: there is none. */
static bool take_real(const char **at, const char *ends, double low, double high, float *out)
{
    const struct param row[] = {{.name = "number", .type = PARAM_REAL, .lo = low, .hi = high}, {0}};
    char piece[40];
    const size_t n = strcspn(*at, ends);
    if (n >= sizeof(piece))
        return false;
    memcpy(piece, *at, n);
    piece[n] = '\0';
    *at += n + ((*at)[n] != '\0');
    return param_set(row, out, row->name, strlen(row->name), piece, NULL) == IMREC_OK;
}

/* "0:5;30:10" */
static enum imrec_status read_steps(struct recipe *r, const char *text, struct imrec_error *err)
{
    const bool timm = r->o->rand_augment_style != IMREC_RAND_AUGMENT_TORCH;
    const char *at = text;
    while (*at != '\0') {
        struct magnitude_step *s = &r->steps[r->step_count], *before = s - (r->step_count != 0);
        if (r->step_count == RECIPE_STEPS)
            return IMREC_REFUSE(err, "rand_augment_magnitude_schedule has more than %d steps",
                                RECIPE_STEPS);
        const size_t n = strspn(at, "0123456789");
        const bool number = n != 0 && n < 10 && at[n] == ':';
        s->since = number ? strtoull(at, NULL, 10) : 0;
        at += number ? n + 1 : 0;
        if (!number || !take_real(&at, ";", 0, timm ? 10 : 30, &s->magnitude) ||
            (*at == '\0' && at[-1] == ';'))
            return IMREC_REFUSE(err,
                                "rand_augment_magnitude_schedule must be SWEEP:VALUE with "
                                "semicolons between, as 0:5;30:9.5, with values from 0 to %d, "
                                "not '%.60s'",
                                timm ? 10 : 30, text);
        if (s != before && s->since <= before->since)
            return IMREC_REFUSE(err,
                                "rand_augment_magnitude_schedule: the sweeps must go up, but %llu "
                                "comes after %llu",
                                (unsigned long long)s->since, (unsigned long long)before->since);
        r->step_count++;
    }
    return IMREC_OK;
}

/* "0" or "0.1,-0.2,1" */
static enum imrec_status
read_erase_value(struct recipe *r, const char *text, struct imrec_error *err)
{
    const uint32_t channels = r->o->data_shape.channels;
    const enum imrec_dtype dtype = r->o->dtype;
    const double low = dtype == IMREC_UINT8 ? 0 : dtype == IMREC_INT8 ? -128 : -1e6;
    const double high = dtype == IMREC_UINT8 ? 255 : dtype == IMREC_INT8 ? 127 : 1e6;
    const char *at = text;
    uint32_t n = 0;
    bool fine = true;
    for (; fine && n < 4 && (n == 0 || *at != '\0'); n++)
        fine = take_real(&at, ",", low, high, &r->erase_value[n]);
    if (!fine || *at != '\0' || (at != text && at[-1] == ',') || (n != 1 && n != channels))
        return IMREC_REFUSE(err,
                            "erase_value must be one number from %g to %g, or one for each of %u "
                            "channels with commas between, not '%.60s'",
                            low, high, channels, text);
    for (uint32_t c = n; c < 4; c++)
        r->erase_value[c] = r->erase_value[n == 1 ? 0 : c];
    return IMREC_OK;
}

enum imrec_status recipe_read_texts(struct recipe *r, struct imrec_error *err)
{
    IMREC_TRY(read_pairs(r, r->o->keypoint_pairs, err));
    IMREC_TRY(read_angles(r, r->o->rotate_list, err));
    IMREC_TRY(read_steps(r, r->o->rand_augment_magnitude_schedule, err));
    return read_erase_value(r, r->o->erase_value, err);
}
