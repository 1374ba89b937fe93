/* im2rec/list/archive_sample.c */
#include "im2rec/list/archive_sample.h"

#include "base/error.h"
#include "formats/recordio/image_record.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define EXTENSIONS_BYTES 200

static const char *const usual_labels[] = {"cls", "label", "id", NULL};

void sample_extensions(const struct tar_samples *s, char *out, size_t room)
{
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < s->count && n < room - 1; i++)
        n += (size_t)snprintf(out + n, room - n, "%s.%s", i != 0 ? ", " : "",
                              tar_part_extension(s, &s->parts[i]));
}

/* ---- choosing ----------------------------------------------------------------------------- */

static bool is_extension(const char *extension, const char *wanted)
{
    return strcasecmp(extension, wanted) == 0;
}

static bool is_image(const struct sample_rules *r, const char *extension)
{
    if (r->image_ext[0] != '\0')
        return is_extension(extension, r->image_ext);
    const char *dot = strrchr(extension, '.'), *last = dot != NULL ? dot + 1 : extension;
    for (const char *const *e = r->builtin; *e != NULL; e++)
        if (strcasecmp(last, *e + 1) == 0)
            return true;
    return false;
}

/* A sample's first file of a name counts. */
static bool take_field(const struct sample_rules *r, const char *extension,
                       const struct tar_part *p, struct sample_files *out)
{
    for (uint32_t i = 0; i < r->fields->count; i++)
        if (is_extension(extension, r->fields->name[i])) {
            out->field[i] = out->field[i] == NULL ? p : out->field[i];
            return true;
        }
    return false;
}

static enum imrec_status several_images(const struct tar_samples *s, const char *archive,
                                        const struct tar_part *first, const struct tar_part *second,
                                        struct imrec_error *err)
{
    const char *a = tar_part_extension(s, first), *b = tar_part_extension(s, second);
    if (is_extension(a, b))
        (void)IMREC_REFUSE(err,
                           "%.200s: sample '%.100s' has two files .%.60s, whose contents begin at "
                           "bytes %" PRIu64 " and %" PRIu64 ": one key is one sample",
                           archive, s->key, a, first->content, second->content);
    else
        (void)IMREC_REFUSE(err,
                           "%.200s: sample '%.100s' has several images, .%.60s and .%.60s: choose "
                           "one of them, image_ext=%.60s",
                           archive, s->key, a, b, b);
    imrec_error_file(err, archive);
    return IMREC_ERR_ARGUMENT;
}

enum imrec_status sample_choose(const struct sample_rules *r, const struct tar_samples *s,
                                const char *archive, struct other_names *names,
                                struct sample_files *out, struct imrec_error *err)
{
    *out = (struct sample_files){.others = 0};
    for (uint32_t i = 0; i < s->count; i++) {
        const struct tar_part *p = &s->parts[i];
        const char *extension = tar_part_extension(s, p);
        const bool field = take_field(r, extension, p, out);
        if (is_image(r, extension)) {
            if (out->image != NULL)
                return several_images(s, archive, out->image, p, err);
            out->image = p;
        } else if (r->label_ext != NULL && is_extension(extension, r->label_ext)) {
            out->twice |= out->label != NULL;
            out->label = p;
        } else if (!field) {
            out->others++;
            if (names != NULL)
                other_names_add(names, ".", extension);
        }
    }
    return IMREC_OK;
}

void sample_field_places(const struct sample_rules *r, const struct sample_files *f,
                         char out[SAMPLE_FIELDS_BYTES])
{
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < r->fields->count; i++) {
        const struct tar_part *p = f->field[i];
        const char *tab = i != 0 ? "\t" : "";
        n += (size_t)(p == NULL ? snprintf(out + n, SAMPLE_FIELDS_BYTES - n, "%s", tab)
                                : snprintf(out + n, SAMPLE_FIELDS_BYTES - n,
                                           "%s%" PRIu64 " %" PRIu64, tab, p->content, p->bytes));
    }
}

const char *sample_usual_label(const struct tar_samples *s)
{
    for (size_t i = 0; usual_labels[i] != NULL; i++)
        for (uint32_t j = 0; j < s->count; j++)
            if (is_extension(tar_part_extension(s, &s->parts[j]), usual_labels[i]))
                return usual_labels[i];
    return NULL;
}

/* ---- judging ------------------------------------------------------------------------------ */

static struct bytes trimmed(struct bytes text)
{
    static const char blanks[] = {' ', '\t', '\r', '\n', '\f', '\v'};
    while (text.n != 0 && memchr(blanks, text.p[0], sizeof(blanks)) != NULL)
        text = (struct bytes){text.p + 1, text.n - 1};
    while (text.n != 0 && memchr(blanks, text.p[text.n - 1], sizeof(blanks)) != NULL)
        text.n--;
    return text;
}

/* NULL: *out is the label; else what is wrong with it. *said: its text. */
static const char *
read_label(const struct tar_samples *s, const struct tar_part *p, float *out, struct bytes *said)
{
    const uint8_t *kept = tar_part_kept(s, p);
    if (kept == NULL)
        return "has too many bytes for a number";
    const struct bytes text = *said = trimmed((struct bytes){kept, (size_t)p->bytes});
    const enum text_float st = text_to_float(text, out);
    if (st == TEXT_FLOAT_TOO_LARGE)
        return "is too large for a label, which has 32 bits";
    if (st != TEXT_FLOAT_OK)
        return "is not a number";
    if (*out - *out != 0)
        return "is not finite";
    return text_keeps_whole(text, (double)*out)
               ? NULL
               : "is a whole number that float32 cannot hold (beyond 2^24 it has not every one)";
}

/* Why the image cannot be packed, whatever it is; NULL: it can. */
static const char *image_fault(const struct tar_samples *s, const struct tar_part *image,
                               size_t name_most, enum reason *reason)
{
    const char *name = tar_part_name(s, image);
    *reason = reason_of_name((struct bytes){(const uint8_t *)name, strlen(name)});
    if (*reason != REASON_NONE)
        return *reason == REASON_UTF8 ? "the name is not UTF-8"
                                      : "the name holds a control character";
    *reason = REASON_UNREADABLE;
    if (strlen(name) > name_most)
        return "the path is longer than 4095 bytes";
    *reason = REASON_LINK;
    return image->type == TAR_LINK ? "is a link in the archive" : NULL;
}

static enum reason judge_label(const struct sample_rules *r, const struct tar_samples *s,
                               const struct sample_files *f, float *label, char *why)
{
    char has[EXTENSIONS_BYTES];
    struct imrec_error err;
    const char *fault = NULL;
    struct bytes said = {NULL, 0};
    *label = 0;
    if (r->label_ext == NULL)
        return REASON_NONE;
    sample_extensions(s, has, sizeof(has));
    if (f->label == NULL)
        snprintf(why, SAMPLE_WHY_BYTES, "its sample has no label .%s: it has %s", r->label_ext,
                 has);
    else if (f->twice)
        snprintf(why, SAMPLE_WHY_BYTES, "its sample has two labels .%s", r->label_ext);
    else if (f->label->type == TAR_LINK) {
        snprintf(why, SAMPLE_WHY_BYTES, "its label .%s is a link in the archive", r->label_ext);
        return REASON_LINK;
    } else if ((fault = read_label(s, f->label, label, &said)) != NULL)
        snprintf(why, SAMPLE_WHY_BYTES, "its label .%s %s%s%s", r->label_ext, fault,
                 said.p != NULL ? ": " : "", said.p != NULL ? text_quote(said).s : "");
    else if (image_record_shift(label, 1, r->label_offset, &err) != IMREC_OK)
        snprintf(why, SAMPLE_WHY_BYTES, "%.300s", err.message);
    else
        return REASON_NONE;
    return REASON_LABEL;
}

static enum reason judge_fields(const struct sample_rules *r, const struct tar_samples *s,
                                const struct sample_files *f, char *why)
{
    char has[EXTENSIONS_BYTES];
    for (uint32_t i = 0; i < r->fields->count; i++) {
        const char *name = r->fields->name[i];
        sample_extensions(s, has, sizeof(has));
        if (f->field[i] == NULL && !r->fields->optional[i])
            snprintf(why, SAMPLE_WHY_BYTES, "its sample has no field %.60s: it has %s", name, has);
        else if (f->field[i] != NULL && f->field[i]->type == TAR_LINK)
            snprintf(why, SAMPLE_WHY_BYTES, "its field %.60s is a link in the archive", name);
        else
            continue;
        return REASON_FIELD;
    }
    return REASON_NONE;
}

enum reason sample_judge(const struct sample_rules *r, const struct tar_samples *s,
                         const struct sample_files *f, size_t name_most, float *label,
                         char why[SAMPLE_WHY_BYTES])
{
    char has[EXTENSIONS_BYTES];
    enum reason reason;
    if (f->image == NULL) {
        sample_extensions(s, has, sizeof(has));
        snprintf(why, SAMPLE_WHY_BYTES, "the sample has no image: it has %s", has);
        return REASON_MISSING;
    }
    const char *fault = image_fault(s, f->image, name_most, &reason);
    if (fault == NULL) {
        reason = judge_label(r, s, f, label, why);
        return reason != REASON_NONE ? reason : judge_fields(r, s, f, why);
    }
    snprintf(why, SAMPLE_WHY_BYTES, "%s", fault);
    return reason;
}
