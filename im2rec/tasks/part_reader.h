/* im2rec/tasks/part_reader.h - the records of a task that is a part of a shard, one after the
 * other. */
#ifndef IMREC_IM2REC_TASKS_PART_READER_H
#define IMREC_IM2REC_TASKS_PART_READER_H

#include "im2rec/tasks/plan.h"
#include "storage/source.h"

struct part_reader { /* zeroed at first */
    struct source *source;
    char name[PLAN_URI_BYTES];
    uint8_t *held;
    size_t room, from, n; /* held[from..n) is not yet given */
    uint64_t at;          /* of held[n] in the file */
};

/* The file must have `bytes`. */
IMREC_NODISCARD enum imrec_status part_reader_open(struct part_reader *r, const struct plan *p,
                                                   uint64_t k, const char *mark, uint64_t bytes,
                                                   struct imrec_error *err);
/* The next record, whose crc32c is known, into *out, which is emptied before. */
IMREC_NODISCARD enum imrec_status part_reader_next(struct part_reader *r, uint64_t bytes,
                                                   uint32_t crc, struct buf *out,
                                                   struct imrec_error *err);
void part_reader_skip(struct part_reader *r, uint64_t bytes); /* one that is not needed */
void part_reader_close(struct part_reader *r);                /* its memory is kept ... */
void part_reader_free(struct part_reader *r);                 /* ... until here */
#endif
