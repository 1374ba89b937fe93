/* tools/view/browse_page.h - what is served of a set: lists of records, a record, its image. */
#ifndef IMREC_TOOLS_VIEW_BROWSE_PAGE_H
#define IMREC_TOOLS_VIEW_BROWSE_PAGE_H

#include "base/buf.h"
#include "tools/view/browse_index.h"

struct browse {
    const char *title; /* of the set: its URI, which pages show without secrets */
    struct imrec_reader *reader;
    struct imrec_decoder *decoder;
    struct imrec_classes *classes;
    struct imrec_names *names;
    struct browse_index index;
};

void browse_list(const struct browse *b, const struct browse_query *q, FILE *out);
void browse_list_json(const struct browse *b, const struct browse_query *q, FILE *out);
void browse_style(FILE *out);

/* Of record `number` of the index. A record that cannot be read or decoded is marked as damaged. */
void browse_record(struct browse *b, uint64_t number, FILE *out);
/* Its image, or a small one, in `body`; *type is what it is. */
IMREC_NODISCARD enum imrec_status browse_image(struct browse *b, uint64_t number, bool small,
                                               const char **type, struct buf *body,
                                               struct imrec_error *err);
#endif
