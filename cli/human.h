/* cli/human.h - numbers for people; each writes into the caller's text and returns it. */
#ifndef IMREC_CLI_HUMAN_H
#define IMREC_CLI_HUMAN_H

#include <stdint.h>

#define HUMAN_BYTES  32
#define HUMAN_THINGS 64

const char *human_count(uint64_t n, char out[HUMAN_BYTES]); /* 1,281,167 */
/* "1 finding", "1,281,167 records", "2 batches", "0 index entries": `noun` is of one. */
const char *human_things(uint64_t n, const char *noun, char out[HUMAN_THINGS]);
const char *human_size(uint64_t bytes, char out[HUMAN_BYTES]); /* 847 B, 1.5 KiB, 137 GiB */
const char *human_seconds(double s, char out[HUMAN_BYTES]);    /* 0.8 s, 12 s, 3:05, 27:46:40 */
#endif
