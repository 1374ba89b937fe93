/* tests/bench/bench_resample.c - how long the packer's resampling and the iterator's resizes take
 * for a photograph's sizes, by variant: the least of some rounds, in which the variants take
 * turns. `bench_resample [rounds]`. */
#include "augment/resize/resample_passes.h"
#include "augment/resize/resize_passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct task {
    const char *name;
    int method; /* of the iterator's resize, or -1: the packer's */
    uint32_t from[2], to[2], channels;
};
static const struct task tasks[] = {
    {"packer", -1, {500, 375}, {341, 256}, 3},     {"packer", -1, {375, 500}, {256, 341}, 3},
    {"packer", -1, {1000, 750}, {341, 256}, 3},    {"packer", -1, {1280, 960}, {341, 256}, 3},
    {"packer", -1, {320, 240}, {341, 256}, 3},     {"packer", -1, {500, 375}, {341, 256}, 1},
    {"bilinear", 1, {500, 375}, {341, 256}, 3},    {"area", 3, {500, 375}, {341, 256}, 3},
    {"bilinear", 1, {320, 240}, {341, 256}, 3},    {"area", 3, {1000, 750}, {341, 256}, 3},
    {"area, whole", 3, {768, 768}, {256, 256}, 3}, {"half", 1, {512, 512}, {256, 256}, 3},
    {"bilinear", 1, {500, 375}, {341, 256}, 1},    {"area", 3, {500, 375}, {341, 256}, 1},
};
enum { TASKS = sizeof(tasks) / sizeof(tasks[0]), REPEATS = 8 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void run(const struct task *t, const struct imrec_image *from, struct image *to,
                struct resize_scratch *scratch, enum cpu_level level)
{
    enum imrec_status st;
    const struct resize_job job = {t->from[0],
                                   t->from[1],
                                   t->to[0],
                                   t->to[1],
                                   {0, 0, t->to[0], t->to[1]},
                                   (enum resize_method)t->method};
    if (t->method < 0)
        st = resample_at(from, t->to[0], t->to[1], to, scratch, level, NULL);
    else
        st = resize_window_into(&job, from, &to->view, scratch, level, NULL);
    if (st != IMREC_OK)
        exit(EXIT_FAILURE);
}

/* us of one run: the least of `rounds`. */
static void
measure(const struct task *t, struct resize_scratch *scratch, int rounds, double least[CPU_LEVELS])
{
    struct image from = {0}, to = {0};
    if (image_resize_buffer(&from, t->from[0], t->from[1], t->channels, NULL) != IMREC_OK ||
        image_resize_buffer(&to, t->to[0], t->to[1], t->channels, NULL) != IMREC_OK)
        exit(EXIT_FAILURE);
    for (size_t i = 0; i < (size_t)t->from[0] * t->from[1] * t->channels; i++)
        from.view.pixels[i] = (uint8_t)(i * 2654435761u >> 13);
    for (int r = 0; r < rounds; r++)
        for (int l = 0; l < CPU_LEVELS; l++) {
            if (!cpu_has((enum cpu_level)l))
                continue;
            const double start = now();
            for (int k = 0; k < REPEATS; k++)
                run(t, &from.view, &to, scratch, (enum cpu_level)l);
            const double us = (now() - start) / REPEATS;
            if (r == 0 || us < least[l])
                least[l] = us;
        }
    image_free(&from);
    image_free(&to);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 8;
    struct resize_scratch *scratch;
    if (resize_scratch_new(&scratch, NULL) != IMREC_OK)
        return EXIT_FAILURE;
    puts("us an image                          scalar     avx2   avx512");
    for (int i = 0; i < TASKS; i++) {
        const struct task *t = &tasks[i];
        double us[CPU_LEVELS] = {0};
        measure(t, scratch, rounds, us);
        printf("%-11s %4u x %4u -> %3u x %3u, %u", t->name, t->from[0], t->from[1], t->to[0],
               t->to[1], t->channels);
        for (int l = 0; l < CPU_LEVELS; l++)
            printf(" %8.1f", us[l]);
        puts("");
    }
    resize_scratch_free(scratch);
    return EXIT_SUCCESS;
}
