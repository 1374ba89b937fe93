/* iter/sample/sample_targets.h - masks, boxes and keypoints of the images that a sampler makes. */
#ifndef IMREC_ITER_SAMPLE_SAMPLE_TARGETS_H
#define IMREC_ITER_SAMPLE_SAMPLE_TARGETS_H

#include "iter/sample/sampler.h"

/* What will follow a view of an upright image of width x height px, whose draw is made. */
void sample_targets_begin(struct sampler *p, struct sampler_view *v, uint32_t width,
                          uint32_t height);
/* The mask, if there is one, has the size of its image as it is stored. */
IMREC_NODISCARD enum imrec_status sample_targets_check_mask(const struct sampler *p,
                                                            const struct imrec_image_info *info,
                                                            struct imrec_error *err);
/* Maximum bytes that masks will hold besides the slots. */
uint64_t sample_targets_claim(const struct sampler *p, const struct sampler_view *views, uint32_t n,
                              const struct imrec_image_info *info);
/* Decodes it, for all views. */
IMREC_NODISCARD enum imrec_status
sample_targets_take_mask(struct sampler *p, struct sampler_view *views, uint32_t n,
                         uint32_t orientation, struct imrec_error *err);
/* Labels and mask of a view, when its pixels are made. */
IMREC_NODISCARD enum imrec_status
sample_targets_finish(const struct sampler *p, struct sampler_view *v, struct imrec_error *err);
#endif
