/* container/archive/sample_spec.h - which files of a sample are its image, its label and its mask,
 * as image=, label= and mask= say it. */
#ifndef IMREC_CONTAINER_ARCHIVE_SAMPLE_SPEC_H
#define IMREC_CONTAINER_ARCHIVE_SAMPLE_SPEC_H

#include "base/bytes.h"
#include "imrec/error.h"

#include <stdbool.h>

#define SAMPLE_SPEC_IMAGES 16u
#define SAMPLE_NO_IMAGE    UINT32_MAX

struct sample_spec {
    char text[3][256]; /* of image=, label= and mask=, cut into words */
    const char *image[SAMPLE_SPEC_IMAGES];
    uint32_t image_count; /* 0: the first file that has a usual suffix of images */
    const char *label;    /* an extension; NULL: there are no labels, and none is asked for */
    const char *json;     /* the path to the label in that file; NULL: it is numbers as text */
    const char *mask;     /* an extension; NULL: mask.png, or mask */
};

/* image: "" or "jpg,left.png"; label: "" (cls), "none", "EXTENSION" or "json:path.in.it"; mask: ""
 * or "EXTENSION". NULL is "". */
IMREC_NODISCARD enum imrec_status sample_spec_parse(const char *image, const char *label,
                                                    const char *mask, struct sample_spec *out,
                                                    struct imrec_error *err);
/* Of several files the one of the lowest rank is the image, of equal ones the first.
 * SAMPLE_NO_IMAGE: it is none. In any case of letters. */
uint32_t sample_spec_rank(const struct sample_spec *s, struct bytes extension);
bool sample_spec_is_label(const struct sample_spec *s, struct bytes extension);
/* Of each pixel its class (docs/guide/segmentation.md). */
bool sample_spec_is_mask(const struct sample_spec *s, struct bytes extension);
#endif
