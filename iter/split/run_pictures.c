/* iter/split/run_pictures.c - the records of a run whose places and lengths are known: pictures
 * of a CBF file, records of a user's source. */
#include "base/error.h"
#include "iter/split/cbf_pictures.h"
#include "iter/split/loader_state.h"

#include <inttypes.h>
#include <string.h>

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Lets *p point at all of `range`: a run may hold the first part of a large picture only. */
static enum imrec_status whole(struct reading *t, struct arena *a, struct run *r,
                               struct split_range range, uint8_t **p, struct imrec_error *err)
{
    const uint64_t n = range.end - range.begin, have = least(range.end, r->end) - range.begin;
    if (have == n)
        return IMREC_OK;
    uint8_t *copy = run_extra(t->loader, a, n);
    if (copy == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, range.begin,
                              "no memory for a record of %" PRIu64 " bytes", n);
    memcpy(copy, *p, (size_t)have);
    *p = copy;
    return run_read_more(t->loader, r, range.begin + have, copy + have, n - have, err);
}

static enum imrec_status parse_picture(struct reading *t, struct arena *a, struct run *r,
                                       const struct ordered *at, struct imrec_error *err)
{
    const struct split *s = t->loader->o.split;
    const struct indexed_record *rec = &s->records[at->unit];
    const struct split_range range = split_unit(s, at->unit);
    uint8_t *p = a->memory + r->place + (range.begin - r->begin);
    struct imrec_error why;
    struct record_ref ref = {
        .offset = rec->offset, .key = rec->key, .unit = at->unit, .shard = r->shard};
    const uint32_t head = s->cbf != NULL ? 4 : 0; /* a count */
    if (s->cbf != NULL && rec->bytes == CBF_LOST) {
        ref.lost = true; /* cbf_loss() knows why */
    } else {
        IMREC_TRY(whole(t, a, r, range, &p, err));
        const struct hole *h = holes_find(r->holes, range.begin, range.end);
        ref.lost =
            h != NULL || (s->cbf != NULL && cbf_check_count(s, at->unit, p, &why) != IMREC_OK);
        if (ref.lost)
            IMREC_TRY(run_note(r, DAMAGE_RECORD, range.begin, range.end, h != NULL ? &h->why : &why,
                               err));
        else
            ref.bytes = (struct bytes){p + head, rec->bytes};
    }
    a->window.records[at->place] = ref;
    return IMREC_OK;
}

enum imrec_status
run_parse_pictures(struct reading *t, struct arena *a, struct run *r, struct imrec_error *err)
{
    for (uint64_t i = 0; i < r->count; i++)
        IMREC_TRY(parse_picture(t, a, r, &a->order[r->first + i], err));
    return IMREC_OK;
}
