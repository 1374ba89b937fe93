/* augment/resize/resize.h - resampling as OpenCV 3.4 does it, for a window of the result only. */
#ifndef IMREC_AUGMENT_RESIZE_RESIZE_H
#define IMREC_AUGMENT_RESIZE_RESIZE_H

#include "base/image.h"

enum resize_method {
    RESIZE_NEAREST = 0,
    RESIZE_BILINEAR = 1,
    RESIZE_CUBIC = 2,
    RESIZE_AREA = 3,
    RESIZE_LANCZOS = 4,
    RESIZE_METHODS,
};

/* Size after "shorter side to `shorter`", integer arithmetic of MXNet; shorter <= 0
 * keeps it. */
void resize_shorter_side(uint32_t width, uint32_t height, int64_t shorter, uint32_t *to_width,
                         uint32_t *to_height);
/* Size after the enlarging that lets an image cover crop_width x crop_height (opencv.md 8.5:
 * one or two passes). Returns the number of passes (0, 1, 2), each size in to[]. */
struct resize_size {
    uint32_t width, height;
};
uint32_t resize_to_cover(uint32_t width, uint32_t height, uint32_t crop_width, uint32_t crop_height,
                         struct resize_size to[2]);

/* What of a source the whole result of an antialiased resize is made from, along an axis, in parts
 * of its pixels: of an image that was decoded smaller, crops begin and end between pixels. size 0:
 * all of it. */
enum { RESIZE_PARTS = 8 }; /* of a pixel */
struct resize_part {
    uint32_t begin, size;
};

static inline double resize_part_begin(struct resize_part p)
{
    return (double)p.begin / RESIZE_PARTS;
}

/* `from`: pixels of all of it. */
static inline double resize_part_size(struct resize_part p, uint32_t from)
{
    return p.size == 0 ? from : (double)p.size / RESIZE_PARTS;
}

/* A resize of which only `window` (of the result) is wanted. */
struct resize_job {
    uint32_t from_width, from_height; /* of the whole source image */
    uint32_t to_width, to_height;     /* of the whole result */
    struct imrec_rect window;         /* of the result */
    enum resize_method method;
};
/* The part of the source that the window's pixels are made from. */
struct imrec_rect resize_source_region(const struct resize_job *job);
/* `from` holds that part of the source (its pixel (0,0) is the region's corner); *to becomes
 * the window. Tables and rows live in *scratch, used again. Bit-identical to resizing the whole
 * image and cropping. */
struct resize_scratch;
IMREC_NODISCARD enum imrec_status
resize_scratch_new(struct resize_scratch **out, struct imrec_error *err);
void resize_scratch_free(struct resize_scratch *s);
size_t resize_scratch_memory(const struct resize_scratch *s);
/* Whatever works with this scratch from here on ends with IMREC_ERR_CANCELLED soon after *stop was
 * asked. stop lives as long as the scratch; NULL: nobody asks. */
struct stop;
void resize_scratch_stop_with(struct resize_scratch *s, const struct stop *stop);
/* Gives all of it back where it is more than `most` bytes. */
void resize_scratch_trim(struct resize_scratch *s, size_t most);
/* Bytes of *scratch that a resize takes at most, of whatever method and by whatever variant, of
 * rows of from_width px to rows of to_width. */
uint64_t resize_scratch_claim(uint32_t from_width, uint32_t to_width, uint32_t channels);
IMREC_NODISCARD enum imrec_status
resize_window(const struct resize_job *job, const struct imrec_image *from, struct image *to,
              struct resize_scratch *scratch, struct imrec_error *err);
#endif
