/* Files next to images packed as fields: with masks, passed through or encoded again, by any number
 * of threads; missing and empty ones; what cannot be. */
#include "base/alloc.h"
#include "imrec/packer.h"
#include "imrec/records.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <sys/stat.h>

enum { IMAGES = 9 };

static struct tmpdir dir;
static struct imrec_error err;

static void caption(uint32_t i, char out[64])
{
    snprintf(out, 64, "%.*s %u", (int)(i * 4), "a caption of a length of its own", i);
}

/* in/a/N.jpg, each with .txt; .meta.json for even ones, empty for the first. */
static void make(void)
{
    const struct image_set_options o = {.jpeg = true, .side = 24};
    struct codec *c;
    char name[64], text[64];
    dir = tmpdir_make();
    ck_assert(mkdir(tmp_path(&dir, "in"), 0777) == 0 && mkdir(tmp_path(&dir, "in/a"), 0777) == 0);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < IMAGES; i++) {
        const struct bytes image = set_encode(c, &o, i);
        snprintf(name, sizeof(name), "in/a/%u.jpg", i);
        (void)tmp_write(&dir, name, image.p, image.n);
        caption(i, text);
        snprintf(name, sizeof(name), "in/a/%u.txt", i);
        (void)tmp_write(&dir, name, text, strlen(text));
        snprintf(name, sizeof(name), "in/a/%u.meta.json", i);
        if (i % 2 == 0)
            (void)tmp_write(&dir, name, "{}", i == 0 ? 0 : 2);
    }
    codec_free(c);
}

static void drop(void)
{
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Words of options, blanks between, into in NAME.rec. */
static enum imrec_status pack(const char *words, const char *name, struct imrec_pack_result *result)
{
    struct imrec_pack_options o;
    static char text[256];
    char root[300], out[300];
    imrec_pack_options_init(&o);
    ck_assert_int_eq(imrec_pack_options_set(&o, "shuffle=0", &err), IMREC_OK);
    snprintf(text, sizeof(text), "%s", words);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        ck_assert_msg(imrec_pack_options_set(&o, word, &err) == IMREC_OK, "%s", err.message);
    snprintf(root, sizeof(root), "%s", tmp_path(&dir, "in"));
    snprintf(out, sizeof(out), "%s", tmp_path(&dir, name));
    const struct imrec_pack_task task = {.root = root, .out = out};
    return imrec_pack(&task, &o, result, &err);
}

static void pack_well(const char *words, const char *name, uint64_t packed)
{
    struct imrec_pack_result result;
    ck_assert_msg(pack(words, name, &result) == IMREC_OK, "%s: %s", words, err.message);
    ck_assert_uint_eq(result.packed, packed);
    ck_assert_uint_eq(result.skipped, IMAGES - packed);
}

static void expect_field(const struct imrec_field *f, const char *name, const char *value)
{
    ck_assert(f->kind == IMREC_FIELD_BYTES && f->name_bytes == strlen(name));
    ck_assert_mem_eq(f->name, name, f->name_bytes);
    ck_assert_uint_eq(f->size, strlen(value));
    ck_assert_mem_eq(f->bytes, value, f->size);
}

static void read_back(const char *name, uint32_t step)
{
    struct imrec_reader *r;
    struct imrec_record x;
    char text[64];
    ck_assert_int_eq(imrec_reader_open(tmp_path(&dir, name), 0, 1, &r, &err), IMREC_OK);
    for (uint32_t i = 0; i < IMAGES; i += step) {
        const bool json = i % 2 == 0;
        ck_assert_msg(imrec_reader_next(r, &x, &err) == IMREC_OK, "%s", err.message);
        ck_assert(x.is_image && x.id == i && x.field_count == (json ? 2 : 1));
        caption(i, text);
        expect_field(&x.fields[0], "txt", text);
        if (json)
            expect_field(&x.fields[1], "meta.json", i == 0 ? "" : "{}");
        ck_assert_mem_eq(x.image, "\xff\xd8", 2);
        ck_assert_mem_eq((const uint8_t *)x.image + x.image_size - 2, "\xff\xd9", 2);
    }
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    imrec_reader_close(r);
}

CASE(.setup = make, .teardown = drop, .timeout = 60)

TEST(files_next_to_an_image_are_fields_of_its_record)
{
    pack_well("fields=txt,.meta.json? pass_through=1", "passed.rec", IMAGES);
    read_back("passed.rec", 1);
    pack_well("fields=txt,meta.json? resize=16 threads=3", "small.rec", IMAGES);
    read_back("small.rec", 1);
}

TEST(an_image_without_a_field_is_skipped_unless_it_may_be_missing)
{
    pack_well("fields=txt,meta.json pass_through=1", "half.rec", (IMAGES + 1) / 2);
    read_back("half.rec", 2);
    struct imrec_pack_result result;
    ck_assert_int_eq(pack("fields=none on_error=stop", "x.rec", &result), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "its field none: there is no such file") != NULL, "%s",
                  err.message);
}

TEST(threads_shards_and_resume_make_no_difference)
{
    long size;
    pack_well("fields=txt,meta.json? resize=16 threads=1 shards=2", "one.rec", IMAGES);
    pack_well("fields=txt,meta.json? resize=16 threads=4 shards=2", "four.rec", IMAGES);
    for (int shard = 0; shard < 2; shard++) {
        char a[64], b[64];
        snprintf(a, sizeof(a), "one-0000%d-of-00002.rec", shard);
        snprintf(b, sizeof(b), "four-0000%d-of-00002.rec", shard);
        size = tmp_size(tmp_path(&dir, a));
        ck_assert(size > 0 && size == tmp_size(tmp_path(&dir, b)));
        uint8_t *p = malloc((size_t)size), *q = malloc((size_t)size);
        FILE *f = fopen(tmp_path(&dir, a), "rb"), *g = fopen(tmp_path(&dir, b), "rb");
        ck_assert(fread(p, 1, (size_t)size, f) == (size_t)size);
        ck_assert(fread(q, 1, (size_t)size, g) == (size_t)size);
        ck_assert_mem_eq(p, q, (size_t)size);
        fclose(f), fclose(g), free(p), free(q);
    }
}

TEST(a_folder_in_place_of_a_field_costs_its_image)
{
    ck_assert(mkdir(tmp_path(&dir, "in/a/1.meta.json"), 0777) == 0);
    pack_well("fields=txt,meta.json? pass_through=1", "o.rec", IMAGES - 1);
}

LOOP_TEST(what_cannot_be_is_refused, 0, 6)
{
    static const char *const wrong[][2] = {{"fields=txt,,a", "one is empty"},
                                           {"fields=.?", "list of extensions"},
                                           {"fields=../a", "list of extensions"},
                                           {"fields=txt,txt?", "'txt' twice"},
                                           {"fields=mask", "name of the image's"},
                                           {"fields=txt format=cbf", "fields are packed into"}};
    struct imrec_pack_result result;
    ck_assert_int_eq(pack(wrong[_i][0], "x.rec", &result), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, wrong[_i][1]) != NULL, "%s", err.message);
}
