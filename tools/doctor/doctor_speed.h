/* tools/doctor/doctor_speed.h - how fast the storage of files gives bytes to one thread. */
#ifndef IMREC_TOOLS_DOCTOR_DOCTOR_SPEED_H
#define IMREC_TOOLS_DOCTOR_DOCTOR_SPEED_H

#include "imrec/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPEED_READS 64
#define SPEED_BYTES (1u << 20) /* of a read: 64 MiB in all */

struct speed {
    uint64_t bytes, reads;
    double seconds;             /* of all reads */
    double median_ms, worst_ms; /* of a read */
    bool direct;                /* past the page cache; false: through it, or from a store */
};

/* Reads up to SPEED_READS times SPEED_BYTES at places spread over the files, in order, until 2
 * seconds have passed (a read that has begun is waited for). `files` are URIs with their sizes. */
struct speed_file {
    const char *uri;
    uint64_t bytes;
};
IMREC_NODISCARD enum imrec_status
speed_measure(const struct speed_file *files, size_t n, struct speed *out, struct imrec_error *err);
#endif
