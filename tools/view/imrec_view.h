/* tools/view/imrec_view.h - what the two kinds of contact sheets share. */
#ifndef IMREC_TOOLS_VIEW_IMREC_VIEW_H
#define IMREC_TOOLS_VIEW_IMREC_VIEW_H

#include "tools/commands/command.h"

struct sheet {
    const char *name; /* of the command, for messages */
    FILE *out;
    struct imrec_decoder *decoder;
    struct imrec_classes *classes;
    struct imrec_reader_options reader; /* how records are read */
    uint64_t wanted, shown, failed;
    int quality;     /* of the JPEGs that are made */
    bool unlabelled; /* labels are boxes that the images do not show */
    uint32_t view;   /* of the sample's images, if there are several */
};

/* <figure> up to the caption; the caller writes one and calls sheet_end_figure(). */
void sheet_image(struct sheet *s, const char *mime, const void *bytes, size_t n);
void sheet_no_image(struct sheet *s, const char *why); /* counted as failed */
void sheet_label(struct sheet *s, const float *labels, uint32_t n);
/* Draws what is known of the image in a slot: boxes in the colours of their classes, the mask's
 * classes as tints, keypoints as crosses. And the caption that says it. */
void sheet_marks(const struct imrec_image *image, const struct imrec_iter_options *o,
                 const struct imrec_batch *b, uint32_t slot);
void sheet_say_marks(struct sheet *s, const struct imrec_iter_options *o,
                     const struct imrec_batch *b, uint32_t slot);
void sheet_end_figure(struct sheet *s);

/* A slot of a batch: its image (frames are drawn into it), label and draws. */
void sheet_delivered(struct sheet *s, const struct imrec_iter_options *o,
                     const struct imrec_batch *b, uint32_t slot, const struct imrec_image *image);
/* The drawn values that are not neutral; the line continues with <br>. */
void sheet_draw(FILE *out, const struct imrec_draw *d);
bool sheet_is_detection(const struct imrec_iter_options *o); /* aug_seq=det_aug_default */
bool sheet_has_boxes(const struct imrec_iter_options *o);    /* that, or boxes=1 */
void sheet_unnormalized(struct imrec_iter_options *o);       /* values are pixels */

/* What the iterator delivers: pairs are its options. Returns an exit status. */
int sheet_augmented(struct sheet *s, const char *name, const char *uri, char *const *pairs, int n);

/* Of the first image of the partition that pairs name: `draws` draws of every augmenter, and
 * each one's rows of the table. Returns an exit status. */
int sheet_grid(struct sheet *s, const char *name, const char *uri, uint64_t draws,
               char *const *pairs, int n);
/* The first `most` records of a partition, as packed. */
enum imrec_status sheet_partition(struct sheet *s, const char *uri, uint64_t part, uint64_t parts,
                                  uint64_t most, struct imrec_error *err);
#endif
