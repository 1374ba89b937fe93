/* minibatch/corpus/id_table.h - the sequences of a corpus by their ids. */
#ifndef IMREC_MINIBATCH_CORPUS_ID_TABLE_H
#define IMREC_MINIBATCH_CORPUS_ID_TABLE_H

#include "minibatch/corpus/corpus.h"

struct id_table {
    struct id_row {
        uint64_t key, sequence; /* of the corpus */
    } * row;                    /* ascending keys */
    uint64_t rows;
};

/* An id that is there twice is an error. */
IMREC_NODISCARD enum imrec_status
id_table_make(struct id_table *t, struct corpus *c, struct imrec_error *err);
bool id_table_find(const struct id_table *t, uint64_t key, uint64_t *sequence);
void id_table_free(struct id_table *t); /* zeroed memory is allowed */
#endif
