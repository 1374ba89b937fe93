/* tools/view/browse_index.h - the heads of all records of a set in memory, and searches in them. */
#ifndef IMREC_TOOLS_VIEW_BROWSE_INDEX_H
#define IMREC_TOOLS_VIEW_BROWSE_INDEX_H

#include "tools/commands/command.h"

enum { BROWSE_DAMAGED = 1, BROWSE_NO_IMAGE = 2 };

struct browse_entry { /* 32 bytes a record */
    uint64_t id, offset;
    float label;    /* the first; NaN: it has none */
    uint32_t bytes; /* of the record, up to the next one; UINT32_MAX: that or more */
    uint32_t shard;
    uint32_t flags; /* of damage: what its head shows, and what showing its image has found */
};

struct browse_index {
    struct browse_entry *entries;
    uint64_t count;
    char **shards; /* URIs as they may be shown */
    uint32_t shard_count;
};

/* Reads every head, with a progress line. The reader stays the caller's. IMREC_ERR_LIMIT: there are
 * more records than `most`. */
IMREC_NODISCARD enum imrec_status browse_index_make(struct imrec_reader *reader, uint64_t most,
                                                    struct browse_index *out,
                                                    struct imrec_error *err);
void browse_index_free(struct browse_index *x);

struct browse_query {
    bool has_id, has_label, damaged;
    uint64_t id;
    float label;
    uint64_t min_bytes, max_bytes; /* of the record */
    uint64_t page;                 /* from 0 */
    char class_text[128];          /* as asked for: a number, or a name that `label` is of */
};

#define BROWSE_PAGE 60

/* Fills numbers[0..BROWSE_PAGE) with the records of the page; returns how many, and in *total of
 * all pages. */
uint32_t browse_find(const struct browse_index *x, const struct browse_query *q,
                     uint64_t numbers[BROWSE_PAGE], uint64_t *total);

/* "class=cat&id=5&min=1&max=9&damaged=1&page=2", percent-encoded. False, and what is wrong in *why,
 * for anything else: a name that no class has, a parameter that there is not. */
bool browse_query_read(const char *text, const struct imrec_classes *classes,
                       struct browse_query *out, char why[200]);
/* The same text without the page, each parameter with "&amp;" after it, for links in a page. */
void browse_query_write(const struct browse_query *q, FILE *out);
#endif
