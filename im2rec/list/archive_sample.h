/* im2rec/list/archive_sample.h - which files of a sample in an archive are its image and its label.
 */
#ifndef IMREC_IM2REC_LIST_ARCHIVE_SAMPLE_H
#define IMREC_IM2REC_LIST_ARCHIVE_SAMPLE_H

#include "container/archive/tar_samples.h"
#include "container/folder/reason.h"
#include "formats/field_names.h"
#include "im2rec/list/other_names.h"

#define SAMPLE_LABEL_MOST   64u /* bytes of a label, which are to be kept with the sample */
#define SAMPLE_WHY_BYTES    400
#define SAMPLE_FIELDS_BYTES (FIELD_NAMES_MOST * 42u + 1) /* two numbers of 64 bits for each */

struct sample_rules {
    const char *image_ext;            /* "": the one that ends in one of `builtin` */
    const char *const *builtin;       /* extensions with their dot, NULL at the end */
    const char *label_ext;            /* NULL: there are no labels */
    int64_t label_offset;             /* added to them */
    const struct field_names *fields; /* extensions */
};
struct sample_files { /* NULL: there is none */
    const struct tar_part *image, *label;
    bool twice; /* it has another label */
    const struct tar_part *field[FIELD_NAMES_MOST];
    uint32_t others; /* files that are none of these */
};

/* IMREC_ERR_ARGUMENT: several images. `archive` is for the message. Names of others are added to
 * *names, which may be NULL. */
IMREC_NODISCARD enum imrec_status
sample_choose(const struct sample_rules *r, const struct tar_samples *s, const char *archive,
              struct other_names *names, struct sample_files *out, struct imrec_error *err);
/* The first of the usual labels that the sample has; NULL: none. */
const char *sample_usual_label(const struct tar_samples *s);
/* REASON_NONE: the image can be packed, and *label is its label (0 without rules for one). Else why
 * it cannot. name_most: bytes of a name. */
enum reason sample_judge(const struct sample_rules *r, const struct tar_samples *s,
                         const struct sample_files *f, size_t name_most, float *label,
                         char why[SAMPLE_WHY_BYTES]);
/* Writes where its fields are: for each name, tabs between, "BEGIN BYTES" or nothing. */
void sample_field_places(const struct sample_rules *r, const struct sample_files *f,
                         char out[SAMPLE_FIELDS_BYTES]);
/* Writes ".jpg, .cls", as much as there is room for. */
void sample_extensions(const struct tar_samples *s, char *out, size_t room);
#endif
