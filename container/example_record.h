/* container/example_record.h - a tf.train.Example as a record: which features are its image, its
 * labels and its mask. */
#ifndef IMREC_CONTAINER_EXAMPLE_RECORD_H
#define IMREC_CONTAINER_EXAMPLE_RECORD_H

#include "container/container.h"

#define EXAMPLE_IMAGE "image/encoded" /* TensorFlow's names of them */
#define EXAMPLE_LABEL "image/class/label"
#define EXAMPLE_MASK  "image/segmentation/class/encoded"

struct example_names {
    char *image, *label, *mask; /* label "none": there are none, and none is asked for */
    const char *image_option, *label_option; /* what names them, for messages; static */
};

/* Those of the options; NULL and "" are TensorFlow's. */
IMREC_NODISCARD enum imrec_status example_names_copy(struct example_names *n,
                                                     const struct container_options *o,
                                                     struct imrec_error *err);
/* Whether the Example has the feature that is its image. */
IMREC_NODISCARD enum imrec_status example_has_image(const struct example_names *n,
                                                    struct bytes example, bool *has,
                                                    struct imrec_error *err);
void example_names_free(struct example_names *n); /* zeroed memory is fine */

/* The parts of *out, whose id is set, out of an Example. Fields are all features but the image, the
 * labels (unless labels are none) and a mask that is asked for, sorted by name; one of several
 * values of bytes is as many fields of its name, one without values none. */
IMREC_NODISCARD enum imrec_status
example_record(const struct example_names *n, struct bytes example, unsigned wanted,
               struct parse_room *room, struct record *out, struct imrec_error *err);
#endif
