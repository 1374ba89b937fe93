/* tools/doctor/doctor_cache.h - how much of files the page cache holds. */
#ifndef IMREC_TOOLS_DOCTOR_DOCTOR_CACHE_H
#define IMREC_TOOLS_DOCTOR_DOCTOR_CACHE_H

#include "imrec/error.h"

#include <stdbool.h>
#include <stdint.h>

struct cached {                          /* of one file, or summed over several */
    uint64_t bytes, looked_at, in_cache; /* in_cache: of looked_at, which may be less than bytes */
    bool unknown; /* the kernel does not say it of files that this user may not write */
};

/* Adds a local file to the sum, without reading it: at most until `until_ns` of clock_ns(). */
IMREC_NODISCARD enum imrec_status
cached_add(const char *path, uint64_t until_ns, struct cached *c, struct imrec_error *err);
#endif
