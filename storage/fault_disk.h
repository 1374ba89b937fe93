/* storage/fault_disk.h - the time a disk with one head takes. */
#ifndef IMREC_STORAGE_FAULT_DISK_H
#define IMREC_STORAGE_FAULT_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISK_AHEAD 256u /* ranges that are read ahead at most; older ones are forgotten */

struct disk_ahead { /* bytes [begin, end) of a file, on their way into memory */
    uint64_t file, begin, end, ready_ns;
};

struct disk {
    uint64_t idle_at_ns;
    uint64_t file, offset; /* the position of the head; file 0: none */
    uint64_t seeks;
    struct disk_ahead ahead[DISK_AHEAD];
    uint64_t noted; /* ranges ever */
};

struct disk_speed {
    uint64_t seek_ns, mb_per_s; /* 10^6 bytes a second; 0: no limit */
};

/* Reads at most *n bytes; *n becomes how many are read at once, at least 1. Returns when they are
 * there, on the clock of clock_ns(). */
uint64_t disk_read(struct disk *d, struct disk_speed s, uint64_t file, uint64_t offset, size_t *n);
/* Begins to read ahead, after the queued requests. */
void disk_will_need(struct disk *d, struct disk_speed s, uint64_t file, uint64_t offset,
                    uint64_t n);

void disk_sleep_until(uint64_t ns);
#endif
