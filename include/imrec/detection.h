/* imrec/detection.h - images with boxes: the layout of a batch's labels with
 * aug_seq=det_aug_default (preset=ImageDetRecordIter). See docs/guide/detection.md. */
#ifndef IMREC_DETECTION_H
#define IMREC_DETECTION_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A label of a batch, label_width floats:
 *     channels, rows, columns of the image in the slot; number of values that follow;
 *     header width A, object width B, A - 2 numbers more; objects of B numbers; label_pad_value ...
 * An object is class, xmin, ymin, xmax, ymax, B - 5 numbers more; coordinates are fractions of
 * columns and rows, 0 <= xmin < xmax <= 1. With resize_mode=force rows and columns are those of
 * data_shape; otherwise the image is in the slot's upper left corner. */
struct imrec_detections {
    uint32_t channels, rows, columns;
    const float *header; /* header_width values, the two widths first */
    uint32_t header_width;
    const float *objects; /* count * object_width values */
    uint32_t object_width, count;
};

/* Reads the label of a slot. A padding or failed slot has none: all fields are 0. The pointers
 * point into `label`. */
static inline struct imrec_detections imrec_detections_of(const float *label)
{
    struct imrec_detections d = {0, 0, 0, 0, 0, 0, 0, 0};
    const uint32_t n = (uint32_t)label[3];
    if (n < 2)
        return d;
    d.channels = (uint32_t)label[0];
    d.rows = (uint32_t)label[1];
    d.columns = (uint32_t)label[2];
    d.header = label + 4;
    d.header_width = (uint32_t)d.header[0];
    d.object_width = (uint32_t)d.header[1];
    d.objects = d.header + d.header_width;
    d.count = n > d.header_width ? (n - d.header_width) / d.object_width : 0;
    return d;
}

/* Returns whether n labels of a record or a list are boxes: widths are whole numbers and fit, there
 * is at least one object, classes are 0 or more, and corners are fractions of the image's sides. */
static inline bool imrec_labels_are_boxes(const float *values, uint32_t n)
{
    if (n < 7 ||
        !(values[0] >= 2 && values[0] < (float)n && values[1] >= 5 && values[1] < (float)n))
        return false;
    const uint32_t a = (uint32_t)values[0], b = (uint32_t)values[1];
    if (values[0] != (float)a || values[1] != (float)b || (n - a) % b != 0)
        return false;
    for (uint32_t at = a; at < n; at += b) {
        const float *o = values + at;
        if (!(o[0] >= 0 && o[1] >= -1 && o[2] >= -1 && o[3] <= 2 && o[4] <= 2 && o[1] <= o[3] &&
              o[2] <= o[4]))
            return false;
    }
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
