/* tools/bench/imrec_bench.c - how fast batches come, compared with the limit that decoding sets.
 *
 * Limit, iterator and record reading take turns, so that a machine that slows down or is used
 * by others slows all of them; each turn is a process of its own. */
#include "tools/bench/bench_augment.h"
#include "tools/bench/bench_sequences.h"
#include "tools/bench/bench_views.h"

#include <stdlib.h>
#include <string.h>

#define BENCH_PARAMS(X)                                                                            \
    X(const char *, threads, "", 0, 1000, "N,N,...", "runs",                                       \
      "workers to measure with (default: 1, and every CPU)")                                       \
    X(int64_t, repeat, "5", 1, BENCH_REPEATS, "N", "runs", "repetitions of each measurement")      \
    X(float, seconds, "2", 0.01, 3600, "S", "runs", "approximate duration of a measurement")       \
    X(int64_t, memory, "1G", 1048576, INT64_MAX, "bytes", "runs",                                  \
      "compressed images to hold in memory for the limit")                                         \
    X(const char *, augment, "", 0, 1000, "all|NAME,...", "runs",                                  \
      "measure augmenters one by one, on one thread, instead")                                     \
    X(bool, minibatches, "0", 0, 1, "", "runs",                                                    \
      "SHARD is a CNTK text or binary file, or a configuration: measure its minibatches")          \
    X(const char *, report, "", 0, 65535, "FILE.html", "output", "write a page with a chart")      \
    ROWS_LONG(X)
COMMAND(bench, BENCH_PARAMS, 1, -1) = {
    PAGE_OF("bench", "0 fine, 1 failed, 2 wrong usage"),
    .summary = "images a second of the iterator, compared with the limit that decoding sets",
    .usage = {"[OPTIONS] SHARD [key=value ...]"},
    .text =
        "Measures, in turns: (a) the limit, plain libjpeg-turbo decoding of the images out of\n"
        "memory, (b) the iterator, and (c) reading records alone; (a) and (b) on the same number\n"
        "of threads and the same CPUs. For the limit JPEGs are written again as libjpeg-turbo is\n"
        "best at them: in one sequential scan with optimal tables, without restart markers; the\n"
        "same pixels. Prints medians, spreads, CPU time an image, memory, time\n"
        "to the first batch, the share of each stage, and the ratio (b)/(a). Unless given:\n"
        "data_shape=3,224,224 batch_size=128. An image is a sample; with num_views or multi_crop\n"
        "(d) iterators that decode each of its images by itself take turns with (b).\n"
        "With --augment: the time of each augmenter at its usual setting, added to the options\n"
        "given, next to (a).\n\n"
        "With --minibatches SHARD is a file of sequences: its minibatches are compared with\n"
        "read(), and with a walk that converts every number by strtof() (text) or memcpy()\n"
        "(binary); key=value are those of imrec minibatches.",
    .keys = imrec_iter_keys,
    .examples = "  imrec bench train.rec shuffle=1 rand_crop=1 rand_mirror=1\n"
                "  imrec bench train.rec batch_size=64 --threads 1,2,4 --report bench.html\n"
                "  imrec bench train.rec --augment all --seconds 1\n",
};

/* ---- options ---------------------------------------------------------------------------- */

/* "1,2,4" into the table's teams; "" is one thread and every CPU. */
static bool read_threads(const char *text, struct bench_table *t)
{
    char fallback[32];
    const uint32_t cpus = bench_cpus();
    if (text[0] == '\0') {
        snprintf(fallback, sizeof(fallback), cpus > 1 ? "1,%" PRIu32 : "%" PRIu32, cpus);
        text = fallback;
    }
    for (;;) {
        char *end;
        const unsigned long n = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
        if (n < 1 || n > 1024 || t->team_count == BENCH_TEAMS || (*end != ',' && *end != '\0'))
            return false;
        t->team[t->team_count++].threads = (uint32_t)n;
        if (*end == '\0')
            return true;
        text = end + 1;
    }
}

/* ---- measuring -------------------------------------------------------------------------- */

struct turns {
    struct bench_table *t;
    struct bench_job job;
    struct bench_views views;
    double seconds;
    bool quiet;
};

static void say(const struct turns *x, const struct bench_team *m, int repeat, const char *what)
{
    if (!x->quiet)
        fprintf(stderr, "%s: %" PRIu32 " threads, run %d of %d: %s%s", page.name, m->threads,
                repeat + 1, x->t->repeats, what, cli_is_terminal(stderr) ? "\033[K\r" : "\n");
}

/* How many images a measurement takes, from a short one. */
static bool size_up(struct turns *x, struct bench_team *m)
{
    struct bench_result r;
    const uint64_t batch = (uint64_t)x->job.iter->batch_size;
    x->job.images = 64 * (uint64_t)m->threads;
    if (!bench_run_limit(&x->job, &r))
        return false;
    const double wanted = x->seconds * (double)r.images / (r.seconds > 1e-6 ? r.seconds : 1e-6);
    const uint64_t batches = (uint64_t)(wanted / (double)batch) + 1;
    m->images = batches * batch;
    return true;
}

static double images_per_s(const struct bench_result *r)
{
    return (double)r->images / r->seconds;
}

static double cpu_us(const struct bench_result *r)
{
    return 1e6 * r->cpu_seconds / (double)r->images;
}

static bool limit_turn(struct turns *x, struct bench_team *m)
{
    struct bench_result r;
    if (!bench_run_limit(&x->job, &r))
        return false;
    m->image_bytes = (double)r.bytes / (double)r.images;
    m->rewritten = r.rewritten;
    bench_add(&m->limit_rate, images_per_s(&r));
    bench_add(&m->limit_mb, 1e-6 * (double)r.bytes / r.seconds);
    bench_add(&m->limit_cpu_us, cpu_us(&r));
    return true;
}

static bool iterator_turn(struct turns *x, struct bench_team *m)
{
    struct bench_result r;
    if (!bench_run_iterator(&x->job, &r))
        return false;
    bench_add(&m->rate, images_per_s(&r));
    bench_add(&m->cpu_us, cpu_us(&r));
    bench_add(&m->rss, (double)r.rss_bytes);
    bench_add(&m->first_batch, r.first_batch_s);
    bench_add(&m->batch, r.batch_s);
    for (int s = 0; s < STAGES; s++)
        bench_add(&m->share[s], r.share[s]);
    m->planned_bytes = r.planned_bytes;
    m->indexed = r.indexed;
    m->traffic = r.traffic;
    m->failed += r.failed;
    memcpy(m->advice, r.advice, sizeof(m->advice));
    return true;
}

static bool apart_turn(struct turns *x, struct bench_team *m)
{
    double rate = 0;
    const bool good = x->views.count == 1 || bench_views_apart(&x->views, &x->job, &rate);
    if (x->views.count != 1)
        bench_add(&m->apart, rate);
    return good;
}

static bool read_turn(struct turns *x)
{
    struct bench_result r;
    if (!bench_run_read(&x->job, &r))
        return false;
    bench_add(&x->t->read_rate, (double)r.images / r.seconds);
    bench_add(&x->t->read_mb, 1e-6 * (double)r.bytes / r.seconds);
    return true;
}

static bool measure_team(struct turns *x, struct bench_team *m)
{
    x->job.threads = m->threads;
    if (!size_up(x, m))
        return false;
    x->job.images = m->images;
    for (int i = 0; i < x->t->repeats; i++) {
        say(x, m, i, "limit");
        if (!limit_turn(x, m))
            return false;
        say(x, m, i, "iterator");
        if (!iterator_turn(x, m) || !apart_turn(x, m))
            return false;
        if (m == &x->t->team[0] && !read_turn(x))
            return false;
    }
    return true;
}

static bool measure_all(struct turns *x)
{
    for (int i = 0; i < x->t->team_count; i++)
        if (!measure_team(x, &x->t->team[i]))
            return false;
    if (!x->quiet && cli_is_terminal(stderr))
        fputs("\033[K", stderr);
    return true;
}

/* ---- the command ------------------------------------------------------------------------ */

static int bench(struct bench_table *t, const struct options *o)
{
    struct imrec_iter_options iter;
    if (!read_threads(o->threads, t))
        return cli_refuse(stderr, page.name,
                          "threads must be numbers from 1 to 1024 with commas between, not '%.40s'",
                          o->threads);
    if (o->minibatches) {
        const struct bench_sequences b = {.name = page.name,
                                          .source = t->uri,
                                          .pairs = t->pairs,
                                          .pair_count = t->pair_count,
                                          .repeats = t->repeats,
                                          .seconds = (double)o->seconds,
                                          .team = t->team,
                                          .team_count = t->team_count,
                                          .max_bytes = (uint64_t)o->memory,
                                          .json = o->json};
        return bench_sequences(&b);
    }
    if (!command_iter_options(page.name, t->uri, 128, NULL, t->pairs, t->pair_count, &iter))
        return EXIT_USAGE;
    struct turns x = {.t = t,
                      .job = {.uri = t->uri,
                              .iter = &iter,
                              .name = page.name,
                              .threads = 1,
                              .max_bytes = (uint64_t)o->memory},
                      .seconds = (double)o->seconds,
                      .quiet = o->quiet};
    const int status = bench_try(&x.job); /* wrong options are found before anything else */
    if (status != EXIT_OK)
        return status;
    if (o->augment[0] != '\0')
        return bench_augmenters(&x.job, o->augment, t->repeats, x.seconds, o->json);
    bench_views_read(&x.views, &iter);
    t->views = x.views.count;
    if (!measure_all(&x))
        return EXIT_FAILED;
    if (o->json)
        bench_print_json(t);
    else
        bench_print(t);
    return o->report[0] == '\0' || bench_report(t, page.name, o->report) ? EXIT_OK : EXIT_FAILED;
}

static int run(const struct options *o, int n, char **operand)
{
    struct bench_table *t = cli_realloc(NULL, 1, sizeof(*t));
    *t = (struct bench_table){
        .uri = operand[0], .pairs = operand + 1, .pair_count = n - 1, .repeats = (int)o->repeat};
    const int status = bench(t, o);
    cli_free(t);
    return status;
}
