/* tools/top/top_text.h - Prometheus' text into the numbers of loaders. */
#ifndef IMREC_TOOLS_TOP_TOP_TEXT_H
#define IMREC_TOOLS_TOP_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum top_number {
    TOP_IMAGES,
    TOP_BATCHES,
    TOP_FAILED,
    TOP_REPLACED,
    TOP_DAMAGED,
    TOP_READ_BYTES,
    TOP_STORE_BYTES,
    TOP_RETRIES,
    TOP_CONSUMER_WAIT, /* seconds from here */
    TOP_WORKER_WAIT,
    TOP_IO_WAIT,
    TOP_DECODE,
    TOP_AUGMENT, /* to here */
    TOP_EPOCH,
    TOP_SAMPLE,
    TOP_WORKERS,
    TOP_MEMORY,
    TOP_NUMBERS,
};

struct top_sample {                     /* of one loader, at one time */
    char rank[24], ranks[24], set[112]; /* "" where the label is missing; escapes are undone */
    uint64_t at_ns;
    double is[TOP_NUMBERS];
};

#define TOP_LOADERS 16 /* of one text */

/* Fills out[0..most) from the NUL-terminated text; returns how many loaders it names. Lines of
 * other programs, and what is no number, are passed over; numbers that are missing are 0. */
size_t top_parse(const char *text, uint64_t at_ns, struct top_sample *out, size_t most);
#endif
