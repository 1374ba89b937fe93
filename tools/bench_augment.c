#include "tools/bench_augment.h"

#include <stdlib.h>
#include <string.h>

/* The usual settings: those of the recipes that train classifiers. */
static const struct augmenter {
    const char *name, *words;
} augmenters[] = {
    {"crop", "rand_crop=1 rand_mirror=1"},
    {"resize", "resize=240"},
    {"resize-cubic", "resize=240 inter_method=2"},
    {"resize-area", "resize=240 inter_method=3"},
    {"resize-lanczos", "resize=240 inter_method=4"},
    {"rotate", "max_rotate_angle=10"},
    {"shear", "max_shear_ratio=0.1"},
    {"scale", "min_random_scale=0.8 max_random_scale=1.25"},
    {"aspect", "max_aspect_ratio=0.25"},
    {"pad", "pad=4"},
    {"random-resized-crop", "random_resized_crop=1 min_random_area=0.08 min_aspect_ratio=0.75 "
                            "max_aspect_ratio=1.3333"},
    {"crop-size", "min_crop_size=160 max_crop_size=240 rand_crop=1"},
    {"brightness", "brightness=0.4"},
    {"contrast", "contrast=0.4"},
    {"saturation", "saturation=0.4"},
    {"brightness-contrast-saturation", "brightness=0.4 contrast=0.4 saturation=0.4"},
    {"hsl", "random_h=36 random_s=50 random_l=50"},
    {"pca", "pca_noise=0.1"},
    {"rand-augment", "rand_augment=2"},
    {"trivial-augment", "trivial_augment=1"},
    {"hue", "hue=0.1"},
    {"grayscale", "random_grayscale=0.2"},
    {"gaussian-blur", "gaussian_blur=0.5"},
    {"random-erasing", "random_erasing=0.25"},
    {"random-resized-crop-torch", "random_resized_crop=1 rrc_style=torch antialias=1 "
                                  "min_random_area=0.08 min_aspect_ratio=0.75 "
                                  "max_aspect_ratio=1.3333"},
    {"mixup", "mixup=0.2"},
    {"cutmix", "cutmix=1"},
    {"tones", "max_random_contrast=0.2 max_random_illumination=20"},
};
enum { AUGMENTERS = sizeof(augmenters) / sizeof(augmenters[0]), WORDS = 512 };

struct row {
    const struct augmenter *a;
    struct imrec_iter_options o;
    char words[WORDS]; /* what the options borrow */
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

static bool set_words(struct row *r, const struct bench_job *job)
{
    struct imrec_error err;
    r->o = *job->iter;
    snprintf(r->words, sizeof(r->words), "%s", r->a->words);
    for (char *rest = r->words, *w; (w = strtok_r(rest, " ", &rest)) != NULL;)
        if (imrec_iter_options_set(&r->o, w, &err) != IMREC_OK) {
            (void)cli_fail(job->name, &err);
            return false;
        }
    return true;
}

/* How many rows; -1 after a line on stderr. */
static int choose(struct row *rows, const struct bench_job *job, const char *names)
{
    int n = 0;
    for (int i = 0; i < AUGMENTERS; i++) {
        if (!wanted(names, augmenters[i].name))
            continue;
        rows[n].a = &augmenters[i];
        if (!set_words(&rows[n++], job))
            return -1;
    }
    if (n == 0) {
        (void)cli_refuse(stderr, job->name,
                         "augment must be all or names with commas between, not "
                         "'%.80s'",
                         names);
        fprintf(stderr, "names:");
        for (int i = 0; i < AUGMENTERS; i++)
            fprintf(stderr, " %s", augmenters[i].name);
        fputc('\n', stderr);
        return -1;
    }
    return n;
}

/* ---- measuring ------------------------------------------------------------------------------ */

static bool good(const struct bench_job *job, const struct bench_result *r)
{
    if (!r->good)
        (void)cli_fail(job->name, &r->why);
    return r->good;
}

static bool measure(struct row *row, struct bench_job job)
{
    struct bench_result r;
    job.iter = &row->o;
    bench_run_iterator(&job, &r);
    if (!good(&job, &r))
        return false;
    const double images = (double)r.images;
    bench_add(&row->augment_us, 1e6 * r.share[STAGE_AUGMENT] * r.seconds / images);
    bench_add(&row->cpu_us, 1e6 * r.cpu_seconds / images);
    return true;
}

static bool measure_limit(struct bench_values *us, struct bench_job *job)
{
    struct bench_result r;
    bench_run_limit(job, &r);
    if (!good(job, &r))
        return false;
    bench_add(us, 1e6 * r.cpu_seconds / (double)r.images);
    return true;
}

/* ---- printing ------------------------------------------------------------------------------- */

static void print_text(const struct row *rows, int n, const struct bench_values *limit)
{
    const double decode = bench_median(limit);
    printf("us a picture on one thread; decoding alone, by libjpeg-turbo: %.0f\n", decode);
    printf("%-31s %8s %8s %8s  %s\n", "augmenter", "augment", "of that", "in all", "options");
    for (int i = 0; i < n; i++)
        printf("%-31s %8.0f %7.0f%% %8.0f  %s\n", rows[i].a->name,
               bench_median(&rows[i].augment_us), 100 * bench_median(&rows[i].augment_us) / decode,
               bench_median(&rows[i].cpu_us), rows[i].a->words);
}

static void print_json(const struct row *rows, int n, const struct bench_values *limit)
{
    printf("{\"decode_us\": %.1f, \"augmenters\": [", bench_median(limit));
    for (int i = 0; i < n; i++)
        printf("%s\n {\"name\": \"%s\", \"options\": \"%s\", \"augment_us\": %.3f, "
               "\"cpu_us_per_image\": %.1f}",
               i != 0 ? "," : "", rows[i].a->name, rows[i].a->words,
               bench_median(&rows[i].augment_us), bench_median(&rows[i].cpu_us));
    printf("\n]}\n");
}

int bench_augmenters(const struct bench_job *job, const char *names, int repeats, double seconds,
                     bool json)
{
    struct bench_job one = *job;
    struct bench_values limit = {.n = 0};
    struct row *rows = cli_realloc(NULL, AUGMENTERS, sizeof(*rows));
    memset(rows, 0, AUGMENTERS * sizeof(*rows));
    const int n = choose(rows, job, names);
    bool fine = n > 0;
    one.threads = 1;
    one.images = (uint64_t)(seconds * 1000) + 1; /* some thousand pictures a second */
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
