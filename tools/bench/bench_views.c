/* tools/bench/bench_views.c - several images out of one decode, versus one decode each. */
#include "tools/bench/bench_views.h"

#include <stdlib.h>
#include <string.h>

static struct imrec_iter_options *
add(struct bench_views *v, const struct imrec_iter_options *o, uint32_t times)
{
    struct imrec_iter_options *single = &v->single[v->sizes].o;
    *single = *o;
    single->num_views = 1;
    single->multi_crop = single->multi_crop_area = single->multi_crop_augment = "";
    v->single[v->sizes++].times = times * (uint32_t)o->num_views;
    v->count += times * (uint32_t)o->num_views;
    return single;
}

/* "2x224" or "2x224x160"; returns what follows it. */
static const char *
add_crops(struct bench_views *v, const struct imrec_iter_options *o, const char *text)
{
    char *end;
    const uint32_t times = (uint32_t)strtoul(text, &end, 10);
    struct imrec_iter_options *single = add(v, o, times);
    single->data_shape.height = single->data_shape.width = (uint32_t)strtoul(end + 1, &end, 10);
    if (*end == 'x')
        single->data_shape.width = (uint32_t)strtoul(end + 1, &end, 10);
    return end + (*end == ',');
}

/* One range for all, or one for each. */
static void set_areas(struct bench_views *v, const char *text)
{
    const bool one = strchr(text, ',') == NULL;
    const char *at = text;
    for (uint32_t i = 0; text[0] != '\0' && i < v->sizes; i++) {
        char *end;
        at = one ? text : at;
        v->single[i].o.min_random_area = strtof(at, &end);
        v->single[i].o.max_random_area = strtof(end + 1, &end);
        at = end + (*end == ',');
    }
}

/* "hue=0.1,gaussian_blur=1;...": of each size. */
static void set_augments(struct bench_views *v, const char *at)
{
    for (uint32_t i = 0; at[0] != '\0' && i < v->sizes; i++) {
        for (size_t n; (n = strcspn(at, ",;")) != 0; at += n + (at[n] == ',')) {
            char pair[64];
            struct imrec_error err;
            snprintf(pair, sizeof(pair), "%.*s", (int)n, at);
            if (imrec_iter_options_set(&v->single[i].o, pair, &err) != IMREC_OK)
                return; /* none: the iterator has opened */
        }
        at += *at == ';';
    }
}

void bench_views_read(struct bench_views *v, const struct imrec_iter_options *o)
{
    v->count = v->sizes = 0;
    const char *at = o->multi_crop;
    if (*at == '\0')
        (void)add(v, o, 1);
    while (*at != '\0' && v->sizes < BENCH_SIZES)
        at = add_crops(v, o, at);
    set_areas(v, o->multi_crop_area);
    set_augments(v, o->multi_crop_augment);
}

bool bench_views_apart(const struct bench_views *v, const struct bench_job *job, double *rate)
{
    double seconds = 0; /* a sample */
    for (uint32_t i = 0; i < v->sizes; i++) {
        struct bench_job one = *job;
        struct bench_result r;
        one.iter = &v->single[i].o;
        if (!bench_run_iterator(&one, &r))
            return false;
        seconds += v->single[i].times * r.seconds / (double)r.images;
    }
    *rate = 1 / seconds;
    return true;
}
