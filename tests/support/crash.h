/* tests/support/crash.h - machines that stop while a command runs: every call that it makes of a
 * disk is recorded, and replayed cut at every point, with what no sync had made durable lost, torn
 * or reordered.
 *
 * Of each state is asked: no file under its final name is torn, none of the inputs is another, and
 * whatever the test says; and of the last one, whatever is lost, that all is there of which the
 * command has said that it is. Then the command that follows ends as an undisturbed one. */
#ifndef IMREC_TESTS_CRASH_H
#define IMREC_TESTS_CRASH_H

#include "tests/support/disk_states.h"

#define CRASH_CHANCES 2 /* states by chance at every cut; IMREC_CRASH_CHANCES: another number */

enum { CRASH_PUBLISHED = 256 };

struct crash;
typedef void crash_look_fn(struct crash *c, const struct disk_image *now);

struct crash {
    const char *title;
    const char *folder;   /* that is recorded */
    const char *where;    /* the states are written there; may be the same folder */
    const char *inputs;   /* a folder in it that stays as it is, "in"; NULL: none */
    bool (*run)(void);    /* what is stopped; false: it failed, with a reason in `why` */
    void (*change)(void); /* after it ran; may be NULL */
    crash_look_fn *look;  /* at a state that is in `where`; may be NULL */
    crash_look_fn *again; /* goes on from it; adds to `ended` what ended right */
    const char *why;
    bool may_tear; /* files may be torn under their final names: `look` says when */
    bool strict;   /* when it has ended, nothing else has a final name, whatever is lost */

    struct disk_image *before, *after; /* of the folder, when nothing stops */
    struct disk_log *log;
    struct disk_choice choice; /* of the state in hand */
    size_t states, ended, refused;
    struct disk_image *published[CRASH_PUBLISHED]; /* after each rename to a final name */
    int published_count;
    uint64_t *seen;
};

/* Runs it, recorded, then `again` from whatever a disk may hold after it was stopped. */
void crash_try(struct crash *c);
/* Its first half: before, after and log are there. */
void crash_record(struct crash *c);
void crash_forget(struct crash *c);

/* The test fails: the state in hand, the file, what is wrong with it. */
_Noreturn void crash_stop(const struct crash *c, const char *what, const char *why);
bool crash_is_part(const char *name); /* "b.rec.part" */
/* Whether all files of `whole` that have final names are there and the same: those directly in the
 * folder `in` ("": the folder itself), or all with NULL. */
bool crash_is_set(const struct disk_image *now, const struct disk_image *whole, const char *in);
/* A set that `verifies` calls whole is the old one or the new one; `manifest` is its last file. */
void crash_check_set(const struct crash *c, const struct disk_image *now, const char *manifest,
                     bool (*verifies)(const char *path));
/* Bytes that nobody wrote are not taken for a lock: it is refused, named in `message`, and to be
 * removed. Whether one was: the call is to be made again. */
bool crash_remove_lock(const struct crash *c, const char *message, const char *const *locks);
/* "where/name", in one of 4 buffers that take turns. */
const char *crash_path(const struct crash *c, const char *name);
#endif
