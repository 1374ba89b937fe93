/*
 * storage/fault_store.c - the system calls of the file store, made to fail by script.
 *
 * It is below the file store, not above it, so that the loops around short reads and
 * interrupted calls are tested and not replaced.
 */
#include "storage/fault.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/math.h"
#include "base/threads.h"
#include "storage/fault_disk.h"
#include "storage/files/file_lock.h"
#include "storage/files/file_store.h"
#include "storage/schemes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_BYTES 4096u /* a page cannot be read in part */

struct device {
    struct device *next;
    char *text; /* "seek_ms=8,..." or "script=NAME" */
    uint32_t users;
    struct fault_script script;
    struct fault_counts counts;
    uint64_t calls;
    struct disk disk;
    struct mutex lock;
};

struct fault_file {
    struct device *device;
    uint64_t dirty; /* bytes written that the disk does not have */
};

static struct mutex g_lock = MUTEX_INIT; /* of the list and the user counts */
static struct device *g_devices;

/* ---- options -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define FAULT_ROW(name) {#name, offsetof(struct fault_script, name)},
    FAULT_FIELDS(FAULT_ROW)
#undef FAULT_ROW
};

static bool set_field(struct fault_script *s, const char *name, size_t n, uint64_t value)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strlen(fields[i].name) == n && memcmp(fields[i].name, name, n) == 0) {
            memcpy((char *)s + fields[i].offset, &value, sizeof(value));
            return true;
        }
    return false;
}

/* Reads "name=number,name=number". */
static enum imrec_status parse(const char *text, struct fault_script *s, struct imrec_error *err)
{
    for (const char *p = text; *p != '\0';) {
        const size_t n = strcspn(p, "=,"),
                     digits = p[n] == '=' ? strspn(p + n + 1, "0123456789") : 0;
        uint64_t value = 0;
        for (size_t i = 0; i < digits && digits < 19; i++)
            value = value * 10 + (uint64_t)(p[n + 1 + i] - '0');
        const char *end = p + n + 1 + digits;
        if (digits == 0 || digits >= 19 || (*end != ',' && *end != '\0') ||
            !set_field(s, p, n, value))
            return IMREC_REFUSE(err, "fault://%s: '%.*s' is not an option of the form name=number",
                                text, (int)strcspn(p, ","), p);
        p = *end == ',' ? end + 1 : end;
    }
    return IMREC_OK;
}

/* ---- devices -------------------------------------------------------------------------------- */

static struct device *find(const char *text, size_t n)
{
    struct device *d = g_devices;
    while (d != NULL && (strlen(d->text) != n || memcmp(d->text, text, n) != 0))
        d = d->next;
    return d;
}

static void let_go(struct device *d)
{
    if (--d->users != 0)
        return;
    struct device **at = &g_devices;
    while (*at != d)
        at = &(*at)->next;
    *at = d->next;
    mutex_destroy(&d->lock);
    IMREC_FREE(d->text, d);
}

static struct device *create(const char *text, size_t n)
{
    struct device *d = imrec_zalloc(1, sizeof(*d));
    char *copy = imrec_zalloc(n + 1, 1);
    if (d == NULL || copy == NULL) {
        IMREC_FREE(copy, d);
        return NULL;
    }
    memcpy(copy, text, n);
    d->text = copy;
    mutex_init(&d->lock);
    d->next = g_devices;
    g_devices = d;
    return d;
}

static enum imrec_status
use_device(const char *text, size_t n, struct device **out, struct imrec_error *err)
{
    enum imrec_status st = IMREC_OK;
    struct device *d = find(text, n);
    if (d == NULL && n >= 7 && memcmp(text, "script=", 7) == 0)
        return IMREC_REFUSE(err, "fault://%.*s: this script is not set", (int)n, text);
    if (d == NULL) {
        d = create(text, n);
        if (d == NULL)
            return IMREC_NO_MEMORY(err, "fault://%.*s: no memory for it", (int)n, text);
        st = parse(d->text, &d->script, err);
    }
    d->users++;
    if (st != IMREC_OK)
        let_go(d);
    else
        *out = d;
    return st;
}

static void gone(void *user)
{
    struct fault_file *f = user;
    mutex_lock(&g_lock);
    let_go(f->device);
    mutex_unlock(&g_lock);
    imrec_free(f);
}

/* ---- scripts set by tests -------------------------------------------------------------------- */

static struct device *find_script(const char *name)
{
    char text[128];
    return find(text, (size_t)snprintf(text, sizeof(text), "script=%s", name));
}

enum imrec_status fault_set(const char *name, const struct fault_script *s, struct imrec_error *err)
{
    char text[128];
    const int n = snprintf(text, sizeof(text), "script=%s", name);
    mutex_lock(&g_lock);
    struct device *d = find_script(name);
    if (d == NULL) {
        d = create(text, (size_t)n);
        if (d != NULL)
            d->users = 1; /* until it is forgotten */
    }
    if (d != NULL) {
        mutex_lock(&d->lock);
        d->script = *s;
        d->counts = (struct fault_counts){0};
        d->calls = 0;
        d->disk.seeks = 0;
        mutex_unlock(&d->lock);
    }
    mutex_unlock(&g_lock);
    return d != NULL ? IMREC_OK : IMREC_NO_MEMORY(err, "no memory for the script %s", name);
}

struct fault_counts fault_counts(const char *name)
{
    struct fault_counts counts = {0};
    mutex_lock(&g_lock);
    struct device *d = find_script(name);
    if (d != NULL) {
        mutex_lock(&d->lock);
        counts = d->counts;
        counts.seeks = d->disk.seeks;
        mutex_unlock(&d->lock);
    }
    mutex_unlock(&g_lock);
    return counts;
}

void fault_forget(const char *name)
{
    mutex_lock(&g_lock);
    struct device *d = find_script(name);
    if (d != NULL)
        let_go(d);
    mutex_unlock(&g_lock);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Counts a call of one kind; the errno with which it is to fail, or 0. The device is locked. */
static int failure(struct device *d, uint64_t *count, uint64_t fail_at)
{
    d->calls++;
    if (d->script.interrupt != 0 && d->calls % d->script.interrupt == 0)
        return EINTR;
    return ++*count == fail_at || d->calls == d->script.call_eio ? EIO : 0;
}

/* The same of a call that is not interrupted, under the lock. */
static int plain_failure(struct device *d, uint64_t *count, uint64_t fail_at)
{
    mutex_lock(&d->lock);
    d->calls++;
    const bool fails = ++*count == fail_at || d->calls == d->script.call_eio;
    mutex_unlock(&d->lock);
    return fails ? EIO : 0;
}

static int result_of(int code) /* of a call that moves nothing */
{
    errno = code;
    return code == 0 ? 0 : -1;
}

static size_t at_most(size_t n, uint64_t limit)
{
    return limit != 0 && n > limit ? (size_t)limit : n;
}

/* How much of n bytes at `offset` a read gives: up to a bad byte, up to the scripted end. */
static int readable(const struct fault_script *s, uint64_t offset, size_t *n)
{
    *n = at_most(*n, s->short_bytes);
    if (s->ends_at != 0)
        *n = offset >= s->ends_at ? 0 : at_most(*n, s->ends_at - offset);
    const uint64_t begin = s->bad_begin / PAGE_BYTES * PAGE_BYTES;
    const uint64_t end = align_up(s->bad_end, PAGE_BYTES);
    if (offset < end && offset + *n > begin) {
        if (offset >= begin)
            return EIO;
        *n = (size_t)(begin - offset);
    }
    return 0;
}

static uint64_t file_number(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint64_t)info.st_ino : 1;
}

static struct disk_speed speed_of(const struct device *d)
{
    return (struct disk_speed){d->script.seek_ms * 1000000u, d->script.mb_per_s};
}

static void fault_will_need(void *user, int fd, off_t offset, off_t n)
{
    struct device *d = ((struct fault_file *)user)->device;
    const uint64_t file = file_number(fd);
    mutex_lock(&d->lock);
    if (d->script.seek_ms + d->script.mb_per_s != 0)
        disk_will_need(&d->disk, speed_of(d), file, (uint64_t)offset, (uint64_t)n);
    mutex_unlock(&d->lock);
}

static ssize_t fault_pread(void *user, int fd, void *to, size_t n, off_t offset)
{
    struct fault_file *f = user;
    struct device *d = f->device;
    const uint64_t file = file_number(fd);
    uint64_t wake = 0;
    mutex_lock(&d->lock);
    int code = failure(d, &d->counts.reads, d->script.read_eio);
    if (code == 0 && d->script.read_dead != 0 && d->counts.reads >= d->script.read_dead)
        code = EIO;
    if (code == 0)
        code = readable(&d->script, (uint64_t)offset, &n);
    if (code == 0) {
        wake = disk_read(&d->disk, speed_of(d), file, (uint64_t)offset, &n);
        wake += d->script.latency_us * 1000u;
        d->counts.bytes_read += n;
    }
    const bool waits = d->script.seek_ms + d->script.mb_per_s + d->script.latency_us != 0;
    mutex_unlock(&d->lock);
    if (code != 0)
        return result_of(code);
    if (waits)
        disk_sleep_until(wake);
    return n == 0 ? 0 : pread(fd, to, n, offset);
}

static ssize_t fault_pwrite(void *user, int fd, const void *p, size_t n, off_t offset)
{
    struct device *d = ((struct fault_file *)user)->device;
    mutex_lock(&d->lock);
    int code = failure(d, &d->counts.writes, d->script.write_eio);
    n = at_most(n, d->script.short_bytes);
    if (d->script.space != 0) {
        const uint64_t room = d->script.space - d->counts.bytes_written;
        if (code == 0 && room == 0)
            code = ENOSPC;
        n = n > room ? (size_t)room : n;
    }
    if (code == 0)
        d->counts.bytes_written += n;
    mutex_unlock(&d->lock);
    if (code == 0)
        ((struct fault_file *)user)->dirty += n;
    return code != 0 ? result_of(code) : pwrite(fd, p, n, offset);
}

static void wait_ms(uint64_t ms)
{
    if (ms != 0)
        disk_sleep_until(clock_ns() + ms * 1000000u);
}

/* The disk takes at most n of the file's dirty bytes, at its speed. */
static void write_back(struct fault_file *f, uint64_t n)
{
    const uint64_t kb_per_s = f->device->script.push_kb_per_s;
    n = n < f->dirty ? n : f->dirty;
    f->dirty -= n;
    if (kb_per_s != 0)
        wait_ms(n / kb_per_s);
}

static int fault_fsync(void *user, int fd)
{
    struct fault_file *f = user;
    struct device *d = f->device;
    const int code = plain_failure(d, &d->counts.syncs, d->script.sync_eio);
    write_back(f, f->dirty);
    return code != 0 ? result_of(code) : fsync(fd);
}

static int fault_push(void *user, int fd, off_t offset, off_t n, bool wait)
{
    if (wait)
        write_back(user, (uint64_t)n);
    return file_push(user, fd, offset, n, wait);
}

static int fault_rename(void *user, const char *from, const char *to)
{
    struct device *d = ((struct fault_file *)user)->device;
    const int code = plain_failure(d, &d->counts.renames, d->script.rename_eio);
    wait_ms(d->script.rename_ms);
    return code != 0 ? result_of(code) : rename(from, to);
}

static int fault_folder(void *user)
{
    struct device *d = ((struct fault_file *)user)->device;
    return result_of(plain_failure(d, &d->counts.folders, d->script.folder_eio));
}

static const struct file_calls calls = {fault_pread, fault_pwrite, fault_will_need, fault_fsync,
                                        fault_push,  fault_rename, fault_folder,    gone};

/* ---- the store ------------------------------------------------------------------------------- */

/* Cuts "options:path"; the path may hold colons. */
static enum imrec_status
enter(const char *name, const char **path, struct fault_file **out, struct imrec_error *err)
{
    const char *colon = strchr(name, ':');
    if (colon == NULL || colon[1] == '\0')
        return IMREC_REFUSE(err, "fault://%s: must be fault://options:path", name);
    struct fault_file *f = imrec_zalloc(1, sizeof(*f));
    if (f == NULL)
        return IMREC_NO_MEMORY(err, "fault://%s: no memory to open it", name);
    mutex_lock(&g_lock);
    const enum imrec_status st = use_device(name, (size_t)(colon - name), &f->device, err);
    mutex_unlock(&g_lock);
    if (st != IMREC_OK) {
        imrec_free(f);
        return st;
    }
    *path = colon + 1;
    *out = f;
    return IMREC_OK;
}

static enum imrec_status
fault_source(const char *name, struct source **out, struct imrec_error *err)
{
    const char *path;
    struct fault_file *f;
    IMREC_TRY(enter(name, &path, &f, err));
    return file_source_open(path, &calls, f, out, err);
}

static enum imrec_status
fault_out(const char *name, uint64_t size, struct out **out, struct imrec_error *err)
{
    const char *path;
    struct fault_file *f;
    IMREC_TRY(enter(name, &path, &f, err));
    return file_out_open(path, size, &calls, f, out, err);
}

static enum imrec_status
fault_open_folder(const char *name, struct folder **out, struct imrec_error *err)
{
    const char *path;
    struct fault_file *f;
    IMREC_TRY(enter(name, &path, &f, err));
    return file_folder_open(path, &calls, f, out, err);
}

static const char *path_in(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon != NULL ? colon + 1 : name;
}

static enum imrec_status fault_publish(const char *name, const char *as, struct imrec_error *err)
{
    const char *path;
    struct fault_file *f;
    IMREC_TRY(enter(name, &path, &f, err));
    return file_publish(path, path_in(as), &calls, f, err);
}

static enum imrec_status fault_exists(const char *name, bool *there, struct imrec_error *err)
{
    return file_store.exists(path_in(name), there, err);
}

static enum imrec_status fault_remove(const char *name, struct imrec_error *err)
{
    return file_store.remove(path_in(name), err);
}

static enum imrec_status fault_sync_names(const char *name, struct imrec_error *err)
{
    const char *path;
    struct fault_file *f;
    IMREC_TRY(enter(name, &path, &f, err));
    return file_sync_names(path, &calls, f, err);
}

static enum imrec_status fault_lock(const char *name, struct lock **out, struct imrec_error *err)
{
    return file_lock(path_in(name), out, err);
}

const struct store fault_store = {
    .scheme = "fault://",
    .open_source = fault_source,
    .open_out = fault_out,
    .publish = fault_publish,
    .open_folder = fault_open_folder,
    .exists = fault_exists,
    .remove = fault_remove,
    .sync_names = fault_sync_names,
    .lock = fault_lock,
    .unlock = file_unlock,
};
