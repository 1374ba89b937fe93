/* im2rec/item/resizing.c */
#include "im2rec/item/resizing.h"

#include "augment/draw/draw.h"
#include "augment/resize/resize.h"
#include "base/rng.h"

static enum resize_method
method_for(const struct imrec_pack_options *o, uint64_t id, const struct resize_job *job)
{
    const struct rng_key key = {(uint64_t)o->seed, 0};
    if (o->inter_method == 9)
        return (enum resize_method)augment_method_by_size(job->from_width, job->from_height,
                                                          job->to_width, job->to_height);
    if (o->inter_method == 10)
        return (enum resize_method)rng_below(rng_block(key, id, 0, 0, RNG_PACKING).v[0],
                                             RESIZE_METHODS);
    return (enum resize_method)o->inter_method;
}

uint64_t resizing_claim(const struct imrec_pack_options *o, uint32_t from_width,
                        uint32_t from_height, uint32_t width, uint32_t height, uint32_t channels)
{
    const struct resample_job whole = {.to_width = width,
                                       .to_height = height,
                                       .window = {0, 0, width, height},
                                       .filter = RESAMPLE_CUBIC};
    if (o->inter_method < 0)
        return resample_scratch_claim(&whole, from_width, from_height, channels);
    return resize_scratch_claim(from_width, width, channels);
}

enum imrec_status resizing_run(const struct imrec_pack_options *o, uint64_t id,
                               const struct imrec_image *from, uint32_t width, uint32_t height,
                               struct image *out, struct resize_scratch *scratch,
                               struct imrec_error *err)
{
    struct resize_job job = {.from_width = from->width,
                             .from_height = from->height,
                             .to_width = width,
                             .to_height = height,
                             .window = {0, 0, width, height}};
    if (o->inter_method < 0)
        return resample(from, width, height, out, scratch, err);
    job.method = method_for(o, id, &job);
    const struct imrec_rect r = resize_source_region(&job); /* the last rows may not count */
    const struct imrec_image part = {from->pixels + r.y * from->stride +
                                         (size_t)r.x * from->channels,
                                     from->stride, r.width, r.height, from->channels};
    return resize_window(&job, &part, out, scratch, err);
}
