/* tools/bench/bench_sequences.c - minibatches versus simple code.
 *
 * For a text: a walk that finds numbers and converts them by strtof(), and memchr() for line ends
 * (the baseline of finding the sequences). For a binary file: memcpy(). For both: read()
 * into a small buffer. Each is a process of its own, pinned, and they take turns. */
#include "tools/bench/bench_sequences.h"

#include "cli/show.h"
#include "tools/commands/minibatch_config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum rate { RATE_BY_HAND, RATE_LINES, RATE_READ, RATE_OPEN, RATE_SWEEP, RATE_AGAIN, RATES };

struct row { /* a team's measurements, MB/s of the file */
    uint32_t threads;
    struct bench_values rate[RATES], cpu, first, memory;
};

struct measured { /* by a child */
    struct bench_result common;
    double rate[RATES], cpu_s_per_gb, first_s;
    uint64_t memory;
};

struct run {
    const struct bench_sequences *b;
    char *const *file; /* what the source is made of */
    bool binary;
    uint64_t bytes; /* of the files */
    uint32_t threads;
    struct measured out;
};

static double mb(uint64_t bytes, double seconds)
{
    return 1e-6 * (double)bytes / (seconds > 1e-9 ? seconds : 1e-9);
}

/* ---- by hand ----------------------------------------------------------------------------- */

static volatile double sink; /* keeps the compiler from omitting work */

/* As a program without a reader would do it. */
static void walk(const char *text)
{
    double sum = 0;
    for (const char *p = text; *p != '\0';) {
        char *end;
        if ((*p < '0' || *p > '9') && *p != '-' && *p != '+' && *p != '.') {
            p++;
            continue;
        }
        sum += (double)strtof(p, &end);
        p = end > p ? end : p + 1;
    }
    sink += sum;
}

static void count_lines(const char *text, size_t n)
{
    uint64_t lines = 0;
    for (const char *p = text, *lf; (lf = memchr(p, '\n', n - (size_t)(p - text))) != NULL;
         p = lf + 1)
        lines++;
    sink += (double)lines;
}

/* The first bytes of a file, with a NUL after them. */
static char *load(const char *path, uint64_t most, size_t *n)
{
    FILE *f = fopen(path, "rb");
    struct stat s;
    if (f == NULL || fstat(fileno(f), &s) != 0) {
        if (f != NULL)
            fclose(f);
        return NULL;
    }
    const size_t want = (uint64_t)s.st_size < most ? (size_t)s.st_size : (size_t)most;
    char *text = cli_realloc(NULL, want + 1, 1);
    *n = fread(text, 1, want, f);
    text[*n] = '\0';
    fclose(f);
    return text;
}

static void by_hand(struct run *r)
{
    size_t n = 0;
    char *text = load(r->file[0], r->b->max_bytes, &n);
    if (text == NULL)
        return;
    char *copy = r->binary ? cli_realloc(NULL, n + 1, 1) : NULL;
    if (copy != NULL)
        memset(copy, 1, n + 1); /* its pages are there */
    double begin = bench_now();
    uint64_t done = 0;
    do {
        if (copy != NULL)
            memcpy(copy, text, n);
        else
            walk(text);
        sink += copy != NULL ? copy[n / 2] : 0;
        done += n;
    } while (bench_now() - begin < r->b->seconds);
    r->out.rate[RATE_BY_HAND] = mb(done, bench_now() - begin);
    begin = bench_now();
    for (done = 0; bench_now() - begin < 0.2 * r->b->seconds; done += n)
        count_lines(text, n);
    r->out.rate[RATE_LINES] = mb(done, bench_now() - begin);
    cli_free(copy);
    cli_free(text);
    r->out.common.good = true;
}

static void read_only(struct run *r)
{
    enum { PIECE = 2 << 20 };
    char *piece = cli_realloc(NULL, PIECE, 1);
    uint64_t done = 0;
    const double begin = bench_now();
    do {
        const int fd = open(r->file[0], O_RDONLY);
        for (ssize_t n; fd >= 0 && (n = read(fd, piece, PIECE)) > 0;)
            done += (uint64_t)n;
        if (fd >= 0)
            close(fd);
    } while (done > 0 && bench_now() - begin < 0.3 * r->b->seconds);
    r->out.rate[RATE_READ] = mb(done, bench_now() - begin);
    r->out.common.good = done > 0;
    cli_free(piece);
}

/* ---- minibatches ------------------------------------------------------------------------- */

struct times {
    double open, first, sweep, again;
    uint64_t rounds;
};

/* Opens, goes through two sweeps, closes. */
static bool two_sweeps(struct run *r, const struct imrec_minibatch_config *c, struct times *t)
{
    struct imrec_error *err = &r->out.common.why;
    struct imrec_minibatch_source *s;
    struct imrec_minibatch m;
    struct imrec_minibatch_stats stats;
    double begin = bench_now(), swept[2] = {0, 0};
    if (imrec_minibatch_source_open(imrec_minibatch_config_options(c), &s, err) != IMREC_OK)
        return false;
    t->open += bench_now() - begin;
    enum imrec_status st = IMREC_OK;
    begin = bench_now();
    for (uint64_t n = 0, sweep = 0; sweep < 2; n++) {
        st = imrec_minibatch_next(s, 0, NULL, 0, &m, err);
        if (st != IMREC_OK)
            break;
        if (n == 0)
            t->first += bench_now() - begin;
        if (m.sweep_end) {
            swept[sweep++] = bench_now() - begin;
            begin = bench_now();
        }
    }
    imrec_minibatch_get_stats(s, &stats);
    r->out.memory = stats.memory_bytes;
    imrec_minibatch_source_close(s);
    t->sweep += swept[0];
    t->again += swept[1];
    t->rounds++;
    return st == IMREC_OK;
}

static void minibatches(struct run *r)
{
    struct imrec_minibatch_config *c;
    struct times t = {0};
    char threads[32];
    struct imrec_error *err = &r->out.common.why;
    snprintf(threads, sizeof(threads), "threads=%" PRIu32, r->threads);
    if (imrec_minibatch_config_new(&c, err) != IMREC_OK)
        return;
    bool good = minibatch_config_read(c, r->b->name, r->b->source, r->b->pair_count, r->b->pairs,
                                      err) == IMREC_OK &&
                imrec_minibatch_config_set(c, threads, err) == IMREC_OK;
    const double begin = bench_now(), cpu = bench_cpu_now();
    do
        good = good && two_sweeps(r, c, &t);
    while (good && bench_now() - begin < r->b->seconds);
    const uint64_t bytes = r->bytes * t.rounds;
    r->out.rate[RATE_OPEN] = mb(bytes, t.open);
    r->out.rate[RATE_SWEEP] = mb(bytes, t.sweep);
    r->out.rate[RATE_AGAIN] = mb(bytes, t.again);
    r->out.cpu_s_per_gb = 1e9 * (bench_cpu_now() - cpu) / (2 * (double)bytes + 1);
    r->out.first_s = t.first / (double)(t.rounds > 0 ? t.rounds : 1);
    r->out.common.good = good;
    imrec_minibatch_config_free(c);
}

/* ---- turns ------------------------------------------------------------------------------- */

static bool take_turn(struct run *r, uint32_t threads, void (*work)(struct run *))
{
    r->threads = threads;
    memset(&r->out, 0, sizeof(r->out));
    if (!bench_in_child(threads, (void (*)(void *))work, r, &r->out, sizeof(r->out),
                        &r->out.common.why) ||
        !r->out.common.good) {
        (void)cli_fail(r->b->name, &r->out.common.why);
        return false;
    }
    return true;
}

static bool measure(struct run *r, struct row *row)
{
    for (int i = 0; i < r->b->repeats; i++) {
        if (!take_turn(r, 1, by_hand))
            return false;
        bench_add(&row->rate[RATE_BY_HAND], r->out.rate[RATE_BY_HAND]);
        bench_add(&row->rate[RATE_LINES], r->out.rate[RATE_LINES]);
        if (!take_turn(r, row->threads, minibatches))
            return false;
        for (int k = RATE_OPEN; k <= RATE_AGAIN; k++)
            bench_add(&row->rate[k], r->out.rate[k]);
        bench_add(&row->cpu, r->out.cpu_s_per_gb);
        bench_add(&row->first, 1e3 * r->out.first_s);
        bench_add(&row->memory, (double)r->out.memory);
        if (!take_turn(r, 1, read_only))
            return false;
        bench_add(&row->rate[RATE_READ], r->out.rate[RATE_READ]);
    }
    return true;
}

/* ---- printing ---------------------------------------------------------------------------- */

static double over(const struct row *r, enum rate a, enum rate b)
{
    const double base = bench_median(&r->rate[b]);
    return base > 0 ? bench_median(&r->rate[a]) / base : 0;
}

static void print_row(const struct run *r, const struct row *m)
{
    const char *hand = r->binary ? "memcpy" : "strtof walk";
    char threads[HUMAN_THINGS], runs[HUMAN_THINGS];
    printf("%s (%s; MB/s of the file, median, spread in %%)\n",
           human_things(m->threads, "thread", threads),
           human_things((uint64_t)r->b->repeats, "run", runs));
    const struct {
        const char *name;
        enum rate rate, base;
    } lines[] = {{hand, RATE_BY_HAND, RATES},
                 {"read()", RATE_READ, RATES},
                 {"memchr for lines", RATE_LINES, RATES},
                 {"open (index)", RATE_OPEN, RATE_LINES},
                 {"first sweep", RATE_SWEEP, RATE_BY_HAND},
                 {"next sweep", RATE_AGAIN, RATE_BY_HAND}};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (r->binary && (lines[i].rate == RATE_LINES || lines[i].rate == RATE_OPEN))
            continue;
        printf("  %-18s %9.0f  %3.0f %%", lines[i].name, bench_median(&m->rate[lines[i].rate]),
               100 * bench_spread(&m->rate[lines[i].rate]));
        if (lines[i].base != RATES)
            printf("  %6.2f x %s", over(m, lines[i].rate, lines[i].base),
                   lines[i].base == RATE_LINES ? "memchr" : hand);
        putchar('\n');
    }
    printf("  CPU %.2f s a GB, first minibatch after %.1f ms, %.0f MiB\n", bench_median(&m->cpu),
           bench_median(&m->first), bench_median(&m->memory) / (1 << 20));
}

static void print_json(const struct run *r, const struct row *row)
{
    static const char *const names[RATES] = {"by_hand_mb_s", "memchr_mb_s", "read_mb_s",
                                             "open_mb_s",    "sweep_mb_s",  "next_sweep_mb_s"};
    struct json j;
    json_begin(&j, stdout);
    json_text(&j, "source", cli_uri(r->b->source));
    json_text(&j, "format", r->binary ? "binary" : "text");
    json_uint(&j, "bytes", r->bytes);
    json_array(&j, "runs");
    for (int i = 0; i < r->b->team_count; i++) {
        const struct row *m = &row[i];
        json_object(&j, NULL);
        json_uint(&j, "threads", m->threads);
        for (int k = 0; k < RATES; k++) {
            json_object(&j, names[k]);
            JSON_ROUNDED(&j, {"median", bench_median(&m->rate[k])},
                         {"spread", bench_spread(&m->rate[k])});
            json_end(&j);
        }
        JSON_ROUNDED(&j, {"ratio", over(m, RATE_SWEEP, RATE_BY_HAND)},
                     {"next_ratio", over(m, RATE_AGAIN, RATE_BY_HAND)},
                     {"index_ratio", over(m, RATE_OPEN, RATE_LINES)},
                     {"cpu_s_per_gb", bench_median(&m->cpu)},
                     {"first_minibatch_ms", bench_median(&m->first)},
                     {"memory_bytes", bench_median(&m->memory)});
        json_end(&j);
    }
    json_close(&j);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Plain files of the source: what is read by hand is the first. */
static bool
find_files(struct run *r, const struct imrec_minibatch_options *o, struct imrec_error *err)
{
    struct stat s;
    enum imrec_file_kind kind;
    static char *file[1];
    file[0] = (char *)o->deserializer[0].file;
    r->file = file;
    if (o->deserializers != 1 || stat(file[0], &s) != 0 || !S_ISREG(s.st_mode)) {
        err->status = IMREC_ERR_ARGUMENT;
        snprintf(err->message, sizeof(err->message),
                 "%.200s: minibatches are measured from one plain file", file[0]);
        return false;
    }
    r->bytes = (uint64_t)s.st_size;
    const enum imrec_status st = imrec_file_kind(file[0], &kind, NULL, err);
    r->binary = st == IMREC_OK && kind == IMREC_FILE_CBF;
    return st == IMREC_OK;
}

int bench_sequences(const struct bench_sequences *b)
{
    struct run r = {.b = b};
    struct imrec_error err = {0};
    struct imrec_minibatch_config *c;
    if (imrec_minibatch_config_new(&c, &err) != IMREC_OK)
        return cli_fail(b->name, &err);
    struct row *row = cli_realloc(NULL, (size_t)b->team_count, sizeof(*row));
    memset(row, 0, (size_t)b->team_count * sizeof(*row));
    bool good =
        minibatch_config_read(c, b->name, b->source, b->pair_count, b->pairs, &err) == IMREC_OK &&
        find_files(&r, imrec_minibatch_config_options(c), &err);
    if (!good)
        (void)cli_fail(b->name, &err);
    for (int i = 0; i < b->team_count && good; i++) {
        row[i].threads = b->team[i].threads;
        good = measure(&r, &row[i]);
        if (good && !b->json)
            print_row(&r, &row[i]);
    }
    if (good && b->json)
        print_json(&r, row);
    imrec_minibatch_config_free(c);
    cli_free(row);
    return good ? EXIT_OK : EXIT_FAILED;
}
