/* rrc_style=torch and antialias=1 beside torchvision's steps made with Pillow: pillow.json, which
 * make_pillow.py has written. */
#include "augment/colour/colour.h"
#include "augment/colour/ops.h"
#include "augment/steps.h"
#include "tests/support/recipes.h"
#include "tests/support/suite.h"

#include <jansson.h>

static struct imrec_image image(uint32_t w, uint32_t h)
{
    struct imrec_image p = {malloc((size_t)w * h * 3), (size_t)w * 3, w, h, 3};
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (uint32_t c = 0; c < 3; c++)
                p.pixels[(y * w + x) * 3 + c] = (uint8_t)(x * 7 + y * 13 + c * 50 + x * y % 31 * 5);
    return p;
}

static int hex(const char *text, size_t i)
{
    int v = 0;
    sscanf(text + 2 * i, "%2x", (unsigned *)&v);
    return v;
}

static void compare(const json_t *c)
{
    struct cooked k;
    struct steps s;
    struct resize_scratch *scratch;
    struct image made[2] = {{{0}, 0}, {{0}, 0}};
    const json_t *size = json_object_get(c, "size");
    const char *want = json_string_value(json_object_get(c, "pixels"));
    const char *options = json_string_value(json_object_get(c, "options"));
    cook(&k, options);
    struct imrec_image whole = image((uint32_t)json_integer_value(json_array_get(size, 0)),
                                     (uint32_t)json_integer_value(json_array_get(size, 1)));
    const struct imrec_draw d =
        augment_draw(&k.r, (struct sample_key){1, 2, 3, 4, 0}, whole.width, whole.height);
    steps_plan(&s, &k.r, &d, whole.width, whole.height);
    ck_assert_int_eq(resize_scratch_new(&scratch, NULL), IMREC_OK);
    struct imrec_image at = whole;
    at.pixels += s.upright.y * at.stride + (size_t)s.upright.x * 3;
    at.width = s.upright.width;
    at.height = s.upright.height;
    for (uint32_t i = 0; i < s.n; i++) {
        ck_assert_int_eq(step_run(&s.step[i], &at, &made[i % 2], scratch, NULL), IMREC_OK);
        at = made[i % 2].view;
    }
    ck_assert_uint_eq(strlen(want), 2 * 20 * 24 * 3);
    int worst = 0;
    for (size_t i = 0; i < 20 * 24 * 3; i++) {
        const int off = abs(at.pixels[i / 60 * at.stride + i % 60] - hex(want, i));
        worst = off > worst ? off : worst;
    }
    /* Between its passes Pillow clips what a cubic overshoots; ours keeps it. */
    const int most = strstr(options, "resize_style=pillow") != NULL ? 0
                     : strstr(options, "inter_method=2") != NULL    ? 8
                                                                    : 1;
    ck_assert_msg(worst <= most, "%s: differs by %d", options, worst);
    resize_scratch_free(scratch);
    image_free(&made[0]);
    image_free(&made[1]);
    free(whole.pixels);
}

static double magnitude_of(const json_t *c)
{
    return json_number_value(json_object_get(c, "magnitude"));
}

static struct image apply(int op, float magnitude, struct image from)
{
    struct resize_scratch *scratch;
    struct image to = {0};
    ck_assert_int_eq(resize_scratch_new(&scratch, NULL), IMREC_OK);
    if (op == 100)
        colour_grey(&from.view, cpu_level());
    else if (op_moves((enum imrec_op)op))
        ck_assert_int_eq(op_move((enum imrec_op)op, magnitude, 9, &from.view, &to, scratch, NULL),
                         IMREC_OK);
    else
        ck_assert_int_eq(
            op_paint((enum imrec_op)op, magnitude, &from.view, scratch, cpu_level(), NULL),
            IMREC_OK);
    resize_scratch_free(scratch);
    if (to.view.pixels == NULL)
        return from;
    image_free(&from);
    return to;
}

TEST(operations_are_those_of_pillow)
{
    json_t *root = json_load_file(IMREC_SOURCE_DIR "/tests/augment/pillow.json", 0, NULL), *c;
    json_t *ops = json_object_get(root, "ops");
    size_t i;
    ck_assert_uint_eq(json_array_size(ops), 28);
    json_array_foreach(ops, i, c)
    {
        const int op = (int)json_integer_value(json_object_get(c, "op"));
        const char *want = json_string_value(json_object_get(c, "result"));
        const int within = (int)json_integer_value(json_object_get(c, "within"));
        const double share = json_number_value(json_object_get(c, "pixels"));
        const json_t *white = json_object_get(c, "white_above");
        const struct imrec_image p = image(20, 24);
        for (size_t k = 0; white != NULL && k < 1440; k++)
            if (p.pixels[k] > json_integer_value(white))
                p.pixels[k] = 255;
        struct image made = apply(op, (float)magnitude_of(c), (struct image){p, 0});
        int beyond = 0;
        for (size_t k = 0; k < 1440; k++)
            beyond += abs(made.view.pixels[k] - hex(want, k)) > within;
        ck_assert_msg(beyond <= share * 1440, "operation %d of %g: %d values are others", op,
                      magnitude_of(c), beyond);
        image_free(&made);
    }
    json_decref(root);
}

TEST(images_are_those_of_torchvision_by_pillow_within_one)
{
    json_error_t why;
    json_t *root = json_load_file(IMREC_SOURCE_DIR "/tests/augment/pillow.json", 0, &why), *cases,
           *c;
    size_t i;
    ck_assert_msg(root != NULL, "%s", why.text);
    cases = json_object_get(root, "cases");
    ck_assert_uint_eq(json_array_size(cases), 21);
    json_array_foreach(cases, i, c)
    {
        compare(c);
    }
    json_decref(root);
}
