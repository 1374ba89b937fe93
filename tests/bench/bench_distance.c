/*
 * bench_distance FOLDER [PAIRS [DELAY_MS [RULE]]] - reading shards over a distance, beside reading
 * them here.
 *
 * FOLDER has the shards of a set, W1's: packed at 256 px. The reader has CPU 0, the server CPU 1,
 * by default with 50 ms a request and 1 GB/s. Sweeps of both are in turns, each in a process of its
 * own, so with new connections; the speed is that after the first tenth of the sweep. Then, without
 * a delay, the bytes alone, beside `curl --parallel`. RULE: what goes wrong, as in http_proxy.h. */
#include "base/clock.h"
#include "base/threads.h"
#include "imrec/imrec.h"
#include "storage/source.h"
#include "storage/uri_list.h"
#include "tests/support/http_proxy.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS_MOST = 64, BATCH = 128, PIECE = 16 << 20, READERS = 4, SHARDS_MOST = 512 };

struct run {
    double first_s, rate, cpu_s; /* first batch; images or bytes a second after the first tenth */
    uint64_t items;              /* images, or bytes */
};
typedef struct run measure_fn(const char *spec, const char *url);

static struct uri_list shards;

static void use_cpu(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static double cpu_of(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double since(uint64_t ns)
{
    return (double)(clock_ns() - ns) / 1e9;
}

static void end(const struct imrec_error *err)
{
    fprintf(stderr, "bench_distance: %s\n", err->message);
    _exit(EXIT_FAILURE);
}

/* ---- what is measured -------------------------------------------------------------------- */

static struct run sweep(const char *spec, const char *url)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch b;
    struct imrec_error err;
    struct imrec_iter_stats stats;
    struct run r = {0};
    uint64_t begin = clock_ns(), images = 0, at = 0;
    (void)url;
    imrec_iter_options_init(&o);
    o.path_imgrec = spec;
    o.data_shape = (struct imrec_shape){.channels = 3, .height = 224, .width = 224};
    o.batch_size = BATCH;
    o.shuffle = o.rand_crop = o.rand_mirror = true;
    o.preprocess_threads = 1;
    o.shuffle_window = 64 << 20;
    o.verbose = false;
    if (imrec_iter_open(&o, &it, &err) != IMREC_OK)
        end(&err);
    enum imrec_status st;
    while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK) {
        r.first_s = r.first_s == 0 ? since(begin) : r.first_s;
        if (at == 0 && b.number * BATCH > (uint64_t)shards.count * 40)
            at = clock_ns();
        else if (at != 0)
            images += b.count;
    }
    if (st != IMREC_END)
        end(&err);
    r.rate = (double)images / since(at);
    imrec_iter_get_stats(it, &stats);
    r.items = stats.images;
    imrec_iter_close(it);
    return r;
}

static struct {
    struct mutex lock;
    uint32_t shard;
    uint64_t bytes;
    const char *url;
} reading = {.lock = MUTEX_INIT};

static void *read_shards(void *unused)
{
    struct source *s;
    struct imrec_error err;
    char uri[512];
    uint8_t *to = malloc(PIECE);
    (void)unused;
    for (;;) {
        mutex_lock(&reading.lock);
        const uint32_t i = reading.shard++;
        mutex_unlock(&reading.lock);
        if (i >= shards.count)
            break;
        snprintf(uri, sizeof(uri), "%s/%s", reading.url, strrchr(shards.uri[i], '/') + 1);
        if (source_open(uri, &s, &err) != IMREC_OK)
            end(&err);
        for (uint64_t at = 0; at < s->size; at += PIECE)
            if (source_read(s, at, to, s->size - at < PIECE ? s->size - at : PIECE, &err) !=
                IMREC_OK)
                end(&err);
        mutex_lock(&reading.lock);
        reading.bytes += s->size;
        mutex_unlock(&reading.lock);
        source_close(s);
    }
    free(to);
    return NULL;
}

static struct run read_all(const char *spec, const char *url)
{
    struct thread t[READERS];
    const uint64_t begin = clock_ns();
    (void)spec;
    reading.url = url;
    for (int i = 0; i < READERS; i++)
        if (thread_start(&t[i], "read", read_shards, NULL, NULL) != IMREC_OK)
            _exit(EXIT_FAILURE);
    for (int i = 0; i < READERS; i++)
        thread_join(&t[i]);
    return (struct run){.rate = (double)reading.bytes / since(begin), .items = reading.bytes};
}

static struct run curl_all(const char *spec, const char *url)
{
    char *command = malloc(64 << 10);
    size_t n = (size_t)snprintf(command, 64 << 10,
                                "curl --silent --fail --parallel --parallel-max 16 2>/dev/null");
    struct run r = {0};
    (void)spec;
    for (size_t i = 0; i < shards.count; i++)
        n += (size_t)snprintf(command + n, (64 << 10) - n, " -o /dev/null %s/%s", url,
                              strrchr(shards.uri[i], '/') + 1);
    for (size_t i = 0; i < shards.count; i++) {
        struct source *s;
        if (source_open(shards.uri[i], &s, NULL) == IMREC_OK)
            r.items += s->size;
        source_close(s);
    }
    const uint64_t begin = clock_ns();
    if (system(command) != 0)
        _exit(EXIT_FAILURE);
    r.rate = (double)r.items / since(begin);
    r.cpu_s = cpu_of(RUSAGE_CHILDREN);
    free(command);
    return r;
}

/* ---- turns ------------------------------------------------------------------------------- */

static struct run apart(measure_fn *measure, const char *spec, const char *url)
{
    int ends[2];
    struct run r = {0};
    if (pipe(ends) != 0)
        exit(EXIT_FAILURE);
    const pid_t child = fork();
    if (child == 0) {
        use_cpu(0);
        r = measure(spec, url);
        r.cpu_s += cpu_of(RUSAGE_SELF);
        _exit(write(ends[1], &r, sizeof(r)) != (ssize_t)sizeof(r));
    }
    close(ends[1]);
    const bool whole = read(ends[0], &r, sizeof(r)) == (ssize_t)sizeof(r);
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (!whole)
        exit(EXIT_FAILURE);
    return r;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void tell(const char *what, double *v, int n)
{
    qsort(v, (size_t)n, sizeof(*v), by_value);
    printf("  %-44s %10.3f  (%.3f to %.3f)\n", what, v[n / 2], v[n / 10], v[n - 1 - n / 10]);
}

/* Runs both in turns; ratios are of each pair. */
static void compare(const char *title, measure_fn *a, const char *spec_a, measure_fn *b,
                    const char *spec_b, struct proxy *p, int pairs)
{
    static double value[8][PAIRS_MOST];
    const double cpu = proxy_stat(p, "cpu_s");
    const uint64_t begin = clock_ns();
    for (int i = 0; i < pairs; i++) {
        const struct run x = apart(a, spec_a, p->url), y = apart(b, spec_b, p->url);
        value[0][i] = x.rate, value[1][i] = y.rate, value[2][i] = y.rate / x.rate;
        value[3][i] = x.first_s, value[4][i] = y.first_s;
        value[5][i] = y.cpu_s / (double)y.items / (x.cpu_s / (double)x.items);
    }
    printf("%s, %d pairs, median (10 to 90 %%):\n", title, pairs);
    tell("first, a second", value[0], pairs);
    tell("second, a second", value[1], pairs);
    tell("second to first", value[2], pairs);
    tell("first: first batch after, s", value[3], pairs);
    tell("second: first batch after, s", value[4], pairs);
    tell("CPU time of each, second to first", value[5], pairs);
    printf("  server: %.0f %% of its CPU, at most %.0f requests at once, %.0f in all\n",
           100 * (proxy_stat(p, "cpu_s") - cpu) / since(begin), proxy_stat(p, "in_flight_most"),
           proxy_stat(p, "requests"));
}

static char *over_there(const char *url)
{
    char *spec = calloc(shards.count, 600);
    for (size_t i = 0, n = 0; i < shards.count; i++)
        n += (size_t)sprintf(spec + n, "%s%s/%s", i != 0 ? ";" : "", url,
                             strrchr(shards.uri[i], '/') + 1);
    return spec;
}

int main(int argc, char **argv)
{
    struct imrec_error err;
    const char *folder = argc > 1 ? argv[1] : ".", *delay = argc > 3 ? argv[3] : "50";
    const int pairs = argc > 2 ? atoi(argv[2]) : 15;
    if (pairs < 1 || pairs > PAIRS_MOST ||
        uri_list_expand(folder, ".rec", &shards, &err) != IMREC_OK || shards.count > SHARDS_MOST)
        return EXIT_FAILURE;
    use_cpu(1);
    struct proxy *far = proxy_start(folder, "--delay", delay, "--bandwidth", "1000000000", NULL),
                 *near = proxy_start(folder, NULL);
    char *spec = over_there(far->url);
    if (argc > 4)
        proxy_rules(far, argv[4]);
    compare("A sweep from a folder; from a distance", sweep, folder, sweep, spec, far, pairs);
    compare("curl --parallel; this library", curl_all, NULL, read_all, NULL, near, pairs);
    proxy_stop(near);
    proxy_stop(far);
    free(spec);
    return EXIT_SUCCESS;
}
