/* formats/set/image_list.h - .lst: one line an image, "id <tab> label ... <tab> path".
 * docs/formats/lst.md is the specification. */
#ifndef IMREC_FORMATS_SET_IMAGE_LIST_H
#define IMREC_FORMATS_SET_IMAGE_LIST_H

#include "base/buf.h"
#include "formats/text.h"
#include "imrec/error.h"

/* How labels are read, and so which are refused: a whole number that the type cannot hold
 * (float32 has all up to 2^24, float64 all up to 2^53), for int64 every fraction. */
enum list_labels {
    LIST_LABELS_ROUNDED, /* they do not matter: every number is rounded to float32 */
    LIST_LABELS_FLOAT32,
    LIST_LABELS_FLOAT64,
    LIST_LABELS_INT64,
};
union list_label { /* of the last two */
    double f;
    int64_t i;
};

struct image_list_entry { /* lives until the next call on the cursor */
    uint64_t id;
    const float *labels;
    uint32_t label_count; /* at least 1 */
    struct bytes path;    /* the rest of the line, literally; not empty, no tab, no NUL */
};

struct image_list {
    const char *name; /* of the file, for messages; borrowed */
    uint32_t label_width;
    enum list_labels type; /* to be set after image_list_begin() */
    uint32_t typed;        /* of a line's first labels: the others do not matter; 0: of all */
    bool packs;            /* likewise: these go into records, where NaN and infinity are refused */
    uint32_t columns;      /* that every line has after its path, each after a tab */
    struct bytes last; /* these of the entry's line, with the tabs between; as long as the entry */
    struct text_lines lines;
    float *labels;
    union list_label *exact; /* the entry's labels in the type, where that is not float32 */
    uint64_t labels_cap, exact_cap;
};

/* Begins at a piece of text, as text_lines_begin() does; continue with text_lines_feed() on
 * ->lines. `label_width` labels are expected on a line; 0: as many as there are. */
void image_list_begin(struct image_list *l, const char *name, uint32_t label_width,
                      struct bytes piece, uint64_t offset, uint64_t lines_before);

/* The next line; blank ones are skipped. IMREC_END: the piece is used up.
 * IMREC_ERR_CORRUPT names file, line and field; the call after it continues with the next line. */
IMREC_NODISCARD enum imrec_status
image_list_next(struct image_list *l, struct image_list_entry *out, struct imrec_error *err);
void image_list_end(struct image_list *l); /* zeroed memory is fine */

/* Appends one line. A path that the format cannot hold (empty, or with a tab, a line end or a
 * NUL in it) and an entry without a label are IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status
image_list_write(struct buf *out, const struct image_list_entry *entry, struct imrec_error *err);
#endif
