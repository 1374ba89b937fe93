/* iter/sample/label_table.h - labels of a .lst by image id: what path_imglist puts in place of the
 * packed ones. Read-only after loading; any thread. */
#ifndef IMREC_ITER_SAMPLE_LABEL_TABLE_H
#define IMREC_ITER_SAMPLE_LABEL_TABLE_H

#include "formats/set/image_list.h"

struct label_entry {
    uint64_t id, first; /* id: sorted by; first: of its labels, in all of them */
    uint32_t count;
};
struct label_table {
    struct label_entry *entries; /* sorted by id */
    float *labels;
    union list_label *exact;     /* as many, of the types that are not float32; else NULL */
    uint64_t count, label_count; /* of entries, of labels */
    uint64_t entry_room, label_room, exact_room; /* of the arrays: allocated elements */
    uint32_t widest;                             /* labels of an entry */
};

/* Takes the first `width` labels of each line, for `type`; 0: all there are. An id given twice, a
 * line with fewer labels, or a label that the type does not have, is IMREC_ERR_CORRUPT with the
 * line. */
IMREC_NODISCARD enum imrec_status label_table_load(struct label_table *t, const char *uri,
                                                   uint32_t width, enum list_labels type,
                                                   struct imrec_error *err);
/* NULL: not there. */
const struct label_entry *label_table_find(const struct label_table *t, uint64_t id);
uint64_t label_table_memory(const struct label_table *t);
void label_table_free(struct label_table *t); /* zeroed memory is fine */
#endif
