/* tools/bench/bench_run.c - one measurement, in a process of its own. */
#define _GNU_SOURCE /* sched_setaffinity, wait4 */
#include "tools/bench/bench_run.h"

#include "tools/commands/command.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const bench_stage_names[STAGES] = {"io_wait", "feed", "decode", "augment",
                                               "consumer_wait"};

/* ---- CPUs and memory -------------------------------------------------------------------- */

uint32_t bench_cpus(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
#endif
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}

/* The first n CPUs that this process may use; more threads than CPUs stay free. */
static void pin(uint32_t n)
{
#if defined(__linux__)
    cpu_set_t all, some;
    CPU_ZERO(&some);
    if (sched_getaffinity(0, sizeof(all), &all) != 0 || n >= (uint32_t)CPU_COUNT(&all))
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < (int)n; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &some);
    (void)sched_setaffinity(0, sizeof(some), &some); /* not everywhere; the rest still counts */
#else
    (void)n;
#endif
}

static uint64_t resident_bytes(void)
{
    unsigned long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%lu %lu", &pages, &resident) != 2)
        resident = 0;
    if (f != NULL)
        (void)fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- inside the child ------------------------------------------------------------------- */

static void take(const struct bench_limit_result *run, struct bench_result *out)
{
    out->good = true;
    out->seconds = run->seconds;
    out->cpu_seconds = run->cpu_seconds;
    out->images = run->images;
    out->bytes = run->bytes;
    out->failed = run->failed;
}

static void limit(const struct bench_job *job, struct bench_result *out)
{
    struct bench_limit *b;
    struct bench_limit_result run;
    const struct imrec_iter_options *o = job->iter;
    const struct imrec_reader_options reader = READER_OF_O;
    enum imrec_status st = bench_limit_open(job->uri, &reader, 0, job->max_bytes, &b, &out->why);
    if (st != IMREC_OK)
        return;
    st = bench_limit_plain(b, job->threads, job->images, &out->rewritten, &out->why);
    if (st == IMREC_OK)
        st = bench_limit_run(b, job->threads, 16 * (uint64_t)job->threads, &run, &out->why);
    if (st == IMREC_OK) /* that was to warm up */
        st = bench_limit_run(b, job->threads, job->images, &run, &out->why);
    if (st == IMREC_OK)
        take(&run, out);
    bench_limit_close(b);
}

/* The next batch, over the ends of sweeps. */
static bool next_batch(struct imrec_iter *it, struct imrec_batch *b, struct bench_result *out)
{
    enum imrec_status st = imrec_iter_next(it, b, &out->why);
    if (st == IMREC_END)
        st = imrec_iter_next(it, b, &out->why);
    if (st == IMREC_END) {
        out->why.status = st;
        snprintf(out->why.message, sizeof(out->why.message), "a sweep has no batch");
    }
    return st == IMREC_OK || st == IMREC_ERR_DATA;
}

static void take_shares(const struct imrec_iter_stats *was, const struct imrec_iter_stats *is,
                        struct bench_result *out)
{
    const double whole = 1e9 * out->seconds * (double)(is->workers != 0 ? is->workers : 1);
    out->share[STAGE_IO_WAIT] = (double)(is->io_wait_ns - was->io_wait_ns) / whole;
    out->share[STAGE_FEED] = (double)(is->feed_ns - was->feed_ns) / whole;
    out->share[STAGE_DECODE] = (double)(is->decode_ns - was->decode_ns) / whole;
    out->share[STAGE_AUGMENT] = (double)(is->augment_ns - was->augment_ns) / whole;
    out->share[STAGE_CONSUMER] = (double)(is->consumer_wait_ns - was->consumer_wait_ns) / whole;
}

static void measure(const struct bench_job *job, struct imrec_iter *it, struct bench_result *out)
{
    struct imrec_batch b;
    struct imrec_iter_stats was, is;
    const int64_t warm_up = job->iter->prefetch_buffer + 2; /* every batch's memory was touched */
    uint64_t batches = 0;
    for (int64_t i = 0; i < warm_up; i++)
        if (!next_batch(it, &b, out))
            return;
    imrec_iter_get_stats(it, &was);
    const double wall = bench_now(), cpu = bench_cpu_now();
    while (out->images < job->images) {
        if (!next_batch(it, &b, out))
            return;
        out->images += b.count / b.repeats; /* samples */
        out->failed += b.failed + b.replaced;
        batches++;
    }
    out->seconds = bench_now() - wall;
    out->cpu_seconds = bench_cpu_now() - cpu;
    imrec_iter_get_stats(it, &is);
    out->bytes = is.bytes_read - was.bytes_read;
    out->batch_s = out->seconds / (double)batches;
    out->rss_bytes = resident_bytes();
    out->planned_bytes = is.memory_planned_bytes;
    out->indexed = is.indexed;
    imrec_iter_get_traffic(it, &out->traffic);
    take_shares(&was, &is, out);
    memcpy(out->advice, is.advice, sizeof(out->advice));
    out->good = true;
}

static void iterator(const struct bench_job *job, struct bench_result *out)
{
    struct imrec_iter_options o = *job->iter;
    struct imrec_iter *it;
    struct imrec_batch b;
    o.preprocess_threads = job->threads;
    const double begin = bench_now();
    if (imrec_iter_open(&o, &it, &out->why) != IMREC_OK)
        return;
    if (next_batch(it, &b, out)) {
        out->first_batch_s = bench_now() - begin;
        measure(job, it, out);
    }
    imrec_iter_close(it);
}

static void read_records(const struct bench_job *job, struct bench_result *out)
{
    struct bench_limit_result run;
    const struct imrec_iter_options *o = job->iter;
    const struct imrec_reader_options reader = READER_OF_O;
    if (bench_limit_read(job->uri, &reader, job->max_bytes, &run, &out->why) == IMREC_OK)
        take(&run, out);
}

static void try_options(const struct bench_job *job, struct bench_result *out)
{
    struct imrec_iter *it;
    const int status = command_iter_open(job->name, job->iter, &it);
    if (status == EXIT_OK)
        imrec_iter_close(it);
    out->good = true;
    out->failed = (uint64_t)status;
}

/* ---- the child -------------------------------------------------------------------------- */

static bool fail(struct imrec_error *why, const char *what)
{
    snprintf(why->message, sizeof(why->message), "%s: %s", what, strerror(errno));
    return false;
}

static bool collect(int fd, pid_t child, void *out, size_t n, struct imrec_error *why)
{
    size_t got = 0;
    int status = 0;
    while (got < n) {
        const ssize_t more = read(fd, (char *)out + got, n - got);
        if (more == 0 || (more < 0 && errno != EINTR))
            break;
        got += more > 0 ? (size_t)more : 0;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (got != n)
        snprintf(why->message, sizeof(why->message), "a measurement ended early (%s %d)",
                 WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return got == n;
}

bool bench_in_child(uint32_t cpus, void (*work)(void *), void *arg, void *out, size_t n,
                    struct imrec_error *why)
{
    int ends[2];
    (void)fflush(NULL); /* nothing is written twice */
    if (pipe(ends) != 0)
        return fail(why, "cannot make a pipe");
    const pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        pin(cpus);
        work(arg);
        _exit(write(ends[1], out, n) == (ssize_t)n ? 0 : 1);
    }
    (void)close(ends[1]);
    const bool good =
        child < 0 ? fail(why, "cannot start a process") : collect(ends[0], child, out, n, why);
    (void)close(ends[0]);
    return good;
}

struct call {
    void (*work)(const struct bench_job *, struct bench_result *);
    const struct bench_job *job;
    struct bench_result *out;
};

static void call(void *arg)
{
    const struct call *c = arg;
    c->work(c->job, c->out);
}

static bool in_child(void (*work)(const struct bench_job *, struct bench_result *),
                     const struct bench_job *job, struct bench_result *out)
{
    struct call c = {work, job, out};
    struct imrec_error why = {0};
    *out = (struct bench_result){0};
    if (!bench_in_child(job->threads, call, &c, out, sizeof(*out), &why))
        *out = (struct bench_result){.why = why};
    if (!out->good)
        (void)cli_fail(job->name, &out->why);
    return out->good;
}

int bench_try(const struct bench_job *job)
{
    struct bench_result out;
    return in_child(try_options, job, &out) ? (int)out.failed : EXIT_FAILED;
}

bool bench_run_limit(const struct bench_job *job, struct bench_result *out)
{
    return in_child(limit, job, out);
}

bool bench_run_iterator(const struct bench_job *job, struct bench_result *out)
{
    return in_child(iterator, job, out);
}

bool bench_run_read(const struct bench_job *job, struct bench_result *out)
{
    return in_child(read_records, job, out);
}
