/* imrec/augmenter.h - an augmenter of your own, between those of the iterator: registered by a
 * name, or in a shared library. docs/guide/augmenters.md says more. */
#ifndef IMREC_AUGMENTER_H
#define IMREC_AUGMENTER_H

#include "imrec/image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a sample's randomness comes from; equal keys, equal image. */
struct imrec_augmenter_key {
    uint64_t seed, sweep;
    uint64_t shard, offset; /* number in the expanded list; byte of the record's head */
    uint64_t view;          /* of num_views and multi_crop: which of the sample's images, from 0 */
};

/* One image to be changed, in place. Everything is borrowed for the time of the call. */
struct imrec_augmenter_call {
    size_t struct_size;
    struct imrec_image image; /* uint8, of data_shape, upright, before it is mirrored */
    const char *params;       /* what stands in parentheses behind the name; or "" */
    void *user;               /* of the registration */
    struct imrec_augmenter_key key;
    /* Of the slot, to read and to change; NULL for all crops of multi_crop but the first. Boxes are
     * a label of docs/guide/detection.md (its header first), keypoints the last 3 * keypoints
     * values (of each object): moved with the image as far as it is. Boxes that are left without
     * area are dropped. */
    float *labels;
    uint32_t label_count;
    const struct imrec_draw *draw; /* what the other augmenters do to this image */
    /* With masks: image.width * image.height values under its pixels, to read and to change;
     * ignore_label where there was nothing. NULL: the batch has no masks. */
    uint16_t *mask;
    uint32_t mask_bits; /* 8 or 16 */
    uint32_t keypoints; /* in a label, or in each object */
    bool boxes;         /* the labels are boxes */
};

/* Called by many threads at a time. An error fails the sample, *err says why. */
typedef enum imrec_status
imrec_augment_fn(const struct imrec_augmenter_call *call, struct imrec_error *err);

/* 64 random bits, the same for equal arguments whichever thread asks; n counts what the augmenter
 * draws. No other draw of the iterator has them. */
IMREC_API uint64_t imrec_augmenter_bits(const struct imrec_augmenter_key *key, uint32_t n);

/* aug_seq of iterators opened from here on may name it: "aug_default,NAME" or "NAME(params)". A
 * name has letters, digits, - and _, up to 63, and is not taken; it stays for ever. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_augmenter_register(const char *name, imrec_augment_fn *augment, void *user,
                         struct imrec_error *err);

/* In a shared library: aug_seq=./libmine.so:NAME finds what IMREC_AUGMENTER(NAME, function) at the
 * end of a source file defines. */
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
