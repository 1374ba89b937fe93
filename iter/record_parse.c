/* iter/record_parse.c - a record, looked at: what the options need of it. */
#include "base/error.h"
#include "iter/state.h"

/* With masks it has one. */
enum imrec_status iter_parse(struct imrec_iter *it, const struct record_ref *ref, struct worker *w,
                             struct record *out, struct imrec_error *err)
{
    const struct container *c = &it->container;
    const bool masks = it->slots.masks_bytes != 0;
    const bool fields = it->fields.names.count != 0 || it->further.count != 0;
    const unsigned parts = RECORD_LABELS | (it->further.none ? 0 : RECORD_IMAGE) |
                           (masks || it->further.mask ? RECORD_MASK : 0) |
                           (fields ? RECORD_FIELDS : 0);
    IMREC_TRY(c->kind->parse(c, ref, parts, &w->room, out, err));
    if (c->value_count != 0) { /* values have no shape of their own */
        const uint8_t *values = out->pixels.p;
        out->pixels = it->planes;
        out->pixels.p = values;
    }
    w->sampler.mask_png = masks ? out->mask : (struct bytes){NULL, 0};
    if (!masks || out->mask.n != 0)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT,
                      "the record has no mask; masks=none reads it without");
}
