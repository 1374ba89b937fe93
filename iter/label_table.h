/* iter/label_table.h - labels of a .lst by image id: what path_imglist puts in place of the
 * packed ones. Read-only after loading; any thread. */
#ifndef IMREC_ITER_LABEL_TABLE_H
#define IMREC_ITER_LABEL_TABLE_H

#include "imrec/error.h"

struct label_entry {
    uint64_t id, row;
};
struct label_table {
    struct label_entry *entries; /* sorted by id */
    float *labels;               /* count rows of width */
    uint64_t count;
    uint32_t width;
};

/* Takes the first `width` labels of each line. An id given twice, or a line with fewer labels, is
 * IMREC_ERR_CORRUPT with the line. */
IMREC_NODISCARD enum imrec_status
label_table_load(struct label_table *t, const char *uri, uint32_t width, struct imrec_error *err);
const float *label_table_find(const struct label_table *t, uint64_t id); /* NULL: not there */
uint64_t label_table_memory(const struct label_table *t);
void label_table_free(struct label_table *t); /* zeroed memory is fine */
#endif
