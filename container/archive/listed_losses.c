/* container/archive/listed_losses.c */
#include "container/archive/listed_losses.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/math.h"

#include <stddef.h>

enum imrec_status listed_losses_add(struct listed_losses *l, uint64_t number,
                                    const struct imrec_error *why, struct imrec_error *err)
{
    if (!IMREC_GROW(l->p, l->room, l->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the error of a record");
    l->p[l->count++] = (struct listed_loss){number, *why};
    return IMREC_OK;
}

const struct imrec_error *listed_losses_find(const struct listed_losses *l, uint64_t number)
{
    return &l->p[first_at_least(l->p, sizeof(*l->p), offsetof(struct listed_loss, number), l->count,
                                number)]
                .why;
}

uint64_t listed_losses_memory(const struct listed_losses *l)
{
    return l->room * sizeof(*l->p);
}

void listed_losses_free(struct listed_losses *l)
{
    imrec_free(l->p);
    *l = (struct listed_losses){0};
}
