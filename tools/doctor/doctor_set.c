/* tools/doctor/doctor_set.c - the section about a set. */
#include "tools/doctor/doctor_set.h"

#include "base/clock.h"
#include "cli/human.h"
#include "cli/memory.h"
#include "cli/options.h"
#include "cli/report.h"
#include "storage/source.h"
#include "tools/doctor/doctor_cache.h"
#include "tools/doctor/doctor_speed.h"

#include <string.h>
#if defined(__linux__)
#include <sys/statfs.h>
#endif

#define FAR_FILES 64 /* of a store: opening one takes a round trip */
#define LOOK_NS   ((uint64_t)2000000000)

struct set {
    char *text; /* the names, NUL between them */
    struct speed_file *files;
    size_t count, listed; /* that are looked at; of all */
    bool far;
    const char *file_system;
    bool is_network; /* the file system, not a store */
    struct cached cached;
    struct speed speed;
};

/* ---- what it is ----------------------------------------------------------------------------- */

static void find_file_system(const char *path, struct set *s)
{
    s->file_system = "other";
#if defined(__linux__)
    static const struct {
        uint32_t magic;
        const char *name;
        bool network;
    } known[] = {
        {0xef53, "ext4", false},      {0x58465342, "xfs", false},     {0x9123683e, "btrfs", false},
        {0x01021994, "tmpfs", false}, {0x794c7630, "overlay", false}, {0x2fc12fc1, "zfs", false},
        {0x6969, "nfs", true},        {0xff534d42, "cifs", true},     {0xfe534d42, "smb2", true},
        {0x0bd00bd0, "lustre", true}, {0x00c36400, "ceph", true},     {0x47504653, "gpfs", true},
        {0x01021997, "9p", true},     {0x65735546, "fuse", true},     {0x19830326, "beegfs", true},
    };
    struct statfs is;
    if (statfs(path, &is) != 0)
        return;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if ((uint32_t)is.f_type == known[i].magic) {
            s->file_system = known[i].name;
            s->is_network = known[i].network;
        }
#else
    (void)path;
#endif
}

static void split(struct set *s, const char *list)
{
    s->text = cli_realloc(NULL, strlen(list) + 1, 1);
    memcpy(s->text, list, strlen(list) + 1);
    s->listed = 1;
    for (char *c = s->text; *c != '\0'; c++)
        s->listed += *c == ';';
    s->files = cli_realloc(NULL, s->listed, sizeof(s->files[0]));
    char *rest = s->text;
    for (char *one; (one = strsep(&rest, ";")) != NULL; s->count++)
        s->files[s->count] = (struct speed_file){.uri = one};
    s->far = source_is_remote(s->files[0].uri);
    if (s->far && s->count > FAR_FILES)
        s->count = FAR_FILES;
}

static enum imrec_status look_at_store(struct set *s, struct imrec_error *err)
{
    s->file_system = "store";
    for (size_t i = 0; i < s->count; i++) {
        struct source *one;
        const enum imrec_status st = source_open(s->files[i].uri, &one, err);
        if (st != IMREC_OK)
            return st;
        s->files[i].bytes = one->size;
        s->cached.bytes += one->size;
        source_close(one);
    }
    return IMREC_OK;
}

static enum imrec_status look_at_files(struct set *s, struct imrec_error *err)
{
    const uint64_t until = clock_ns() + LOOK_NS;
    find_file_system(source_path(s->files[0].uri), s);
    for (size_t i = 0; i < s->count; i++) {
        const uint64_t before = s->cached.bytes;
        const enum imrec_status st =
            cached_add(source_path(s->files[i].uri), until, &s->cached, err);
        if (st != IMREC_OK)
            return st;
        s->files[i].bytes = s->cached.bytes - before;
    }
    return IMREC_OK;
}

/* ---- what is said --------------------------------------------------------------------------- */

static double bytes_per_s(const struct set *s)
{
    return s->speed.seconds > 0 ? (double)s->speed.bytes / s->speed.seconds : 0;
}

static void report(struct doctor_report *r, const struct set *s)
{
    doctor_count(r, "shards", "shards", s->listed);
    if (s->count != s->listed)
        doctor_count(r, "shards_looked_at", "looked at", s->count);
    doctor_bytes(r, "bytes", "size", s->cached.bytes);
    doctor_text(r, "file_system", "file system", s->file_system);
    if (s->far || s->cached.unknown) {
        if (!r->as_json)
            doctor_text(r, "", "in the page cache", s->far ? "not cached here" : "not known");
    } else {
        doctor_bytes(r, "looked_at_bytes", NULL, s->cached.looked_at);
        doctor_bytes(r, "cached_bytes", "in the page cache", s->cached.in_cache);
    }
    doctor_bytes(r, "read_bytes", "read to measure", s->speed.bytes);
    doctor_text(r, "read_how", "how",
                s->far            ? "from the store"
                : s->speed.direct ? "past the page cache"
                                  : "through the page cache");
    doctor_real(r, "read_mb_per_s", "speed, one reader", 1e-6 * bytes_per_s(s), "MB/s");
    doctor_real(r, "read_ms_median", "a read of 1 MiB", s->speed.median_ms, "ms (median)");
    doctor_real(r, "read_ms_max", "the slowest", s->speed.worst_ms, "ms");
}

static void advise_disk(struct doctor_report *r, const struct set *s, uint64_t available)
{
    char size[HUMAN_BYTES], room[HUMAN_BYTES], time[HUMAN_BYTES];
    const uint64_t missing = s->cached.bytes - s->cached.in_cache;
    const double speed = bytes_per_s(s);
    human_size(missing, size);
    human_seconds(speed > 0 ? (double)missing / speed : 0, time);
    if (s->cached.bytes > available && available != 0)
        doctor_advise(r,
                      "the set is larger than the memory that is available (%s): every epoch reads "
                      "from storage, at this speed for %s or more; %s",
                      human_size(available, room), time,
                      s->is_network ? "copy the set to a local disk, or read it as a store with "
                                      "cache=DIR"
                                    : "smaller images (im2rec --resize) would help");
    else
        doctor_advise(r,
                      "the first epoch reads %s from storage, at this speed and with one reader in "
                      "%s; later epochs come out of memory",
                      size, time);
}

static void advise(struct doctor_report *r, const struct set *s, uint64_t available)
{
    if (s->cached.bytes == 0)
        doctor_advise(r, "the set has no bytes: look at it with imrec info");
    else if (s->far)
        doctor_advise(r, "cache=DIR keeps on a local disk what an epoch has read, so that later "
                         "epochs do not wait for the store");
    else if (s->cached.unknown)
        doctor_advise(r, "the kernel says what is cached only to who may write a file: ask as its "
                         "owner");
    else if (s->cached.in_cache >= s->cached.bytes - s->cached.bytes / 100)
        doctor_advise(r, "the set is in memory: storage does not slow the next epoch");
    else if (s->cached.looked_at < s->cached.bytes)
        doctor_advise(r, "the set is too large to look at all of it in 2 s: what is cached is a "
                         "lower bound");
    else
        advise_disk(r, s, available);
}

int doctor_set(struct doctor_report *r, const char *name, const char *list, uint64_t available)
{
    struct set s = {0};
    struct imrec_error err;
    int status = EXIT_OK;
    doctor_section(r, "set", "The set");
    split(&s, list);
    if ((s.far ? look_at_store(&s, &err) : look_at_files(&s, &err)) != IMREC_OK ||
        speed_measure(s.files, s.count, &s.speed, &err) != IMREC_OK) {
        status = cli_fail(name, &err);
        doctor_advise(r, "the set cannot be read: %.300s", err.message);
    } else {
        report(r, &s);
        advise(r, &s, available);
    }
    cli_free(s.files);
    cli_free(s.text);
    return status;
}
