/* codec/jpeg/together.h - images with the same Huffman tables decoded side by side.
 *
 * One image alone, without restart markers, is one piece: it fills a single lane. So images that a
 * caller is going to decode one after the other are asked for beforehand. What comes first is their
 * samples; a caller who then decodes such an image, with the same request, gets its pixels out of
 * these. Images that lanes do not suit, or that have defects, are decoded as one image is. */
#ifndef IMREC_CODEC_JPEG_TOGETHER_H
#define IMREC_CODEC_JPEG_TOGETHER_H

#include "codec/jpeg/jpeg_planes.h"
#include "codec/jpeg/lanes.h"

struct together; /* buffers of one worker, kept between images */

struct together *together_new(void);    /* NULL: no memory */
void together_free(struct together *t); /* NULL is allowed */
void together_drop(struct together *t); /* its buffers; NULL is allowed */
size_t together_memory(const struct together *t);
uint64_t together_claim(void); /* bytes it holds, maximum; the same on every processor */
bool together_suits(void);     /* are there kernels for this processor? */
/* For tests: on every processor, and whatever the images before had. Before the first is made. */
void together_use_always(bool yes);

/* An image that is going to be decoded, and what will be wanted of it. */
struct together_image {
    uint64_t id;        /* the caller's */
    struct bytes image; /* stays until done() */
    uint32_t width, height;
    struct imrec_rect region;
    uint32_t channels, denominator;
};

struct together_source {
    /* The next image; its bytes may be none, if it is nothing for us. look false: it will be
     * decoded alone anyhow, and only its id is wanted. False: there are no more. */
    bool (*next)(void *context, bool look, struct together_image *out);
    /* To be decoded now, within this call. */
    void (*done)(void *context, uint64_t id);
    void *context;
};

enum { TOGETHER_MOST = LANE_MOST }; /* images at once: given by next(), not yet done */

/* Calls done() once for each image, in any order. t: NULL is allowed, and is slower. */
void together_decode(struct together *t, const struct together_source *source);

/* Within done(): whether this image's samples are there, for this request. */
bool together_has(const struct together *t, struct bytes image,
                  const struct baseline_request *request);
/* Then: gives its rows. */
void together_give(struct together *t, const struct baseline_request *request);
uint64_t together_count(const struct together *t); /* how often that was; NULL is allowed */
#endif
