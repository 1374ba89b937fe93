/* imrec/augmenter.h - an augmenter of your own, between those of the iterator: registered under a
 * name, or in a shared library. See docs/guide/augmenters.md. */
#ifndef IMREC_AUGMENTER_H
#define IMREC_AUGMENTER_H

#include "imrec/augment.h"
#include "imrec/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The source of a sample's randomness: equal keys give equal images. */
struct imrec_augmenter_key {
    uint64_t seed, sweep;
    uint64_t shard, offset; /* number in the expanded list; byte of the record's head */
    uint64_t view;          /* number of the sample's image with num_views and multi_crop, from 0 */
};

/* An image to change in place. Every pointer is valid during the call only. */
struct imrec_augmenter_call {
    size_t struct_size;
    struct imrec_image image; /* uint8, of data_shape, upright, before it is mirrored */
    const char *params;       /* the text in parentheses after the name, or "" */
    void *user;               /* of the registration */
    struct imrec_augmenter_key key;
    /* The slot's labels, to read and change; NULL for all crops of multi_crop except the first.
     * Boxes have the layout of docs/guide/detection.md (header first); keypoints are the last
     * 3 * keypoints values (of each object). Both have been moved as far as the image has. Boxes
     * without area are dropped after the call. */
    float *labels;
    uint32_t label_count;
    const struct imrec_draw *draw; /* what the other augmenters drew for this image */
    /* With masks: image.width * image.height values, one per pixel, to read and change;
     * ignore_label where the image shows nothing. NULL: the batch has no masks. */
    uint16_t *mask;
    uint32_t mask_bits; /* 8 or 16 */
    uint32_t keypoints; /* in a label, or in each object */
    bool boxes;         /* the labels are boxes */
};

/* Called by many threads at once. An error fails the sample; *err gives the reason. */
typedef enum imrec_status
imrec_augment_fn(const struct imrec_augmenter_call *call, struct imrec_error *err);

/* Returns 64 random bits that depend on the arguments alone, not on the thread. n numbers the
 * augmenter's draws. No other draw of the iterator uses these bits. */
IMREC_API uint64_t imrec_augmenter_bits(const struct imrec_augmenter_key *key, uint32_t n);

/* Registers an augmenter under `name`. aug_seq of iterators that are opened later may use it:
 * "aug_default,NAME" or "NAME(params)". A name consists of up to 63 letters, digits, - and _, must
 * be new, and cannot be removed. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_augmenter_register(const char *name, imrec_augment_fn *augment, void *user,
                         struct imrec_error *err);

/* For a shared library: IMREC_AUGMENTER(NAME, function) at the end of a source file defines what
 * aug_seq=./libmine.so:NAME loads. */
#define IMREC_AUGMENTER_MAGIC 0x67754169u
#define IMREC_AUGMENTER_ABI   2u
struct imrec_augmenter {
    uint32_t magic, abi;
    imrec_augment_fn *augment;
};
#ifdef __cplusplus
#define IMREC_AUGMENTER(name, function)                                                            \
    extern "C" IMREC_API const struct imrec_augmenter name;                                        \
    const struct imrec_augmenter name = {IMREC_AUGMENTER_MAGIC, IMREC_AUGMENTER_ABI, function}
#else
#define IMREC_AUGMENTER(name, function)                                                            \
    extern IMREC_API const struct imrec_augmenter name;                                            \
    const struct imrec_augmenter name = {IMREC_AUGMENTER_MAGIC, IMREC_AUGMENTER_ABI, function}
#endif

#ifdef __cplusplus
}
#endif
#endif
