/* tests/support/crash.c */
#include "tests/support/crash.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEN (1u << 16)

_Noreturn void crash_stop(const struct crash *c, const char *what, const char *why)
{
    ck_abort_msg("%s: %s: %s", disk_choice_text(c->log, c->choice), what, why);
    abort();
}

const char *crash_path(const struct crash *c, const char *name)
{
    static char paths[4][600];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", c->where, name);
    return path;
}

/* ---- final names ----------------------------------------------------------------------------- */

bool crash_is_part(const char *name)
{
    const size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".part") == 0;
}

static void note_published(struct crash *c)
{
    c->published_count = 0;
    for (size_t i = 0; i < c->log->count; i++) {
        const struct disk_op *o = &c->log->ops[i];
        if ((o->kind != DISK_RENAME && o->kind != DISK_LINK) || crash_is_part(o->to))
            continue;
        ck_assert_int_lt(c->published_count, CRASH_PUBLISHED);
        c->published[c->published_count++] = disk_state(c->log, (struct disk_choice){.cut = i + 1});
    }
}

static bool is_whole(const struct crash *c, const struct disk_image *now, const char *name)
{
    for (int i = 0; i < c->published_count; i++)
        if (disk_image_same(now, c->published[i], name))
            return true;
    return disk_image_same(now, c->before, name);
}

static void check_names(const struct crash *c, const struct disk_image *now)
{
    for (int i = 0; !c->may_tear && i < now->count; i++) {
        const struct disk_file *f = &now->files[i];
        if (!f->folder && !crash_is_part(f->name) && !is_whole(c, now, f->name))
            crash_stop(c, f->name, "has its final name and is not whole");
    }
}

/* ---- sets ------------------------------------------------------------------------------------ */

static bool is_in(const char *name, const char *folder)
{
    const size_t n = folder != NULL ? strlen(folder) : 0;
    if (n == 0)
        return folder == NULL || strchr(name, '/') == NULL;
    return strncmp(name, folder, n) == 0 && name[n] == '/' && strchr(name + n + 1, '/') == NULL;
}

bool crash_is_set(const struct disk_image *now, const struct disk_image *whole, const char *in)
{
    for (int i = 0; i < whole->count; i++) {
        const struct disk_file *f = &whole->files[i];
        if (!f->folder && !crash_is_part(f->name) && is_in(f->name, in) &&
            !disk_image_same(now, whole, f->name))
            return false;
    }
    return true;
}

void crash_check_set(const struct crash *c, const struct disk_image *now, const char *manifest,
                     bool (*verifies)(const char *path))
{
    char in[DISK_NAME];
    const char *slash = strrchr(manifest, '/');
    const bool is_new = disk_image_same(now, c->after, manifest);
    snprintf(in, sizeof(in), "%.*s", slash != NULL ? (int)(slash - manifest) : 0, manifest);
    if (is_new && !disk_image_same(c->before, c->after, manifest) &&
        !crash_is_set(now, c->after, in))
        crash_stop(c, manifest, "is there, the last of all files, and another one is not");
    if (disk_image_find(now, manifest) == NULL || !verifies(crash_path(c, manifest)))
        return;
    if (!crash_is_set(now, is_new ? c->after : c->before, in))
        crash_stop(c, manifest, "is verified, and the set is not what it was or is to be");
}

bool crash_remove_lock(const struct crash *c, const char *message, const char *const *locks)
{
    for (; disk_choice_has_old_bytes(&c->choice) && *locks != NULL; locks++)
        if (strstr(message, *locks) != NULL)
            return remove(crash_path(c, *locks)) == 0;
    return false;
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool is_new(struct crash *c, const struct disk_image *now)
{
    const uint64_t h = disk_image_hash(now);
    for (size_t i = h % SEEN;; i = (i + 1) % SEEN) {
        if (c->seen[i] == h)
            return false;
        if (c->seen[i] == 0) {
            c->seen[i] = h;
            c->states++;
            return true;
        }
    }
}

static void check_inputs(const struct crash *c, const struct disk_image *now)
{
    if (c->inputs != NULL && !crash_is_set(now, c->before, c->inputs))
        crash_stop(c, c->inputs, "is no longer what was given");
}

/* The command has said that it has done it. */
static void check_last(const struct crash *c, const struct disk_image *now)
{
    if (c->choice.cut < c->log->count)
        return;
    if (!crash_is_set(now, c->after, NULL))
        crash_stop(c, disk_image_differs(c->after, now), "was reported as done, and is not there");
    for (int i = 0; c->strict && i < now->count; i++)
        if (!crash_is_part(now->files[i].name) &&
            disk_image_find(c->after, now->files[i].name) == NULL)
            crash_stop(c, now->files[i].name, "was removed, and is there");
}

static void check_state(struct crash *c)
{
    struct disk_image *now = disk_state(c->log, c->choice);
    check_last(c, now);
    if (is_new(c, now)) {
        check_names(c, now);
        check_inputs(c, now);
        disk_image_write(now, c->where);
        if (c->look != NULL)
            c->look(c, now);
        c->again(c, now);
    }
    disk_image_free(now);
}

static int chances(void)
{
    const char *text = getenv("IMREC_CRASH_CHANCES");
    return text != NULL ? atoi(text) : CRASH_CHANCES;
}

/* ---- runs ------------------------------------------------------------------------------------ */

void crash_record(struct crash *c)
{
    c->before = disk_image_read(c->folder);
    disk_log_begin(c->folder);
    const bool good = c->run();
    c->log = disk_log_end();
    ck_assert_msg(good, "%s", c->why);
    c->after = disk_image_read(c->folder);
    struct disk_image *replayed = disk_state(c->log, (struct disk_choice){.cut = c->log->count});
    ck_assert_msg(disk_image_differs(replayed, c->after) == NULL,
                  "a call was not recorded: %s is another", disk_image_differs(replayed, c->after));
    disk_image_free(replayed);
}

void crash_forget(struct crash *c)
{
    while (c->published_count > 0)
        disk_image_free(c->published[--c->published_count]);
    disk_image_free(c->before);
    disk_image_free(c->after);
    disk_log_free(c->log);
    free(c->seen);
    c->seen = NULL;
}

void crash_try(struct crash *c)
{
    crash_record(c);
    note_published(c);
    if (c->change != NULL)
        c->change();
    c->states = c->ended = c->refused = 0;
    c->choice = (struct disk_choice){0};
    c->seen = calloc(SEEN, sizeof(*c->seen));
    do
        check_state(c);
    while (disk_next_choice(c->log, chances(), &c->choice));
    printf("%s: %zu calls, %zu different states; after %zu the next run ended right, %zu times "
           "with force\n",
           c->title, c->log->count, c->states, c->ended, c->refused);
    ck_assert_uint_gt(c->ended, c->log->count / 4); /* most states of a long file are one */
    crash_forget(c);
}
