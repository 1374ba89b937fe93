/* Folders of images and masks, and a list of boxes and keypoints, packed: whatever is done to the
 * images before they are encoded, the rest has gone where they went. */
#include "tests/support/built.h"
#include "tests/support/masklook.h"
#include "tests/support/suite.h"

#include "augment/geometry/path.h"

#include <sys/stat.h>

enum { RECORDS = 24, OPTIONS = 6 };

static struct tmpdir dir;

static void write_file(const char *name, struct bytes b)
{
    FILE *f = fopen(tmp_path(&dir, name), "wb");
    ck_assert(f != NULL && fwrite(b.p, 1, b.n, f) == b.n && fclose(f) == 0);
}

/* images/a/N.png or .jpg, masks/ and, as they are stored, masks_stored/ beside them. */
static void write_pair(struct codec *c, uint32_t i, FILE *list, FILE *stored_list)
{
    struct mask_image p = mask_image(i);
    float label[64];
    char name[64];
    const char *extension = p.orientation == 1 ? "png" : "jpg";
    const struct bytes image = mask_encode(c, &p);
    snprintf(name, sizeof(name), "images/a/%u.%s", i, extension);
    write_file(name, image);
    bytes_free(image);
    snprintf(name, sizeof(name), "stored/a/%u.png", i);
    write_file(name, mask_encode_mask(c, &p, 8));
    const uint32_t n = mask_label(&p, label), orientation = p.orientation;
    p.orientation = 1;
    snprintf(name, sizeof(name), "masks/a/%u.png", i);
    write_file(name, mask_encode_mask(c, &p, i % 2 == 0 ? 8 : 16));
    fprintf(list, "%u", i);
    for (uint32_t k = 0; k < n; k++)
        fprintf(list, "\t%.9g", (double)label[k]);
    fprintf(list, "\ta/%u.%s\n", i, extension);
    struct path back; /* to the image as it is stored */
    path_begin(&back, p.w, p.h);
    path_add_orientation(&back, orientation == 6 ? 8 : orientation == 8 ? 6 : orientation);
    fprintf(stored_list, "%u\t2\t%d", i, MASK_OBJECT);
    for (uint32_t k = 0; k < MASK_OBJECTS; k++) {
        const float *o = label + 2 + k * MASK_OBJECT;
        double to[4], x = (double)o[5] * p.w - 0.5, y = (double)o[6] * p.h - 0.5;
        path_rectangle(&back, (const double[4]){p.x0[k], p.y0[k], p.x1[k], p.y1[k]}, to);
        path_point(&back, &x, &y);
        fprintf(stored_list, "\t%u\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t2", k + 1,
                to[0] / back.width, to[1] / back.height, to[2] / back.width, to[3] / back.height,
                (x + 0.5) / back.width, (y + 0.5) / back.height);
    }
    fprintf(stored_list, "\ta/%u.%s\n", i, extension);
}

static void make(void)
{
    static const char *const folders[] = {"images",  "images/a", "masks",
                                          "masks/a", "stored",   "stored/a"};
    struct codec *c;
    dir = tmpdir_make();
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
        ck_assert_int_eq(mkdir(tmp_path(&dir, folders[i]), 0777), 0);
    FILE *list = fopen(tmp_path(&dir, "upright.lst"), "w");
    FILE *stored = fopen(tmp_path(&dir, "stored.lst"), "w");
    ck_assert(list != NULL && stored != NULL);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++)
        write_pair(c, i, list, stored);
    codec_free(c);
    ck_assert(fclose(list) == 0 && fclose(stored) == 0);
}

static void drop(void)
{
    tmpdir_remove(&dir);
}

static enum imrec_status pack(const char *const *words, const char *name, const char *list,
                              struct imrec_pack_result *result, struct imrec_error *err)
{
    struct imrec_pack_options o;
    char list_path[2048], root[2048], out[2048], masks[2100];
    imrec_pack_options_init(&o);
    snprintf(root, sizeof(root), "%s", tmp_path(&dir, "images"));
    snprintf(out, sizeof(out), "%s", tmp_path(&dir, name));
    snprintf(masks, sizeof(masks), "masks=%s", tmp_path(&dir, "masks"));
    ck_assert_int_eq(imrec_pack_options_set(&o, masks, err), IMREC_OK);
    ck_assert_int_eq(imrec_pack_options_set(&o, "pack_label=1", err), IMREC_OK);
    ck_assert_int_eq(imrec_pack_options_set(&o, "keypoints=1", err), IMREC_OK);
    for (int i = 0; i < OPTIONS && words[i] != NULL; i++)
        if (strcmp(words[i], "stored") == 0) {
            snprintf(masks, sizeof(masks), "masks=%s", tmp_path(&dir, "stored"));
            ck_assert_int_eq(imrec_pack_options_set(&o, masks, err), IMREC_OK);
            ck_assert_int_eq(imrec_pack_options_set(&o, "drawn_on=stored", err), IMREC_OK);
        } else
            ck_assert_msg(imrec_pack_options_set(&o, words[i], err) == IMREC_OK, "%s",
                          err->message);
    snprintf(list_path, sizeof(list_path), "%s", tmp_path(&dir, list));
    const struct imrec_pack_task task = {.list = list_path, .root = root, .out = out};
    return imrec_pack(&task, &o, result, err);
}

static const char *const recipes[][OPTIONS] = {
    {"encoding=png"},
    {"encoding=png", "threads=3", "shards=2"},
    {"encoding=png", "resize=112"},
    {"encoding=png", "resize=112", "inter_method=2"},
    {"encoding=png", "center_crop=1"},
    {"encoding=png", "center_crop=1", "resize=90"},
    {"quality=100", "resize=100"},
    {"pass_through=1"},
    {"pass_through=1", "check=none"},
    {"stored", "encoding=png"},
    {"stored", "encoding=png", "center_crop=1", "resize=112"},
    {"stored", "pass_through=1"},
    {"encoding=png", "resize=112", "augment=rotate=20 rand_mirror=1 pad=10 data_shape=3,112,112"},
    {"encoding=png", "augment=data_shape=3,112,112 resize=112 rand_crop=1 max_shear_ratio=0.2"},
    {"encoding=png", "resize=112", "copies=2",
     "augment=random_resized_crop=1 min_random_area=0.4 data_shape=3,112,112"},
    {"stored", "encoding=png", "center_crop=1", "augment=max_rotate_angle=60 rand_mirror=1"},
};

CASE(.begin = built_with_png, .timeout = 60, .all_setup = make, .all_teardown = drop)

LOOP_TEST(masks_boxes_and_keypoints_are_packed_where_their_images_are, 0, COUNT(recipes))
{
    char words[512] = "", name[64];
    struct imrec_pack_result result;
    struct imrec_error err = {0};
    for (int i = 0; i < OPTIONS && recipes[_i][i] != NULL; i++)
        snprintf(words + strlen(words), sizeof(words) - strlen(words), " %s", recipes[_i][i]);
    const bool stored = strstr(words, "stored") != NULL;
    snprintf(name, sizeof(name), "set%d.rec", _i);
    const enum imrec_status st =
        pack(recipes[_i], name, stored ? "stored.lst" : "upright.lst", &result, &err);
    ck_assert_msg(st == IMREC_OK && result.skipped == 0, "%s: %s", words, err.message);
    struct mask_set set = {.dir = dir};
    snprintf(name, sizeof(name), strstr(words, "shards=2") != NULL ? "set%d-*.rec" : "set%d.rec",
             _i);
    snprintf(set.rec, sizeof(set.rec), "%s", tmp_path(&dir, name));
    const struct mask_seen seen =
        masks_must_agree(mask_open(&set, "label_width=-1 keypoints=1 boxes=1 resize=112"), words);
    ck_assert_msg(seen.pixels > 10000 && seen.dots > 10, "%s: %u px, %u dots", words, seen.pixels,
                  seen.dots);
}

static struct bytes file_of(const char *name)
{
    FILE *f = fopen(tmp_path(&dir, name), "rb");
    uint8_t *p = malloc(1 << 22);
    ck_assert(f != NULL && p != NULL);
    const size_t n = fread(p, 1, 1 << 22, f);
    ck_assert_int_eq(fclose(f), 0);
    return (struct bytes){p, n};
}

TEST(the_bytes_of_a_set_with_masks_depend_on_no_thread)
{
    static const char *const words[][OPTIONS] = {
        {"threads=1", "resize=60", "copies=3", "augment=rotate=9 rand_mirror=1 pad=3"},
        {"threads=4", "resize=60", "copies=3", "augment=rotate=9 rand_mirror=1 pad=3"},
    };
    struct imrec_pack_result result;
    struct imrec_error err = {0};
    struct bytes b[2];
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "one.rec" : "four.rec";
        ck_assert_msg(pack(words[i], name, "upright.lst", &result, &err) == IMREC_OK, "%s",
                      err.message);
        b[i] = file_of(name);
    }
    ck_assert(b[0].n == b[1].n && b[0].n > 10000 && memcmp(b[0].p, b[1].p, b[0].n) == 0);
    bytes_free(b[0]);
    bytes_free(b[1]);
}

CASE(.begin = built_with_png, .setup = make, .teardown = drop)

TEST(masks_that_are_missing_or_wrong_are_told)
{
    static const char *const words[OPTIONS] = {"resize=50"};
    static const char *const stop[OPTIONS] = {"resize=50", "on_error=stop"};
    struct imrec_pack_result result;
    struct imrec_error err = {0};
    struct codec *c;
    uint8_t pixels[12] = {0};
    const struct imrec_image small = {pixels, 6, 2, 2, 3};
    struct bytes png;
    ck_assert_int_eq(remove(tmp_path(&dir, "masks/a/1.png")), 0);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    ck_assert_int_eq(codec_encode_png(c, &small, 1, &png, NULL), IMREC_OK);
    write_file("masks/a/2.png", png); /* colours */
    const struct mask_image other = mask_image(3);
    write_file("masks/a/4.png", mask_encode_mask(c, &other, 8)); /* of another image */
    write_file("masks/a/5.png", (struct bytes){(const uint8_t *)"no mask", 7});
    codec_free(c);
    ck_assert_int_eq(pack(words, "some.rec", "upright.lst", &result, &err), IMREC_OK);
    ck_assert_uint_eq(result.packed, RECORDS - 4);
    ck_assert(result.reason_count == 1 && strcmp(result.reasons[0].name, "mask") == 0 &&
              result.reasons[0].count == 4);
    ck_assert_int_eq(pack(stop, "none.rec", "upright.lst", &result, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "its mask a/1.png: there is no such file") != NULL, "%s",
                  err.message);
}
