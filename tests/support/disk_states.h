/* tests/support/disk_states.h - what a disk may hold when a machine stops in the middle of a
 * disk_log.
 *
 * What POSIX promises: the bytes and the size of a file when it was synced, the names of a folder
 * when that was. All the rest may be there or not: any page of 4096 bytes of what was written
 * since, the size without the bytes (zeros, or what was on the disk before), a new name without the
 * file's bytes, bytes without a name, one name and not the one before it. */
#ifndef IMREC_TESTS_DISK_STATES_H
#define IMREC_TESTS_DISK_STATES_H

#include "tests/support/disk_log.h"

enum disk_luck {
    DISK_ALL,   /* nothing is lost */
    DISK_NONE,  /* all that no sync has made durable is */
    DISK_NAMES, /* bytes and sizes are lost, names are not */
    DISK_SIZES, /* bytes are lost, names and sizes are not */
    DISK_BYTES, /* names are lost, bytes are not */
    DISK_BUT,   /* the call `which` is lost alone */
    DISK_JUST,  /* the call `which` is the only one that is not lost */
    DISK_CHANCE /* each call and page by chance, of the seed `which` */
};

struct disk_choice {
    size_t cut; /* calls before the machine stops */
    enum disk_luck luck;
    uint64_t which;
};

/* Free it with disk_image_free(). */
struct disk_image *disk_state(const struct disk_log *log, struct disk_choice c);

/* Steps through the choices that are worth looking at, `chances` of chance at every cut; begins
 * with a zeroed one. */
bool disk_next_choice(const struct disk_log *log, int chances, struct disk_choice *c);
/* Whether bytes that are lost are what was on the disk before, not zeros. */
bool disk_choice_has_old_bytes(const struct disk_choice *c);
/* "after call 17 of 80 (rename b.rec.part to b.rec), all lost" */
const char *disk_choice_text(const struct disk_log *log, struct disk_choice c);
#endif
