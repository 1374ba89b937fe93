/* formats/ctf/ctf_ids.h - which sequence ids have been met. No memory while they ascend. */
#ifndef IMREC_FORMATS_CTF_CTF_IDS_H
#define IMREC_FORMATS_CTF_CTF_IDS_H

#include "formats/ctf/ctf_index.h"

struct ctf_ids {
    bool any;
    uint64_t greatest;
    uint64_t *slot; /* 1 + a sequence's number, 0: free; NULL while all have ascended */
    uint64_t slots;
};

/* Whether `id` is that of one of sequence[0..n); *offset is where that one begins. */
bool ctf_ids_find(const struct ctf_ids *ids, const struct ctf_sequence *sequence, uint64_t n,
                  uint64_t id, uint64_t *offset);
/* Notes the id of the sequence that becomes number n. False: no memory. */
bool ctf_ids_add(struct ctf_ids *ids, const struct ctf_sequence *sequence, uint64_t n, uint64_t id);
void ctf_ids_free(struct ctf_ids *ids);
#endif
