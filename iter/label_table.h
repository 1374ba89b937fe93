/* iter/label_table.h - labels of a .lst by image id: what path_imglist puts in place of the
 * packed ones. Read-only after loading; any thread. */
#ifndef IMREC_ITER_LABEL_TABLE_H
#define IMREC_ITER_LABEL_TABLE_H

#include "imrec/error.h"

struct label_entry {
    uint64_t id, first; /* of its labels, in all of them */
    uint32_t count;
};
struct label_table {
    struct label_entry *entries; /* sorted by id */
    float *labels;
    uint64_t count, label_count; /* of entries, of labels */
    uint32_t widest;             /* labels of an entry */
};

/* Takes the first `width` labels of each line; 0: all there are. An id given twice, or a line with
 * fewer labels, is IMREC_ERR_CORRUPT with the line. */
IMREC_NODISCARD enum imrec_status
label_table_load(struct label_table *t, const char *uri, uint32_t width, struct imrec_error *err);
/* *n labels, or NULL: not there. */
const float *label_table_find(const struct label_table *t, uint64_t id, uint32_t *n);
uint64_t label_table_memory(const struct label_table *t);
void label_table_free(struct label_table *t); /* zeroed memory is fine */
#endif
