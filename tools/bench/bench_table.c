/* tools/bench/bench_table.c - what the measurements amount to. */
#include "tools/bench/bench_table.h"
#include "cli/show.h"

#include <stdlib.h>

void bench_add(struct bench_values *x, double v)
{
    if (x->n < BENCH_REPEATS)
        x->v[x->n++] = v;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const struct bench_values *x)
{
    struct bench_values s = *x;
    if (s.n == 0)
        return 0;
    qsort(s.v, (size_t)s.n, sizeof(s.v[0]), by_value);
    return s.n % 2 != 0 ? s.v[s.n / 2] : (s.v[s.n / 2 - 1] + s.v[s.n / 2]) / 2;
}

double bench_spread(const struct bench_values *x)
{
    double least = x->n > 0 ? x->v[0] : 0, greatest = least;
    const double median = bench_median(x);
    for (int i = 1; i < x->n; i++) {
        least = x->v[i] < least ? x->v[i] : least;
        greatest = x->v[i] > greatest ? x->v[i] : greatest;
    }
    return median > 0 ? (greatest - least) / median : 0;
}

double bench_mb(const struct bench_team *t)
{
    return 1e-6 * t->image_bytes * bench_median(&t->rate);
}

double bench_ratio(const struct bench_team *t)
{
    const double limit = bench_median(&t->limit_rate);
    return limit > 0 ? bench_median(&t->rate) / limit : 0;
}

/* ---- text ------------------------------------------------------------------------------- */

static void print_team(const struct bench_team *t)
{
    char rss[HUMAN_BYTES];
    printf("%7" PRIu32 " %9.0f +-%2.0f%% %9.0f +-%2.0f%% %7.3f %8.1f %9.0f %9.0f %10s %8.0f ms\n",
           t->threads, bench_median(&t->limit_rate), 50 * bench_spread(&t->limit_rate),
           bench_median(&t->rate), 50 * bench_spread(&t->rate), bench_ratio(t), bench_mb(t),
           bench_median(&t->limit_cpu_us), bench_median(&t->cpu_us),
           human_size((uint64_t)bench_median(&t->rss), rss), 1e3 * bench_median(&t->first_batch));
}

static void print_stages(const struct bench_team *t)
{
    printf("%7" PRIu32, t->threads);
    for (int s = 0; s < STAGES; s++)
        printf("  %s %.1f%%", bench_stage_names[s], 100 * bench_median(&t->share[s]));
    printf("\n%7s  %s\n", "", t->advice);
    command_traffic(NULL, &t->traffic);
}

static void print_views(const struct bench_table *t)
{
    printf("\n%" PRIu32 " views of each sample, views/s:\n", t->views);
    printf("threads  one decode  a decode each  ratio\n");
    for (int i = 0; i < t->team_count; i++) {
        const double one = bench_median(&t->team[i].rate), apart = bench_median(&t->team[i].apart);
        printf("%7" PRIu32 " %11.0f %14.0f %6.2f\n", t->team[i].threads, t->views * one,
               t->views * apart, one / apart);
    }
}

void bench_print(const struct bench_table *t)
{
    printf("threads  limit img/s      ours img/s        ratio     MB/s  limit us  ours us    "
           "memory  first batch\n");
    for (int i = 0; i < t->team_count; i++)
        print_team(&t->team[i]);
    printf("\nShare of the workers' time:\n");
    for (int i = 0; i < t->team_count; i++)
        print_stages(&t->team[i]);
    if (t->views > 1)
        print_views(t);
    printf("\nReading records alone, one thread: %.0f images/s, %.0f MB/s\n",
           bench_median(&t->read_rate), bench_median(&t->read_mb));
    if (t->team_count != 0 && t->team[0].rewritten != 0)
        printf("(For the limit %" PRIu64
               " JPEGs were written again: sequential, optimal tables, no "
               "restart markers; the\n same pixels.)\n",
               t->team[0].rewritten);
    printf("(limit: plain libjpeg-turbo decode of the same images on the same CPUs; us: CPU time "
           "an image;\n medians of %d runs, +- half the range; read %s)\n",
           t->repeats,
           t->team_count != 0 && t->team[0].indexed ? "by record, as an index lists them"
                                                    : "by cells, without an index");
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void json_team(struct json *j, const struct bench_team *t, uint32_t views)
{
    json_object(j, NULL);
    json_uint(j, "threads", t->threads);
    JSON_ROUNDED(j, {"limit_images_per_s", bench_median(&t->limit_rate)},
                 {"images_per_s", bench_median(&t->rate)}, {"ratio", bench_ratio(t)},
                 {"cpu_us_per_image", bench_median(&t->cpu_us)});
    json_uint(j, "rss_bytes", (uint64_t)bench_median(&t->rss));
    if (views > 1) {
        JSON_ROUNDED(j, {"views_per_s", views * bench_median(&t->rate)},
                     {"views_per_s_decoded_apart", views * bench_median(&t->apart)});
    }
    json_rounded(j, "first_batch_s", bench_median(&t->first_batch));
    json_object(j, "stages");
    for (int s = 0; s < STAGES; s++)
        json_rounded(j, bench_stage_names[s], bench_median(&t->share[s]));
    json_end(j);
    JSON_ROUNDED(j, {"batch_s", bench_median(&t->batch)}, {"mb_per_s", bench_mb(t)},
                 {"spread", bench_spread(&t->rate)}, {"limit_mb_per_s", bench_median(&t->limit_mb)},
                 {"limit_spread", bench_spread(&t->limit_rate)},
                 {"limit_cpu_us_per_image", bench_median(&t->limit_cpu_us)});
    JSON_UINTS(j, {"images", t->images}, {"failed", t->failed}, {"limit_rewritten", t->rewritten});
    json_bool(j, "indexed", t->indexed);
    json_uint(j, "memory_planned_bytes", t->planned_bytes);
    command_traffic(j, &t->traffic);
    json_text(j, "advice", t->advice);
    json_end(j);
}

void bench_print_json(const struct bench_table *t)
{
    struct json j;
    json_begin(&j, stdout);
    json_text(&j, "shard", cli_uri(t->uri));
    json_array(&j, "options");
    for (int i = 0; i < t->pair_count; i++)
        json_text(&j, NULL, cli_uri(t->pairs[i]));
    json_end(&j);
    json_int(&j, "repetitions", t->repeats);
    json_uint(&j, "views", t->views);
    json_array(&j, "runs");
    for (int i = 0; i < t->team_count; i++)
        json_team(&j, &t->team[i], t->views);
    json_end(&j);
    JSON_ROUNDED(&j, {"read_images_per_s", bench_median(&t->read_rate)},
                 {"read_mb_per_s", bench_median(&t->read_mb)});
    json_close(&j);
}
