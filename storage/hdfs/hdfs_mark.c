/*
 * storage/hdfs/hdfs_mark.c - the file that names a writer.
 *
 *     imrec lock: process 17 on HOST, begun 12345, boot 3f..., space pid:[4026531836], turn 1
 *
 * Boot and space (of process numbers) tell whether a number means anything here; when that process
 * began tells whether it is still the same one.
 */
#include "storage/hdfs/hdfs_mark.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/hdfs/hdfs_change.h"
#include "storage/hdfs/hdfs_object.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD     "imrec lock: "
#define ATTEMPTS 8 /* each of which found a mark that its holder removed meanwhile */

struct hdfs_mark {
    struct hdfs_place place;
    char line[HDFS_MARK_BYTES];
};

/* ---- processes ---------------------------------------------------------------------------- */

struct machine {
    char boot[64], space[64]; /* "": not known */
};

static void read_line(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "re");
    if (f == NULL || fgets(to, (int)room, f) == NULL)
        to[0] = '\0';
    to[strcspn(to, "\n, ")] = '\0';
    if (f != NULL)
        (void)fclose(f);
}

static struct machine this_machine(void)
{
    struct machine m = {"", ""};
    read_line("/proc/sys/kernel/random/boot_id", m.boot, sizeof(m.boot));
    const ssize_t n = readlink("/proc/self/ns/pid", m.space, sizeof(m.space) - 1);
    m.space[n > 0 ? n : 0] = '\0';
    return m;
}

/* When a process began, in the system's ticks: field 22 of its stat, whose second, a name in
 * brackets, may have blanks. 0: there is no such process. */
static uint64_t begun(long process)
{
    char path[64], text[1024];
    uint64_t ticks = 0;
    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", process);
    FILE *f = fopen(path, "re");
    const size_t n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;
    if (f != NULL)
        (void)fclose(f);
    text[n] = '\0';
    const char *at = strrchr(text, ')');
    if (at == NULL || sscanf(at,
                             ") %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                             "%*s %*s %*s %*s %" SCNu64,
                             &ticks) != 1)
        return 0;
    return ticks;
}

enum hdfs_holder hdfs_mark_judge(const char *line)
{
    const struct machine m = this_machine();
    char boot[64], space[64];
    long process;
    uint64_t ticks;
    if (strncmp(line, HEAD, strlen(HEAD)) != 0)
        return HDFS_NO_MARK;
    if (sscanf(line, HEAD "process %ld on %*[^,], begun %" SCNu64 ", boot %63[^,], space %63[^,],",
               &process, &ticks, boot, space) != 4 ||
        m.boot[0] == '\0' || m.space[0] == '\0' || strcmp(boot, m.boot) != 0 ||
        strcmp(space, m.space) != 0)
        return HDFS_HELD;
    return begun(process) == ticks ? HDFS_HELD : HDFS_DEAD;
}

static void write_line(char line[HDFS_MARK_BYTES])
{
    static atomic_uint turn;
    const struct machine m = this_machine();
    char host[128] = "";
    if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0')
        (void)snprintf(host, sizeof(host), "this machine");
    host[strcspn(host, ",\r\n")] = '\0';
    (void)snprintf(line, HDFS_MARK_BYTES,
                   HEAD "process %ld on %s, begun %" PRIu64 ", boot %s, space %s, turn %u\n",
                   (long)getpid(), host, begun((long)getpid()), m.boot[0] != '\0' ? m.boot : "?",
                   m.space[0] != '\0' ? m.space : "?", atomic_fetch_add(&turn, 1));
}

/* ---- the file ----------------------------------------------------------------------------- */

static enum imrec_status copy_place(const struct hdfs_place *p, const char *suffix,
                                    struct hdfs_place *out, struct imrec_error *err)
{
    *out = (struct hdfs_place){.nodes = p->nodes, .negotiate = p->negotiate};
    atomic_init(&out->active, atomic_load(&p->active));
    out->shown = imrec_joined(p->shown, strlen(p->shown), suffix);
    out->path = imrec_joined(p->path, strlen(p->path), suffix);
    out->who = imrec_joined(p->who, strlen(p->who), "");
    bool whole = out->shown != NULL && out->path != NULL && out->who != NULL;
    for (uint32_t i = 0; i < p->nodes; i++) {
        out->node[i] = imrec_joined(p->node[i], strlen(p->node[i]), "");
        whole = whole && out->node[i] != NULL;
    }
    if (whole)
        return IMREC_OK;
    hdfs_place_free(out);
    return IMREC_NO_MEMORY(err, "%s: no memory to lock it", p->shown);
}

/* What a mark says; IMREC_END: there is none, any more. */
static enum imrec_status
read_mark(const struct hdfs_place *p, char line[HDFS_MARK_BYTES], struct imrec_error *err)
{
    struct hdfs_place copy;
    struct hdfs_object *o;
    struct imrec_error why;
    IMREC_TRY(copy_place(p, "", &copy, err));
    enum imrec_status st = hdfs_object_open(&copy, &o, &why);
    line[0] = '\0';
    if (st == IMREC_OK) {
        const uint64_t size = hdfs_object_size(o);
        const size_t n = size < HDFS_MARK_BYTES ? (size_t)size : HDFS_MARK_BYTES - 1;
        st = n == 0 ? IMREC_OK : hdfs_object_read(o, 0, line, n, &why);
        line[st == IMREC_OK ? n : 0] = '\0';
    }
    hdfs_object_close(o);
    if (st == IMREC_ERR_IO && (why.sys_errno == ENOENT || why.sys_errno == ESTALE))
        return IMREC_END;
    if (st != IMREC_OK && err != NULL)
        *err = why;
    return st;
}

static enum imrec_status busy(const struct hdfs_mark *m, const char *line, struct imrec_error *err)
{
    const char *who = line[0] != '\0' ? line + strlen(HEAD) : "another process";
    imrec_fail(err, IMREC_ERR_IO,
               "%s is held by %.*s, which writes the files of this name now; wait for its end, or "
               "remove that file if the process is gone",
               m->place.shown, (int)strcspn(who, ",\n"), who);
    imrec_error_errno(err, EBUSY);
    return IMREC_ERR_IO;
}

static enum imrec_status in_the_way(const struct hdfs_mark *m, struct imrec_error *err)
{
    return IMREC_REFUSE(err,
                        "%s is in the way, and imrec did not write it: move it, or choose another "
                        "name",
                        m->place.shown);
}

/* Another may do the same at this moment, and already have put its own mark there: so the dead one
 * is moved aside, and looked at, before it is removed. */
static enum imrec_status bury(struct hdfs_mark *m, const char *dead, struct imrec_error *err)
{
    char suffix[64], line[HDFS_MARK_BYTES];
    struct hdfs_place aside;
    bool done;
    (void)snprintf(suffix, sizeof(suffix), ".dead-%ld-%" PRIu64, (long)getpid(),
                   begun((long)getpid()));
    IMREC_TRY(copy_place(&m->place, suffix, &aside, err));
    struct imrec_error why;
    enum imrec_status st = hdfs_rename_to_free(&m->place, &aside, &done, &why);
    if (st == IMREC_OK && done)
        st = read_mark(&aside, line, &why);
    if (st == IMREC_OK && done && strcmp(line, dead) == 0)
        st = hdfs_delete(&aside, &why);
    else if (st == IMREC_OK && done)
        st = hdfs_rename_to_free(&aside, &m->place, &done, &why);
    hdfs_place_free(&aside);
    if (st == IMREC_END || (st == IMREC_ERR_IO && why.sys_errno == ENOENT))
        return IMREC_OK; /* another was faster */
    if (st != IMREC_OK && err != NULL)
        *err = why;
    return st;
}

/* IMREC_END: what was in the way is no longer. */
static enum imrec_status attempt(struct hdfs_mark *m, struct imrec_error *err)
{
    char line[HDFS_MARK_BYTES];
    struct imrec_error why;
    const enum imrec_status st = hdfs_create(&m->place, false, m->line, strlen(m->line), &why);
    if (st == IMREC_OK)
        return IMREC_OK;
    if (st != IMREC_ERR_IO || (why.sys_errno != EEXIST && why.sys_errno != EBUSY)) {
        if (err != NULL)
            *err = why;
        return st;
    }
    IMREC_TRY(read_mark(&m->place, line, err));
    if (strcmp(line, m->line) == 0) /* the answer to the first try was lost */
        return IMREC_OK;
    const enum hdfs_holder holder = line[0] == '\0' ? HDFS_HELD : hdfs_mark_judge(line);
    if (holder == HDFS_NO_MARK)
        return in_the_way(m, err);
    if (holder == HDFS_HELD)
        return busy(m, line, err);
    IMREC_TRY(bury(m, line, err));
    return IMREC_END;
}

enum imrec_status
hdfs_mark_take(struct hdfs_place *p, struct hdfs_mark **out, struct imrec_error *err)
{
    struct hdfs_mark *m = imrec_zalloc(1, sizeof(*m));
    enum imrec_status st = IMREC_END;
    *out = NULL;
    if (m == NULL) {
        st = IMREC_NO_MEMORY(err, "%s: no memory to lock it", p->shown);
        hdfs_place_free(p);
        return st;
    }
    m->place = *p;
    *p = (struct hdfs_place){0};
    write_line(m->line);
    for (int i = 0; i < ATTEMPTS && st == IMREC_END; i++)
        st = attempt(m, err);
    if (st == IMREC_END)
        st = busy(m, "", err);
    if (st == IMREC_OK) {
        *out = m;
        return IMREC_OK;
    }
    hdfs_place_free(&m->place);
    imrec_free(m);
    return st;
}

/* A mark that is no longer ours, because somebody removed it, stays as it is. */
void hdfs_mark_drop(struct hdfs_mark *m)
{
    char line[HDFS_MARK_BYTES];
    if (read_mark(&m->place, line, NULL) == IMREC_OK && strcmp(line, m->line) == 0)
        hdfs_forget(&m->place);
    hdfs_place_free(&m->place);
    imrec_free(m);
}
