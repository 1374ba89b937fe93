/* storage/files/file_held.c - descriptors of files that are read, of which some are lent by turns.
 */
#include "storage/files/file_held.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"
#include "base/threads.h"
#include "storage/files/file_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define KEPT_SHARE 2 /* of the limit: a part of this number */
#define LENT_SHARE 8
#define LEAST      8u
#define MOST       (1u << 20)

static atomic_uint g_kept;
static struct {
    struct mutex lock;
    struct file_held *oldest, *newest; /* idle ones */
    uint32_t open;                     /* that are lent, or idle */
    bool forks;
} g = {.lock = MUTEX_INIT};

static uint32_t share(uint32_t of)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / of > MOST)
        return MOST;
    return limit.rlim_cur / of > LEAST ? (uint32_t)(limit.rlim_cur / of) : LEAST;
}

/* ---- idle ones; the lock is held ----------------------------------------------------------- */

static void lay_down(struct file_held *h)
{
    h->idle = true;
    h->newer = NULL;
    h->older = g.newest;
    *(g.newest != NULL ? &g.newest->newer : &g.oldest) = h;
    g.newest = h;
}

static void pick_up(struct file_held *h)
{
    if (!h->idle)
        return;
    *(h->older != NULL ? &h->older->newer : &g.oldest) = h->newer;
    *(h->newer != NULL ? &h->newer->older : &g.newest) = h->older;
    h->idle = false;
}

static void close_it(struct file_held *h)
{
    pick_up(h);
    (void)close(h->fd); /* opened for reading: nothing can be lost */
    h->fd = -1;
    g.open--;
}

static void close_some(void)
{
    for (const uint32_t most = share(LENT_SHARE); g.open > most && g.oldest != NULL;)
        close_it(g.oldest);
}

static void before_fork(void)
{
    mutex_lock(&g.lock);
}

static void after_fork(void)
{
    mutex_unlock(&g.lock);
}

static void survive_forks(void)
{
    if (!g.forks)
        (void)pthread_atfork(before_fork, after_fork, after_fork);
    g.forks = true;
}

/* ---- opening again ------------------------------------------------------------------------- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           system_changed_ns(a) == system_changed_ns(b);
}

static enum imrec_status open_again(const struct file_held *h, int *fd, struct imrec_error *err)
{
    struct stat now;
    IMREC_TRY(file_open_regular(h->path, O_RDONLY, fd, &now, err));
    if (is_same(&now, &h->opened))
        return IMREC_OK;
    (void)close(*fd);
    imrec_fail(err, IMREC_ERR_IO,
               "%s: was replaced or written to since it was opened; nothing of another version is "
               "used",
               h->path);
    imrec_error_errno(err, ESTALE);
    return IMREC_ERR_IO;
}

/* The path from the root: the working directory may be another one by then. NULL: no memory, or no
 * such directory. */
static char *absolute(const char *path)
{
    char here[PATH_MAX];
    if (path[0] == '/')
        return imrec_joined(path, strlen(path), "");
    if (getcwd(here, sizeof(here) - 1) == NULL)
        return NULL;
    strcat(here, "/");
    return imrec_joined(here, strlen(here), path);
}

/* ---- public -------------------------------------------------------------------------------- */

enum imrec_status file_held_begin(struct file_held *h, int fd, const char *path,
                                  const struct stat *info, struct imrec_error *err)
{
    *h = (struct file_held){.fd = fd, .opened = *info};
    if (atomic_fetch_add(&g_kept, 1) < share(KEPT_SHARE))
        return IMREC_OK;
    atomic_fetch_sub(&g_kept, 1);
    h->path = absolute(path);
    if (h->path == NULL) {
        (void)close(fd);
        return IMREC_NO_MEMORY(err, "%s: no memory to open it", path);
    }
    mutex_lock(&g.lock);
    survive_forks();
    g.open++;
    lay_down(h);
    close_some();
    mutex_unlock(&g.lock);
    return IMREC_OK;
}

enum imrec_status file_held_take(struct file_held *h, int *fd, struct imrec_error *err)
{
    int mine = -1;
    if (h->path == NULL) {
        *fd = h->fd;
        return IMREC_OK;
    }
    mutex_lock(&g.lock);
    if (h->fd < 0) { /* others may read theirs while this one is opened, and open it, too */
        mutex_unlock(&g.lock);
        IMREC_TRY(open_again(h, &mine, err));
        mutex_lock(&g.lock);
    }
    if (h->fd < 0) {
        h->fd = mine;
        mine = -1;
        g.open++;
    }
    pick_up(h);
    h->users++;
    *fd = h->fd;
    close_some();
    mutex_unlock(&g.lock);
    if (mine >= 0)
        (void)close(mine);
    return IMREC_OK;
}

void file_held_give(struct file_held *h)
{
    if (h->path == NULL)
        return;
    mutex_lock(&g.lock);
    if (--h->users == 0)
        lay_down(h);
    close_some();
    mutex_unlock(&g.lock);
}

void file_held_end(struct file_held *h)
{
    if (h->path == NULL) {
        (void)close(h->fd);
        atomic_fetch_sub(&g_kept, 1);
        return;
    }
    mutex_lock(&g.lock);
    if (h->fd >= 0)
        close_it(h);
    mutex_unlock(&g.lock);
    imrec_free(h->path);
}
