/* iter/further.c - further images of a sample (images=): out of its fields into their slots. */
#include "base/error.h"
#include "iter/state.h"

#include <string.h>

/* An image of a sample, made: of all its slots. */
static enum imrec_status make(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                              uint32_t image, struct bytes file, struct imrec_error *err)
{
    struct slots *s = &it->slots;
    const uint32_t rows = it->views.rows, tensors = it->views.tensors;
    struct further_sampler *f = &w->further;
    for (uint32_t i = 0; i < rows * tensors; i++)
        f->views[i].slot =
            slots_further(s, t->cell, image, i % tensors, t->slot * rows + i / tensors);
    IMREC_TRY(further_sampler_make(f, image, file, &w->sampler, w->views, rows * tensors, err));
    for (uint32_t row = 0; row < rows; row++)
        *slots_present(s, t->cell, image, t->slot * rows + row) = 1;
    return IMREC_OK;
}

static void clear(struct imrec_iter *it, const struct ticket *t, uint32_t image)
{
    for (uint32_t row = 0; row < it->views.rows; row++)
        slots_clear_further(&it->slots, t->cell, image, t->slot * it->views.rows + row);
}

/* The file of an image; p NULL: there is none, and there need be none. */
static enum imrec_status find(const struct record *r, const struct further_image *what,
                              struct bytes *out, struct imrec_error *err)
{
    const struct record_field *field = batch_field_find(r, what->name);
    *out = (struct bytes){NULL, 0};
    if (field == NULL && strcmp(what->name, FURTHER_MASK) == 0)
        *out = r->mask;
    if (field == NULL)
        return out->p != NULL || what->optional
                   ? IMREC_OK
                   : batch_field_missing(r, "images=image,", what->name, err);
    if (field->type != FIELD_BYTES)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "its field '%.60s' has numbers: an image is bytes", what->name);
    static const uint8_t empty; /* a file of no bytes is there, and fails */
    *out = field->value.n != 0 ? field->value : (struct bytes){&empty, 0};
    return IMREC_OK;
}

enum imrec_status iter_make_further(struct imrec_iter *it, const struct ticket *t, struct worker *w,
                                    const struct record *r, struct imrec_error *err)
{
    further_sampler_begin(&w->further);
    for (uint32_t i = 0; i < it->further.count; i++) {
        const struct further_image *what = &it->further.image[i];
        struct bytes file;
        IMREC_TRY(find(r, what, &file, err));
        if (file.p == NULL)
            clear(it, t, i);
        else
            IMREC_TRY(make(it, t, w, i, file, err));
    }
    return IMREC_OK;
}
