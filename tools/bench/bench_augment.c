/* tools/bench/bench_augment.c - the time of each augmenter, compared with decoding an image. */
#include "tools/bench/bench_augment.h"
#include "tools/view/augmenters.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const struct augmenter *a;
    struct imrec_iter_options o;
    char words[AUGMENTER_WORDS]; /* what the options borrow */
    struct bench_values augment_us, cpu_us;
};

/* ---- which ---------------------------------------------------------------------------------- */

static bool wanted(const char *names, const char *name)
{
    const size_t n = strlen(name);
    if (strcmp(names, "all") == 0)
        return true;
    for (const char *at = names; *at != '\0'; at += at[strcspn(at, ",")] == ',') {
        const size_t length = strcspn(at, ",");
        if (length == n && memcmp(at, name, n) == 0)
            return true;
        at += length;
    }
    return false;
}

static int count_measured(void)
{
    int n = 0;
    for (const struct augmenter *a = augmenters; a->name != NULL; a++)
        n += a->kind == AUGMENTER_MEASURED;
    return n;
}

static int refuse_names(const char *command, const char *names)
{
    (void)cli_refuse(stderr, command,
                     "augment must be all or names with commas between, not '%.80s'", names);
    fputs("names:", stderr);
    for (const struct augmenter *a = augmenters; a->name != NULL; a++)
        if (a->kind == AUGMENTER_MEASURED)
            fprintf(stderr, " %s", a->name);
    fputc('\n', stderr);
    return -1;
}

/* How many rows; -1 after a line on stderr. */
static int choose(struct row *rows, const struct bench_job *job, const char *names)
{
    struct imrec_error err;
    int n = 0;
    for (const struct augmenter *a = augmenters; a->name != NULL; a++) {
        if (a->kind != AUGMENTER_MEASURED || !wanted(names, a->name))
            continue;
        rows[n].a = a;
        rows[n].o = *job->iter;
        if (augmenter_apply(a, &rows[n].o, rows[n].words, &err) != IMREC_OK) {
            (void)cli_fail(job->name, &err);
            return -1;
        }
        n++;
    }
    return n > 0 ? n : refuse_names(job->name, names);
}

/* ---- measuring ------------------------------------------------------------------------------ */

static bool measure(struct row *row, struct bench_job job)
{
    struct bench_result r;
    job.iter = &row->o;
    if (!bench_run_iterator(&job, &r))
        return false;
    const double images = (double)r.images;
    bench_add(&row->augment_us, 1e6 * r.share[STAGE_AUGMENT] * r.seconds / images);
    bench_add(&row->cpu_us, 1e6 * r.cpu_seconds / images);
    return true;
}

static bool measure_limit(struct bench_values *us, struct bench_job *job)
{
    struct bench_result r;
    const bool good = bench_run_limit(job, &r);
    if (good)
        bench_add(us, 1e6 * r.cpu_seconds / (double)r.images);
    return good;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void print_text(const struct row *rows, int n, const struct bench_values *limit)
{
    const double decode = bench_median(limit);
    printf("us an image on one thread; decoding alone, by libjpeg-turbo: %.0f\n", decode);
    printf("%-31s %8s %8s %8s  %s\n", "augmenter", "augment", "of that", "in all", "options");
    for (int i = 0; i < n; i++)
        printf("%-31s %8.0f %7.0f%% %8.0f  %s\n", rows[i].a->name,
               bench_median(&rows[i].augment_us), 100 * bench_median(&rows[i].augment_us) / decode,
               bench_median(&rows[i].cpu_us), rows[i].a->words);
}

static void print_json(const struct row *rows, int n, const struct bench_values *limit)
{
    struct json j;
    json_begin(&j, stdout);
    json_rounded(&j, "decode_us", bench_median(limit));
    json_array(&j, "augmenters");
    for (int i = 0; i < n; i++) {
        json_object(&j, NULL);
        json_text(&j, "name", rows[i].a->name);
        json_text(&j, "options", rows[i].a->words);
        JSON_ROUNDED(&j, {"augment_us", bench_median(&rows[i].augment_us)},
                     {"cpu_us_per_image", bench_median(&rows[i].cpu_us)});
        json_end(&j);
    }
    json_close(&j);
}

int bench_augmenters(const struct bench_job *job, const char *names, int repeats, double seconds,
                     bool json)
{
    struct bench_job one = *job;
    struct bench_values limit = {.n = 0};
    const size_t most = (size_t)count_measured();
    struct row *rows = cli_realloc(NULL, most, sizeof(*rows));
    memset(rows, 0, most * sizeof(*rows));
    const int n = choose(rows, job, names);
    bool fine = n > 0;
    one.threads = 1;
    one.images = (uint64_t)(seconds * 1000) + 1; /* some thousand images a second */
    for (int k = 0; fine && k < repeats; k++) {
        fine = measure_limit(&limit, &one);
        for (int i = 0; fine && i < n; i++)
            fine = measure(&rows[i], one);
    }
    if (fine && json)
        print_json(rows, n, &limit);
    else if (fine)
        print_text(rows, n, &limit);
    cli_free(rows);
    return fine ? EXIT_OK : n > 0 ? EXIT_FAILED : EXIT_USAGE;
}
