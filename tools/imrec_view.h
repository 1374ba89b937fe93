/* tools/imrec_view.h - what the two kinds of contact sheets share. */
#ifndef IMREC_TOOLS_IMREC_VIEW_H
#define IMREC_TOOLS_IMREC_VIEW_H

#include "tools/imrec.h"

struct sheet {
    FILE *out;
    struct imrec_decoder *decoder;
    struct imrec_classes *classes;
    uint64_t wanted, shown, failed;
};

/* <figure> up to the caption; the caller writes one and calls sheet_end_figure(). */
void sheet_picture(struct sheet *s, const char *mime, const void *bytes, size_t n);
void sheet_no_picture(struct sheet *s, const char *why); /* counted as failed */
void sheet_label(struct sheet *s, const float *labels, uint32_t n);
/* Pictures with boxes: frames in the colours of their classes, and the caption that says them. */
void sheet_frames(const struct imrec_image *image, const float *label);
void sheet_boxes(struct sheet *s, const float *label);
void sheet_end_figure(struct sheet *s);

/* What the iterator delivers: pairs are its options. Returns an exit status. */
int sheet_augmented(struct sheet *s, const char *name, const char *uri, char *const *pairs, int n);
#endif
