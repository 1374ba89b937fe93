/* im2rec/tasks/heartbeat.c */
#include "im2rec/tasks/heartbeat.h"

#include "storage/sink.h"
#include "storage/source.h"

#include <stdio.h>
#include <unistd.h>

static enum imrec_status write_beat(const char *name)
{
    char text[300], host[200] = "";
    (void)gethostname(host, sizeof(host) - 1);
    const int n = snprintf(text, sizeof(text), "process %ld on %s\n", (long)getpid(), host);
    return plan_put(name, (struct bytes){(const uint8_t *)text, (size_t)n}, NULL);
}

static void *beat(void *arg)
{
    struct heartbeat *h = arg;
    mutex_lock(&h->lock);
    while (!h->over) {
        mutex_unlock(&h->lock);
        const enum imrec_status omitted = write_beat(h->name);
        (void)omitted;
        mutex_lock(&h->lock);
        if (!h->over)
            cond_wait_for(&h->ended, &h->lock, HEARTBEAT_EVERY_MS);
    }
    mutex_unlock(&h->lock);
    return NULL;
}

void heartbeat_begin(struct heartbeat *h, const struct plan *p, uint64_t k, const char *mark)
{
    *h = (struct heartbeat){.over = false};
    plan_task_name(p, k, "running", mark, h->name);
    mutex_init(&h->lock);
    cond_init(&h->ended);
    (void)(thread_start(&h->thread, "imrec-beat", beat, h, NULL) == IMREC_OK);
}

static void forget(const char *name)
{
    char part[PLAN_URI_BYTES + 8];
    snprintf(part, sizeof(part), "%s.part", name);
    if (sink_remove(name, NULL) != IMREC_OK || sink_remove(part, NULL) != IMREC_OK)
        return; /* it is stale soon, and finish removes it */
}

void heartbeat_end(struct heartbeat *h)
{
    cond_tell(&h->lock, &h->over, &h->ended, NULL);
    thread_join(&h->thread);
    cond_destroy(&h->ended);
    mutex_destroy(&h->lock);
    forget(h->name);
}

uint64_t heartbeat_of(const char *name)
{
    struct source *s;
    if (source_open(name, &s, NULL) != IMREC_OK)
        return 0;
    const uint64_t at = s->modified;
    source_close(s);
    return at;
}

uint64_t heartbeat_now(const struct plan *p, const char *mark)
{
    char name[PLAN_URI_BYTES], base[64];
    snprintf(base, sizeof(base), "clock-%s", mark);
    plan_name(p, base, name);
    const uint64_t now = write_beat(name) == IMREC_OK ? heartbeat_of(name) : 0;
    forget(name);
    return now;
}
