/* iter/iter_metrics.c - the numbers of an iterator for metrics=. The thread of metrics reads the
 * workers' counts, which are atomic, and what the consumer has shown it. */
#include "base/alloc.h"
#include "base/error.h"
#include "iter/metrics/metrics.h"
#include "iter/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct iter_metrics {
    struct metrics *metrics;
    struct metrics_source source;
    struct mutex lock;
    struct { /* the consumer's, at its last call */
        uint64_t batches, next_wait_ns, epoch, sweep, sample;
    } shown;
};

void iter_metrics_show(struct imrec_iter *it)
{
    struct iter_metrics *m = it->metrics;
    if (m == NULL)
        return;
    const struct schedule_run *at = &it->at.run;
    mutex_lock(&m->lock);
    m->shown.batches = it->batches;
    m->shown.next_wait_ns = it->next_wait_ns;
    m->shown.epoch = at->epoch;
    m->shown.sweep = at->sweep;
    m->shown.sample = at->sample;
    mutex_unlock(&m->lock);
}

/* ---- numbers ------------------------------------------------------------------------------- */

#define COUNT(name, value, help)                                                                   \
    {                                                                                              \
        "imrec_" name "_total", help, METRIC_COUNTER, value                                        \
    }
#define SECONDS(name, value, help)                                                                 \
    {                                                                                              \
        "imrec_" name "_seconds_total", help, METRIC_COUNTER_SECONDS, value                        \
    }
#define GAUGE(name, value, help)                                                                   \
    {                                                                                              \
        "imrec_" name, help, METRIC_GAUGE, value                                                   \
    }
#define PUT(to, ...)                                                                               \
    do {                                                                                           \
        const struct metric rows_[] = {__VA_ARGS__};                                               \
        memcpy(to, rows_, sizeof(rows_));                                                          \
        to += sizeof(rows_) / sizeof(rows_[0]);                                                    \
    } while (0)

static struct metric *put_work(const struct imrec_iter_stats *s, struct metric *to)
{
    PUT(to, COUNT("images", s->images, "Samples that were made without a failure."),
        COUNT("views", s->views, "Images made of them."),
        COUNT("failed_samples", s->failed, "Slots that failed and were not replaced."),
        COUNT("replaced_samples", s->replaced,
              "Slots with another sample instead of a failed one."),
        COUNT("damaged_ranges", s->damaged_ranges, "Damaged ranges of shards."),
        COUNT("read_bytes", s->bytes_read, "Bytes of records read ahead."),
        SECONDS("decode", s->decode_ns, "Workers decoded images, summed over them."),
        SECONDS("augment", s->augment_ns, "Workers resized and augmented, summed over them."),
        SECONDS("feed", s->feed_ns, "The serial step of the reader, without its waits."),
        SECONDS("io_wait", s->io_wait_ns, "The reader waited for bytes."),
        SECONDS("worker_wait", s->consumer_wait_ns,
                "Workers waited because all batches were ready."),
        GAUGE("workers", s->workers, "Threads that make batches."),
        GAUGE("planned_memory_bytes", s->memory_planned_bytes,
              "Memory that the options need, as memory_limit counts it."));
    return to;
}

static struct metric *put_traffic(const struct imrec_traffic *t, struct metric *to)
{
    PUT(to, COUNT("store_read_bytes", t->store_bytes, "Bytes of objects received from stores."),
        COUNT("store_requests", t->requests, "Requests to stores, answered or failed."),
        COUNT("store_retries", t->retries, "Requests that were sent again after a failure."),
        COUNT("store_hedges", t->hedges, "Requests that were sent twice because one was slow."),
        SECONDS("store_wait", t->wait_ns, "Threads waited for stores, summed over them."),
        COUNT("cache_read_bytes", t->cache_bytes, "Bytes read from the cache of cache=."),
        COUNT("cache_hits", t->cache_hits, "Blocks read from the cache."),
        COUNT("cache_misses", t->cache_misses, "Blocks that the cache did not have."));
    return to;
}

static struct metric *put_consumer(struct iter_metrics *m, struct metric *to)
{
    mutex_lock(&m->lock);
    PUT(to, COUNT("batches", m->shown.batches, "Batches delivered."),
        SECONDS("consumer_wait", m->shown.next_wait_ns, "The training loop waited for a batch."),
        GAUGE("epoch", m->shown.epoch, "The epoch of the next sample, from 0."),
        GAUGE("sweep", m->shown.sweep, "The sweep of the next sample, from 0."),
        GAUGE("sample", m->shown.sample, "Samples of this sweep that were delivered."));
    mutex_unlock(&m->lock);
    return to;
}

static size_t read_all(void *context, struct metric *out)
{
    struct imrec_iter *it = context;
    struct imrec_iter_stats stats = {.workers = it->worker_count,
                                     .memory_planned_bytes = it->memory_planned};
    struct imrec_traffic traffic;
    iter_count_work(it, &stats);
    imrec_iter_get_traffic(it, &traffic);
    struct metric *to = put_consumer(it->metrics, out);
    to = put_work(&stats, to);
    return (size_t)(put_traffic(&traffic, to) - out);
}

/* ---- life ---------------------------------------------------------------------------------- */

/* The last name of the first shard's path: no folder, no query, no secret. */
static void name_of_set(const char *path, char *out, size_t room)
{
    const size_t n = strcspn(path, ";?#");
    size_t begin = n, end = n;
    while (end > 0 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/';)
        begin--;
    snprintf(out, room, "%.*s", (int)(end - begin), path + begin);
}

static void label(const struct imrec_iter_options *o, struct metrics_source *s)
{
    char number[24], set[256];
    snprintf(number, sizeof(number), "%" PRId64, o->part_index);
    metrics_label(s, "rank", number);
    snprintf(number, sizeof(number), "%" PRId64, o->num_parts);
    metrics_label(s, "ranks", number);
    name_of_set(o->path_imgrec, set, sizeof(set));
    metrics_label(s, "set", set);
}

enum imrec_status iter_metrics_open(struct imrec_iter *it, struct imrec_error *err)
{
    if (it->options.metrics[0] == '\0')
        return IMREC_OK;
    struct iter_metrics *m = it->metrics = imrec_zalloc(1, sizeof(*m));
    if (m == NULL)
        return IMREC_NO_MEMORY(err, "no memory for metrics");
    mutex_init(&m->lock);
    m->source = (struct metrics_source){.context = it, .read = read_all};
    label(&it->options, &m->source);
    return metrics_open(it->options.metrics, &m->metrics, err);
}

enum imrec_status iter_metrics_start(struct imrec_iter *it, struct imrec_error *err)
{
    struct iter_metrics *m = it->metrics;
    return m == NULL ? IMREC_OK : metrics_start(m->metrics, &m->source, err);
}

void iter_metrics_stop(struct imrec_iter *it)
{
    struct iter_metrics *m = it->metrics;
    if (m == NULL)
        return;
    metrics_stop(m->metrics);
    mutex_destroy(&m->lock);
    imrec_free(m);
    it->metrics = NULL;
}

const char *imrec_iter_metrics(const struct imrec_iter *it)
{
    return it->metrics != NULL ? metrics_where(it->metrics->metrics) : NULL;
}
