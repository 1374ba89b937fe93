/* iter/sample/id_weights.h - a text file of image ids, maybe each with a weight: what subset and
 * sample_weights name. One line each: the id, blanks or a tab, the weight. Of a subset only the
 * first word of a line is read, so that a .lst will do. */
#ifndef IMREC_ITER_SAMPLE_ID_WEIGHTS_H
#define IMREC_ITER_SAMPLE_ID_WEIGHTS_H

#include "imrec/error.h"

#include <stdbool.h>
#include <stdint.h>

struct id_line {
    uint64_t id; /* first: they are sorted by it */
    uint64_t line;
    double weight; /* finite, at least 0 */
    bool met;      /* the caller's */
};
struct id_weights {
    struct id_line *lines;
    uint64_t count, room;
};

/* `name`: of the parameter, for messages. A line that is none, an id given twice, and a file
 * without any are IMREC_ERR_CORRUPT with file and line. */
IMREC_NODISCARD enum imrec_status id_weights_load(struct id_weights *t, const char *name,
                                                  const char *uri, bool weights,
                                                  struct imrec_error *err);
/* NULL: not there. */
struct id_line *id_weights_find(const struct id_weights *t, uint64_t id);
void id_weights_free(struct id_weights *t); /* zeroed memory is fine */
#endif
