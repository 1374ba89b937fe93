/* container/archive/listed_losses.h - why records of a kind that lists them were lost when it did.
 */
#ifndef IMREC_CONTAINER_ARCHIVE_LISTED_LOSSES_H
#define IMREC_CONTAINER_ARCHIVE_LISTED_LOSSES_H

#include "imrec/error.h"

struct listed_loss {
    uint64_t number; /* of the record; ascending */
    struct imrec_error why;
};

struct listed_losses { /* zeroed: none */
    struct listed_loss *p;
    uint64_t count, room;
};

IMREC_NODISCARD enum imrec_status listed_losses_add(struct listed_losses *l, uint64_t number,
                                                    const struct imrec_error *why,
                                                    struct imrec_error *err);
/* That of a record that was lost. */
const struct imrec_error *listed_losses_find(const struct listed_losses *l, uint64_t number);
uint64_t listed_losses_memory(const struct listed_losses *l);
void listed_losses_free(struct listed_losses *l);
#endif
