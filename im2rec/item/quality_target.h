/* im2rec/item/quality_target.h - the JPEG quality that an image takes: the lowest whose decoded
 * luma is as much alike as asked, or the highest whose bytes are few enough.
 *
 * Qualities 1 to 100 are halved until one is left. Size and likeness grow with quality, but for a
 * step down here and there: what is found holds what was asked, and the search found no better one;
 * it is the same on every processor, for any number of threads. */
#ifndef IMREC_IM2REC_ITEM_QUALITY_TARGET_H
#define IMREC_IM2REC_ITEM_QUALITY_TARGET_H

#include "codec/codec.h"
#include "im2rec/item/ssim.h"

struct quality_goal {
    uint64_t bytes; /* at most; 0: not asked for */
    double ssim;    /* at least; 0: not asked for */
};

/* "" (nothing is asked for), "ssim=0.98", "bytes=40K". */
IMREC_NODISCARD enum imrec_status
quality_goal_parse(const char *text, struct quality_goal *out, struct imrec_error *err);

/* A worker's. Zeroed at first. */
struct quality_target {
    struct quality_goal goal;
    struct codec *judge; /* decodes what was encoded; ssim alone */
    struct ssim ssim;
    struct image luma;
    uint32_t tries; /* encodes of the last image */
};

IMREC_NODISCARD enum imrec_status quality_target_init(struct quality_target *t, const char *text,
                                                      const struct stop *stop,
                                                      struct imrec_error *err);
void quality_target_free(struct quality_target *t);
/* Gives memory back that holds more than `most` bytes. */
void quality_target_trim(struct quality_target *t, size_t most);
bool quality_target_is_set(const struct quality_target *t);
/* Bytes that an image takes besides encoding it. */
uint64_t quality_target_claim(const struct quality_goal *goal, uint32_t width, uint32_t height,
                              struct codec_jpeg_how how);

/* codec_encode_jpeg() at the quality found; how.quality is not looked at. *reached false: no
 * quality does, and err says how far the nearest one is. */
IMREC_NODISCARD enum imrec_status quality_target_encode(struct quality_target *t, struct codec *c,
                                                        const struct imrec_image *image,
                                                        struct codec_jpeg_how how, bool *reached,
                                                        struct bytes *out, struct imrec_error *err);
#endif
