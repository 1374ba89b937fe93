/* im2rec/item/tally.h - what became of the images, counted: the data set's card. Constant memory.
 */
#ifndef IMREC_IM2REC_ITEM_TALLY_H
#define IMREC_IM2REC_ITEM_TALLY_H

#include "base/bytes.h"
#include "container/folder/reason.h"
#include "imrec/packer.h"

/* What became of one image. */
struct outcome {
    uint64_t index;         /* in the list, from 0 */
    enum reason reason;     /* REASON_NONE: packed, and the fields below count */
    uint32_t width, height; /* of the packed image, px; 0: not looked at */
    uint32_t warnings;      /* what the decoder mended */
    int64_t class_index;    /* -1: no class */
    uint64_t file_bytes;
    bool encoded;    /* not stored unchanged; set by the writer */
    bool rewritten;  /* passed through, but written again without loss */
    bool unlabelled; /* its label 0 means none */
    char kind[32];   /* "jpeg baseline"; "" = not looked at */
};

struct tally {
    uint64_t packed, skipped, mended, warnings, file_bytes, unlabelled, rewritten;
    uint64_t reasons[REASON_COUNT];
    struct imrec_pack_count kinds[IMREC_PACK_KINDS];
    uint64_t encoded[IMREC_PACK_KINDS]; /* of each kind */
    uint32_t kind_count;
    struct imrec_pack_skip first[IMREC_PACK_SKIPS];
    uint32_t first_count;
    uint64_t *sizes; /* widths, then heights: one counter for each number of pixels */
    uint64_t *classes;
    uint64_t class_count;
};

IMREC_NODISCARD enum imrec_status
tally_init(struct tally *t, uint64_t classes, struct imrec_error *err);
void tally_add(struct tally *t, const struct outcome *o);
/* Of a skipped image that was added, what the report says of it: the first ones are kept. */
void tally_note_skip(struct tally *t, struct bytes report_line);
void tally_result(const struct tally *t, struct imrec_pack_result *out);
void tally_free(struct tally *t); /* zeroed memory is fine */
#endif
