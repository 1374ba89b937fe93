/* im2rec/list/annotations.h - images with boxes, out of annotations, as the lines of a .lst: labels
 * are those of MXNet's detection lists, "2 6", then class, xmin, ymin, xmax, ymax in shares of the
 * image's sides, and whether the object is difficult, for each object; then its keypoints, where
 * they are wanted: "2 6+3K", and x, y (shares, too) and visibility of K. */
#ifndef IMREC_IM2REC_LIST_ANNOTATIONS_H
#define IMREC_IM2REC_LIST_ANNOTATIONS_H

#include "base/string_arena.h"
#include "formats/set/class_list.h"

struct box_image {
    uint64_t id;
    const char *path;
    double width, height; /* px */
};
struct box_object {
    uint64_t image; /* its id */
    int64_t category;
    size_t place;      /* in the order of the annotations */
    double corners[4]; /* xmin, ymin, xmax, ymax, px */
    bool difficult;
    size_t points; /* first of 3 values of each keypoint, px; SIZE_MAX: it has none */
};
struct box_category {
    int64_t id; /* classes are numbered in the order of these ... */
    const char *name;
    uint32_t number; /* ... or as the given class list does */
};
struct annotations {
    const char *name; /* of the annotations, for messages */
    struct string_arena texts;
    struct box_image *images;
    struct box_object *objects;
    struct box_category *categories;
    size_t image_count, object_count, category_count;
    uint64_t image_room, object_room, category_room;
    uint64_t without;   /* images that have no object */
    uint32_t keypoints; /* of each object */
    float *points;
    size_t point_count; /* values */
    uint64_t point_room;
    uint64_t empty; /* objects without an area inside their image: skipped */
};

IMREC_NODISCARD enum imrec_status annotations_add_image(struct annotations *b, uint64_t id,
                                                        const char *path, size_t n, double width,
                                                        double height, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
annotations_add_object(struct annotations *b, const struct box_object *o, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status annotations_add_category(struct annotations *b, int64_t id,
                                                           const char *name, size_t n,
                                                           struct imrec_error *err);
/* The category of that name, or a new one. */
IMREC_NODISCARD enum imrec_status annotations_category(struct annotations *b, const char *name,
                                                       size_t n, int64_t *id,
                                                       struct imrec_error *err);
void annotations_free(struct annotations *b); /* zeroed memory is fine */

/* n values of keypoints; *at is where they are. */
IMREC_NODISCARD enum imrec_status annotations_add_points(struct annotations *b, const float *values,
                                                         size_t n, size_t *at,
                                                         struct imrec_error *err);
/* COCO's instances file, or its file of keypoints; 0 keypoints: they are skipped. */
IMREC_NODISCARD enum imrec_status annotations_read_coco(const char *path, uint32_t keypoints,
                                                        struct annotations *out,
                                                        struct imrec_error *err);
/* A folder of Pascal VOC's files: *.xml, in the order of their names. */
IMREC_NODISCARD enum imrec_status
annotations_read_voc(const char *folder, struct annotations *out, struct imrec_error *err);

struct annotations_order {
    bool shuffle;
    int64_t seed;
    const struct class_list *given; /* or NULL: *classes becomes the list of the categories */
    bool new_classes; /* *classes becomes the given ones, and after them those of other names */
    bool drop_empty;  /* images without an object get no line */
};
/* Appends the lines. */
IMREC_NODISCARD enum imrec_status
annotations_write(struct annotations *b, const struct annotations_order *how, struct buf *text,
                  struct class_list *classes, struct imrec_error *err);
#endif
