/* iter/sample/headroom.h - memory for images that need more than a worker's planned scratch: with
 * memory_limit they share what the plan leaves, and wait for each other. */
#ifndef IMREC_ITER_SAMPLE_HEADROOM_H
#define IMREC_ITER_SAMPLE_HEADROOM_H

#include "base/threads.h"
#include "imrec/error.h"

/* A decoder's tables and rows, a crop's region and the rows of a resize: 1 to 3 MiB for
 * photographs of 500 px. The plan counts this for each worker. */
#define HEADROOM_FREE_BYTES ((uint64_t)4 << 20)

struct headroom {
    struct mutex lock;
    struct cond given_back;
    uint64_t room, used;
    uint64_t most; /* an image that needs more fails; UINT64_MAX: no limit at all */
};

void headroom_init(struct headroom *h); /* without a limit */
/* `planned` bytes of `limit`, of which `workers` * HEADROOM_FREE_BYTES are scratch (a worker with
 * further images counts twice). What an image may need does not depend on the number of workers:
 * neither may what fails. */
void headroom_limit(struct headroom *h, uint64_t limit, uint64_t planned, uint32_t workers);
void headroom_destroy(struct headroom *h);
/* Waits until `need` bytes are there. Nothing else may be held. IMREC_ERR_LIMIT: never. */
IMREC_NODISCARD enum imrec_status
headroom_take(struct headroom *h, uint64_t need, struct imrec_error *err);
void headroom_give(struct headroom *h, uint64_t need);
#endif
