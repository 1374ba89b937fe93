/* iter/sample/further_sampler.h - further images of a sample (images=): what a worker owns and does
 * for them. They go where the pixels of the first image went. */
#ifndef IMREC_ITER_SAMPLE_FURTHER_SAMPLER_H
#define IMREC_ITER_SAMPLE_FURTHER_SAMPLER_H

#include "iter/options/further_images.h"
#include "iter/sample/sampler.h"

struct further_sampler {
    const struct further_images *images; /* borrowed */
    struct sampler sampler;              /* of the kinds of all of them */
    struct sampler_view *views;          /* of one, for each view of the first image */
    struct mask map;
    struct image whole[2], sized;   /* one of another size than the first image's */
    uint64_t decode_ns, augment_ns; /* since further_sampler_begin() */
};

/* `images` and the headroom must outlive it. */
IMREC_NODISCARD enum imrec_status
further_sampler_init(struct further_sampler *f, const struct further_images *images,
                     struct headroom *headroom, bool stream, struct imrec_error *err);
void further_sampler_free(struct further_sampler *f); /* zeroed memory is fine */

static inline void further_sampler_begin(struct further_sampler *f)
{
    f->decode_ns = f->augment_ns = 0;
}

/* Makes one of them out of its file into f->views[i].slot, which the caller has set. views[0..n)
 * are those of the first image, which `first` has made: their draws are followed. Another size than
 * the first image's is resized to that first. */
IMREC_NODISCARD enum imrec_status
further_sampler_make(struct further_sampler *f, uint32_t image, struct bytes file,
                     const struct sampler *first, const struct sampler_view *views, uint32_t n,
                     struct imrec_error *err);
#endif
