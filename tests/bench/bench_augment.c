/* tests/bench/bench_augment.c - what each augmenter takes at its usual setting, for a crop of
 * 224 px out of a decoded image of 256: the least of some rounds, us an image. Variants by
 * IMREC_CPU=scalar|avx2|avx512 (Arm: scalar|neon) in the environment. `bench_augment [rounds]`. */
#include "augment/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const recipes[] = {
    "",
    "resize=240",
    "resize=240 inter_method=0",
    "resize=240 inter_method=2",
    "resize=240 inter_method=3",
    "resize=240 inter_method=4",
    "resize=320",
    "resize=320 inter_method=2",
    "resize=320 inter_method=4",
    "max_rotate_angle=10",
    "max_rotate_angle=45",
    "max_rotate_angle=10 inter_method=0",
    "max_rotate_angle=10 inter_method=2",
    "max_rotate_angle=10 inter_method=4",
    "max_shear_ratio=0.1",
    "min_random_scale=0.8 max_random_scale=1.25 max_aspect_ratio=0.25",
    "pad=4",
    "random_resized_crop=1 min_random_area=0.08 min_aspect_ratio=0.75 max_aspect_ratio=1.333",
    "random_resized_crop=1 min_random_area=0.08 min_aspect_ratio=0.75 max_aspect_ratio=1.333 "
    "inter_method=2",
    "random_resized_crop=1 min_random_area=0.08 min_aspect_ratio=0.75 max_aspect_ratio=1.333 "
    "inter_method=3",
    "random_resized_crop=1 min_random_area=0.08 min_aspect_ratio=0.75 max_aspect_ratio=1.333 "
    "inter_method=9",
    "min_crop_size=160 max_crop_size=256",
    "brightness=0.4",
    "contrast=0.4",
    "saturation=0.4",
    "brightness=0.4 contrast=0.4 saturation=0.4",
    "random_h=36 random_s=50 random_l=50",
    "pca_noise=0.1",
    "rand_augment=2",
    "trivial_augment=1",
    "hue=0.1",
    "random_grayscale=1",
    "gaussian_blur=1",
    "random_resized_crop=1 rrc_style=torch antialias=1 min_random_area=0.08 min_aspect_ratio=0.75 "
    "max_aspect_ratio=1.333",
};
enum { RECIPES = sizeof(recipes) / sizeof(recipes[0]), IMAGES = 40 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void must(bool good)
{
    if (!good) {
        fputs("bench_augment: it failed\n", stderr);
        exit(EXIT_FAILURE);
    }
}

static void set(struct augment_options *o, const char *words)
{
    static char text[1024];
    struct imrec_error err;
    param_defaults(augment_params, o);
    o->data_shape = (struct imrec_shape){3, 224, 224};
    snprintf(text, sizeof(text), "%s", words);
    for (char *w = strtok(text, " "); w != NULL; w = strtok(NULL, " "))
        must(param_set(augment_params, o, w, strcspn(w, "="), strchr(w, '=') + 1, &err) ==
             IMREC_OK);
}

static void one(const struct recipe *r, const struct imrec_image *from, uint64_t number,
                struct image made[2], struct resize_scratch *scratch)
{
    struct steps s;
    const struct sample_key key = {1, 2, 3, number, 0};
    const struct imrec_draw d = augment_draw(r, key, from->width, from->height);
    steps_plan(&s, r, &d, from->width, from->height);
    struct imrec_image part = *from;
    part.pixels += s.upright.y * part.stride + (size_t)s.upright.x * part.channels;
    part.width = s.upright.width;
    part.height = s.upright.height;
    const struct imrec_image *at = &part;
    for (uint32_t i = 0; i < s.n; i++) {
        must(step_run(&s.step[i], at, &made[i % 2], scratch, NULL) == IMREC_OK);
        at = &made[i % 2].view;
    }
    uint32_t now = s.n % 2 ^ 1;
    if (s.n == 0 && recipe_paints(r)) {
        now = 0;
        must(image_resize_buffer(&made[0], part.width, part.height, 3, NULL) == IMREC_OK);
        for (uint32_t y = 0; y < part.height; y++)
            memcpy(made[0].view.pixels + y * made[0].view.stride, part.pixels + y * part.stride,
                   made[0].view.stride);
    }
    must(steps_paint(r, &d, NULL, made, &now, scratch, NULL) == IMREC_OK);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    struct resize_scratch *scratch;
    struct image from = {0}, made[2] = {{{0}, 0}, {{0}, 0}};
    must(resize_scratch_new(&scratch, NULL) == IMREC_OK);
    must(image_resize_buffer(&from, 256, 256, 3, NULL) == IMREC_OK);
    printf("us an image, %s\n", cpu_level_name(cpu_level()));
    for (int i = 0; i < RECIPES; i++) {
        struct augment_options o;
        struct recipe r;
        double least = 0;
        set(&o, recipes[i]);
        must(recipe_init(&r, &o, NULL) == IMREC_OK);
        for (int k = 0; k < rounds; k++) {
            for (size_t b = 0; b < (size_t)256 * 256 * 3; b++)
                from.view.pixels[b] = (uint8_t)(b * 2654435761u >> 13);
            const double start = now();
            for (uint64_t n = 0; n < IMAGES; n++)
                one(&r, &from.view, n, made, scratch);
            const double us = (now() - start) / IMAGES;
            least = k == 0 || us < least ? us : least;
        }
        printf("%7.1f  %s\n", least, recipes[i]);
    }
    image_free(&from);
    image_free(&made[0]);
    image_free(&made[1]);
    resize_scratch_free(scratch);
    return EXIT_SUCCESS;
}
