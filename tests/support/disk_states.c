/* tests/support/disk_states.c */
#include "tests/support/disk_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

struct disk {
    const struct disk_log *log;
    struct disk_choice c;
    bool durable[DISK_OPS];
    struct disk_file files[DISK_FILES]; /* by number; the names are unused */
    struct {
        char name[DISK_NAME];
        int file;
    } names[DISK_FILES];
    int name_count;
};

static bool is_name(const struct disk_op *o)
{
    return o->kind <= DISK_REMOVE;
}

static bool is_sync(const struct disk_op *o)
{
    return o->kind >= DISK_SYNC;
}

/* Whether `name` is directly in the folder of this name. */
static bool is_in(const char *name, const char *folder)
{
    const char *slash = strrchr(name, '/');
    const size_t n = slash != NULL ? (size_t)(slash - name) : 0;
    return strlen(folder) == n && strncmp(name, folder, n) == 0;
}

/* Whether sync makes durable what o did before. */
static bool covers(const struct disk_op *sync, const struct disk_op *o)
{
    if (sync->kind == DISK_SYNC_NAMES)
        return is_name(o) && is_in(o->kind == DISK_LINK ? o->to : o->name, sync->name);
    if (sync->kind == DISK_SYNC)
        return !is_name(o) && o->file == sync->file;
    return sync->kind == DISK_SYNC_ALL;
}

/* Of the calls before op `sync`. */
static void make_durable(struct disk *d, size_t sync)
{
    for (size_t i = 0; i < sync; i++)
        d->durable[i] = d->durable[i] || covers(&d->log->ops[sync], &d->log->ops[i]);
}

/* ---- luck ------------------------------------------------------------------------------------ */

static uint64_t scrambled(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t chance(const struct disk *d, uint64_t a, uint64_t b)
{
    return scrambled(d->c.which * 0x9e3779b97f4a7c15u + scrambled(a * 1000003u + b + 1));
}

/* Whether call i has come so far, if no sync says so. */
static bool arrives(const struct disk *d, size_t i)
{
    switch (d->c.luck) {
    case DISK_ALL:
        return true;
    case DISK_NONE:
        return false;
    case DISK_NAMES:
    case DISK_SIZES:
        return is_name(&d->log->ops[i]);
    case DISK_BYTES:
        return !is_name(&d->log->ops[i]);
    case DISK_BUT:
        return i != d->c.which;
    case DISK_JUST:
        return i == d->c.which;
    case DISK_CHANCE:
        return chance(d, i, 0) % 2 != 0;
    }
    return true;
}

/* A page is on the disk as it was at some time: what was written to it later is lost. */
static bool page_arrives(const struct disk *d, size_t i, uint64_t page)
{
    const uint64_t file = (uint64_t)d->log->ops[i].file;
    if (d->durable[i])
        return true;
    return d->c.luck == DISK_CHANCE ? i < chance(d, file + 77, page) % (d->c.cut + 1)
                                    : arrives(d, i);
}

static bool size_arrives(const struct disk *d, size_t i)
{
    return d->durable[i] || d->c.luck == DISK_SIZES || arrives(d, i);
}

bool disk_choice_has_old_bytes(const struct disk_choice *c)
{
    return c->luck == DISK_CHANCE && c->which % 3 == 0;
}

/* ---- applying -------------------------------------------------------------------------------- */

static void grow(const struct disk *d, struct disk_file *f, uint64_t n)
{
    if (n <= f->n)
        return;
    f->p = realloc(f->p, n + 1);
    memset(f->p + f->n, disk_choice_has_old_bytes(&d->c) ? 0xa5 : 0, n - f->n);
    f->n = n;
}

static void write_pages(struct disk *d, size_t i)
{
    const struct disk_op *o = &d->log->ops[i];
    struct disk_file *f = &d->files[o->file];
    if (size_arrives(d, i))
        grow(d, f, o->at + o->n);
    for (uint64_t at = o->at; at < o->at + o->n;) {
        const uint64_t next = (at / PAGE + 1) * PAGE;
        const uint64_t end = next < o->at + o->n ? next : o->at + o->n;
        if (page_arrives(d, i, at / PAGE)) {
            grow(d, f, end);
            memcpy(f->p + at, o->p + (at - o->at), end - at);
        }
        at = end;
    }
}

static void name(struct disk *d, const char *name, int file) /* -1: nothing has it */
{
    int at = 0;
    while (at < d->name_count && strcmp(d->names[at].name, name) != 0)
        at++;
    if (file < 0) {
        if (at < d->name_count)
            d->names[at] = d->names[--d->name_count];
        return;
    }
    if (at == d->name_count)
        d->name_count++;
    snprintf(d->names[at].name, DISK_NAME, "%s", name);
    d->names[at].file = file;
}

static void apply(struct disk *d, size_t i)
{
    const struct disk_op *o = &d->log->ops[i];
    struct disk_file *f = o->file >= 0 ? &d->files[o->file] : NULL;
    if (o->kind == DISK_WRITE)
        write_pages(d, i);
    if (is_sync(o) || o->kind == DISK_WRITE || !(d->durable[i] || arrives(d, i)))
        return;
    if (o->kind == DISK_CUT && o->n < f->n)
        f->n = o->n;
    else if (o->kind == DISK_CUT)
        grow(d, f, o->n);
    else if (o->kind != DISK_LINK)
        name(d, o->name, o->kind == DISK_NEW ? o->file : -1);
    if (o->kind == DISK_NEW)
        f->folder = o->folder;
    if (o->kind == DISK_RENAME || o->kind == DISK_LINK)
        name(d, o->to, o->file);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct disk_file *)a)->name, ((const struct disk_file *)b)->name);
}

/* Whether the folders are there that the name is in. */
static bool is_reached(const struct disk *d, const char *name)
{
    char folder[DISK_NAME];
    const char *slash = strrchr(name, '/');
    if (slash == NULL)
        return true;
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
    for (int i = 0; i < d->name_count; i++)
        if (strcmp(d->names[i].name, folder) == 0)
            return is_reached(d, folder);
    return false;
}

static struct disk_image *image_of(const struct disk *d)
{
    struct disk_image *image = calloc(1, sizeof(*image));
    for (int i = 0; i < d->name_count; i++) {
        const struct disk_file *from = &d->files[d->names[i].file];
        struct disk_file *to = &image->files[image->count];
        if (!is_reached(d, d->names[i].name))
            continue;
        image->count++;
        snprintf(to->name, DISK_NAME, "%s", d->names[i].name);
        to->folder = from->folder;
        to->n = from->n;
        to->p = malloc(from->n + 1);
        if (from->n != 0)
            memcpy(to->p, from->p, from->n);
    }
    qsort(image->files, (size_t)image->count, sizeof(image->files[0]), by_name);
    return image;
}

struct disk_image *disk_state(const struct disk_log *log, struct disk_choice c)
{
    struct disk *d = calloc(1, sizeof(*d));
    d->log = log;
    d->c = c;
    for (int i = 0; i < log->before.count; i++) {
        const struct disk_file *f = &log->before.files[i];
        d->files[i].n = f->n;
        d->files[i].folder = f->folder;
        d->files[i].p = malloc(f->n + 1);
        if (f->n != 0)
            memcpy(d->files[i].p, f->p, f->n);
        name(d, f->name, i);
    }
    for (size_t i = 0; i < c.cut; i++)
        if (is_sync(&log->ops[i]))
            make_durable(d, i);
    for (size_t i = 0; i < c.cut; i++)
        apply(d, i);
    struct disk_image *image = image_of(d);
    for (int i = 0; i < DISK_FILES; i++)
        free(d->files[i].p);
    free(d);
    return image;
}

/* ---- choices --------------------------------------------------------------------------------- */

/* The first call from *which on that no sync has made durable at this cut. */
static bool next_loose(const struct disk_log *log, size_t cut, uint64_t *which)
{
    for (; *which < cut; ++*which) {
        const struct disk_op *o = &log->ops[*which];
        bool durable = is_sync(o);
        for (size_t i = *which + 1; i < cut && !durable; i++)
            durable = covers(&log->ops[i], o);
        if (!durable)
            return true;
    }
    return false;
}

bool disk_next_choice(const struct disk_log *log, int chances, struct disk_choice *c)
{
    if (c->luck >= DISK_BUT)
        c->which++;
    else
        c->luck++, c->which = 0;
    if (c->luck == DISK_BUT && !next_loose(log, c->cut, &c->which))
        c->luck++, c->which = 0;
    if (c->luck == DISK_JUST && !next_loose(log, c->cut, &c->which))
        c->luck++, c->which = 0;
    if (c->luck == DISK_CHANCE && c->which >= (uint64_t)chances)
        *c = (struct disk_choice){.cut = c->cut + 1};
    return c->cut <= log->count;
}

static const char *op_text(const struct disk_log *log, size_t i)
{
    static const char *const kinds[] = {"new", "rename", "link",  "remove", "write",
                                        "cut", "sync",   "names", "all"};
    static char text[2][256];
    static int turn;
    const struct disk_op *o = &log->ops[i];
    turn = 1 - turn;
    snprintf(text[turn], sizeof(text[0]), "%s %s %s, file %d, %llu bytes at %llu", kinds[o->kind],
             o->name, o->to, o->file, (unsigned long long)o->n, (unsigned long long)o->at);
    return text[turn];
}

const char *disk_choice_text(const struct disk_log *log, struct disk_choice c)
{
    static const char *const lucks[] = {"nothing lost", "all lost",       "bytes and sizes lost",
                                        "bytes lost",   "names lost",     "one call lost",
                                        "one call",     "pages by chance"};
    static char text[1024];
    const bool one = c.luck == DISK_BUT || c.luck == DISK_JUST;
    snprintf(text, sizeof(text), "after call %zu of %zu (%s): %s %llu (%s)", c.cut, log->count,
             c.cut > 0 ? op_text(log, c.cut - 1) : "none", lucks[c.luck],
             (unsigned long long)c.which, one ? op_text(log, c.which) : "");
    return text;
}
