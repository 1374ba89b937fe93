/* im2rec/reshape/label_lines.h - the labels of a .lst by id, any number on each line. */
#ifndef IMREC_IM2REC_RESHAPE_LABEL_LINES_H
#define IMREC_IM2REC_RESHAPE_LABEL_LINES_H

#include "imrec/error.h"

#include <stddef.h>

struct label_line {
    uint64_t id;
    size_t first; /* of the labels */
    uint32_t count;
    bool used;
};
struct label_lines {
    struct label_line *line; /* sorted by id */
    float *labels;
    size_t count, label_count;
    uint64_t room, label_room;
};

/* A malformed line, a whole label that float32 does not have, and two lines of one id are
 * IMREC_ERR_CORRUPT. */
IMREC_NODISCARD enum imrec_status
label_lines_load(const char *path, struct label_lines *out, struct imrec_error *err);
void label_lines_free(struct label_lines *l); /* zeroed memory is fine */
struct label_line *label_lines_find(const struct label_lines *l, uint64_t id); /* or NULL */
uint64_t label_lines_unused(const struct label_lines *l);
#endif
