/* tools/top/top_rates.c - what happened between two samples of a loader. */
#include "tools/top/top_rates.h"

static const double little = 0.05; /* of the time: it costs nobody much */

const char *top_limit_name(enum top_limit limit)
{
    static const char *const names[] = {
        [TOP_UNKNOWN] = "-",       [TOP_STOPPED] = "no batches", [TOP_LOOP] = "training",
        [TOP_STORAGE] = "storage", [TOP_CPUS] = "CPUs",          [TOP_SILENT] = "no news",
    };
    return names[limit];
}

static double share(const struct top_sample *before, const struct top_sample *now,
                    enum top_number of, double seconds)
{
    const double v = (now->is[of] - before->is[of]) / seconds;
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static enum top_limit
limit_of(const struct top_sample *before, const struct top_sample *now, const struct top_rates *r)
{
    if (now->is[TOP_BATCHES] == before->is[TOP_BATCHES] &&
        now->is[TOP_IMAGES] == before->is[TOP_IMAGES] && r->loop_waits < little)
        return TOP_STOPPED;
    if (r->loop_waits < little)
        return TOP_LOOP;
    return r->io_waits > r->decode + r->augment ? TOP_STORAGE : TOP_CPUS;
}

void top_compare(const struct top_sample *before, const struct top_sample *now,
                 struct top_rates *out)
{
    *out = (struct top_rates){0};
    if (before == NULL || before->at_ns >= now->at_ns ||
        before->is[TOP_IMAGES] > now->is[TOP_IMAGES] ||
        before->is[TOP_BATCHES] > now->is[TOP_BATCHES])
        return;
    const double s = 1e-9 * (double)(now->at_ns - before->at_ns);
    const double workers = now->is[TOP_WORKERS] >= 1 ? now->is[TOP_WORKERS] : 1;
    out->known = true;
    out->seconds = s;
    out->images_per_s = (now->is[TOP_IMAGES] - before->is[TOP_IMAGES]) / s;
    out->read_mb_per_s = 1e-6 * (now->is[TOP_READ_BYTES] - before->is[TOP_READ_BYTES]) / s;
    if (out->read_mb_per_s < 0)
        out->read_mb_per_s = 0;
    out->loop_waits = share(before, now, TOP_CONSUMER_WAIT, s);
    out->io_waits = share(before, now, TOP_IO_WAIT, s);
    out->all_ready = share(before, now, TOP_WORKER_WAIT, s);
    out->decode = share(before, now, TOP_DECODE, s * workers);
    out->augment = share(before, now, TOP_AUGMENT, s * workers);
    out->limit = limit_of(before, now, out);
}
