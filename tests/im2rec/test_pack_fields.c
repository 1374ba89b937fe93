/* Files next to images, and columns of a list, packed as fields: passed through or encoded again,
 * by any number of threads, by a plan; missing and empty ones; what cannot be. */
#include "base/alloc.h"
#include "imrec/plan.h"
#include "imrec/records.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <sys/stat.h>

enum { IMAGES = 9 };

static struct tmpdir dir;
static struct imrec_error err;
static const char *list; /* in dir; NULL: the folder is packed */

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
    list = NULL;
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

/* Words of options, blanks between, and the task of DIR/NAME. */
static void take_words(const char *words, const char *name, struct imrec_pack_options *o,
                       struct imrec_pack_task *task)
{
    static char text[256], root[300], out[300], path[300];
    imrec_pack_options_init(o);
    ck_assert_int_eq(imrec_pack_options_set(o, "shuffle=0", &err), IMREC_OK);
    snprintf(text, sizeof(text), "%s", words);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        ck_assert_msg(imrec_pack_options_set(o, word, &err) == IMREC_OK, "%s", err.message);
    snprintf(root, sizeof(root), "%s", tmp_path(&dir, "in"));
    snprintf(out, sizeof(out), "%s", tmp_path(&dir, name));
    snprintf(path, sizeof(path), "%s", tmp_path(&dir, list != NULL ? list : ""));
    *task = (struct imrec_pack_task){.root = root, .out = out, .list = list != NULL ? path : NULL};
}

static enum imrec_status pack(const char *words, const char *name, struct imrec_pack_result *result)
{
    struct imrec_pack_options o;
    struct imrec_pack_task task;
    take_words(words, name, &o, &task);
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

static struct bytes read_whole(const char *path)
{
    const long n = tmp_size(path);
    uint8_t *p = malloc((size_t)n + 1);
    FILE *f = fopen(path, "rb");
    ck_assert(n > 0 && p != NULL && f != NULL);
    ck_assert(fread(p, 1, (size_t)n, f) == (size_t)n);
    fclose(f);
    return (struct bytes){p, (size_t)n};
}

static void expect_equal(const char *a, const char *b)
{
    const struct bytes x = read_whole(tmp_path(&dir, a)), y = read_whole(tmp_path(&dir, b));
    ck_assert(x.n != 0 && x.n == y.n);
    ck_assert_mem_eq(x.p, y.p, x.n);
    free((void *)(uintptr_t)x.p);
    free((void *)(uintptr_t)y.p);
}

TEST(threads_and_shards_make_no_difference)
{
    pack_well("fields=txt,meta.json? resize=16 threads=1 shards=2", "one.rec", IMAGES);
    pack_well("fields=txt,meta.json? resize=16 threads=4 shards=2", "four.rec", IMAGES);
    for (int shard = 0; shard < 2; shard++) {
        char a[64], b[64];
        snprintf(a, sizeof(a), "one-0000%d-of-00002.rec", shard);
        snprintf(b, sizeof(b), "four-0000%d-of-00002.rec", shard);
        expect_equal(a, b);
    }
}

TEST(a_folder_in_place_of_a_field_costs_its_image)
{
    ck_assert(mkdir(tmp_path(&dir, "in/a/1.meta.json"), 0777) == 0);
    pack_well("fields=txt,meta.json? pass_through=1", "o.rec", IMAGES - 1);
}

/* The captions and .meta.json of the files again, in a list. */
static void make_list(void)
{
    char lines[4096], text[64];
    size_t n = 0;
    for (uint32_t i = 0; i < IMAGES; i++) {
        caption(i, text);
        n += (size_t)snprintf(lines + n, sizeof(lines) - n, "%u\t0\ta/%u.jpg\t%s\t%s%s", i, i, text,
                              i != 0 && i % 2 == 0 ? "{}" : "", i == 3 ? "\r\n" : "\n");
    }
    (void)tmp_write(&dir, "in.lst", lines, n);
    list = "in.lst";
}

TEST(columns_of_a_list_are_fields_as_files_are)
{
    ck_assert_int_eq(unlink(tmp_path(&dir, "in/a/0.meta.json")), 0);
    pack_well("fields=txt,meta.json? resize=16", "files.rec", IMAGES);
    make_list();
    pack_well("columns=txt,meta.json? resize=16 threads=3", "columns.rec", IMAGES);
    expect_equal("files.rec", "columns.rec");
    expect_equal("files.lst", "columns.lst");
}

TEST(an_empty_column_is_an_empty_field_of_a_name_that_is_not_optional)
{
    struct imrec_reader *r;
    struct imrec_record x;
    make_list();
    pack_well("columns=txt,meta.json pass_through=1", "o.rec", IMAGES);
    ck_assert_int_eq(imrec_reader_open(tmp_path(&dir, "o.rec"), 0, 1, &r, &err), IMREC_OK);
    for (uint32_t i = 0; i < IMAGES; i++) {
        ck_assert_msg(imrec_reader_next(r, &x, &err) == IMREC_OK, "%s", err.message);
        ck_assert_uint_eq(x.field_count, 2);
        expect_field(&x.fields[1], "meta.json", i != 0 && i % 2 == 0 ? "{}" : "");
    }
    imrec_reader_close(r);
}

/* Two copies of each, with files first, then columns. */
static void expect_copies(const char *spec)
{
    struct imrec_reader *r;
    struct imrec_record x;
    char text[64];
    ck_assert_int_eq(imrec_reader_open(tmp_path(&dir, spec), 0, 1, &r, &err), IMREC_OK);
    for (uint32_t i = 0; i < 2 * IMAGES; i++) {
        ck_assert_msg(imrec_reader_next(r, &x, &err) == IMREC_OK, "%s", err.message);
        const bool url = i / 2 != 0 && i / 2 % 2 == 0;
        ck_assert_uint_eq(x.field_count, url ? 3 : 2);
        caption(i / 2, text);
        expect_field(&x.fields[0], "txt", text);
        expect_field(&x.fields[1], "cap", text);
        if (url)
            expect_field(&x.fields[2], "url", "{}");
    }
    imrec_reader_close(r);
}

TEST(columns_go_with_files_copies_and_plans)
{
    static const char words[] =
        "columns=cap,url? fields=txt label_width=1 augment=data_shape=3,8,8 "
        "copies=2 shards=2";
    struct imrec_pack_options o;
    struct imrec_pack_task task;
    struct imrec_pack_result result;
    make_list();
    ck_assert_msg(pack(words, "one.rec", &result) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(result.packed, 2 * IMAGES);
    expect_copies("one-*.rec");
    take_words(words, "many.rec", &o, &task);
    char plan[300];
    struct imrec_plan_status status;
    snprintf(plan, sizeof(plan), "%s", tmp_path(&dir, "plan"));
    ck_assert_msg(imrec_plan_make(plan, &task, &o, 3, &status, &err) == IMREC_OK, "%s",
                  err.message);
    for (uint64_t k = 3; k > 0; k--)
        ck_assert_msg(imrec_plan_work(plan, k - 1, NULL, &result, &err) == IMREC_OK, "%s",
                      err.message);
    ck_assert_msg(imrec_plan_finish(plan, NULL, &result, &err) == IMREC_OK, "%s", err.message);
    expect_equal("one-00000-of-00002.rec", "many-00000-of-00002.rec");
    expect_equal("one-00001-of-00002.rec", "many-00001-of-00002.rec");
}

TEST(a_line_with_too_few_columns_is_skipped_with_its_line)
{
    struct imrec_pack_result result;
    static const char lines[] = "0\t0\ta/0.jpg\tx\ty\n1\t0\ta/1.jpg\tx\n2 0\n3\t0\ta/3.jpg\t\t\n";
    (void)tmp_write(&dir, "in.lst", lines, sizeof(lines) - 1);
    list = "in.lst";
    ck_assert_msg(pack("columns=a,b", "o.rec", &result) == IMREC_OK, "%s", err.message);
    ck_assert(result.packed == 2 && result.skipped == 2);
    ck_assert_uint_eq(result.first_skips[0].line, 2);
    ck_assert_msg(strstr(result.first_skips[0].reason, "is not id, labels and path") != NULL, "%s",
                  result.first_skips[0].reason);
    ck_assert_msg(strstr(result.first_skips[1].reason, "line 3: 0 tabs, which are too few") != NULL,
                  "%s", result.first_skips[1].reason);
}

LOOP_TEST(columns_that_cannot_be_are_refused, 0, 6)
{
    static const char *const wrong[][2] = {
        {"columns=a,,b", "columns is a list of names"},
        {"columns=a,a?", "columns names 'a' twice"},
        {"columns=mask", "name of the image's"},
        {"columns=txt fields=txt", "columns and fields both name 'txt'"},
        {"columns=a list=1", "columns are packed with images"},
        {"columns=a", "columns are those of a list"}};
    struct imrec_pack_result result;
    if (_i != 5)
        make_list();
    ck_assert_int_eq(pack(wrong[_i][0], "x.rec", &result), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, wrong[_i][1]) != NULL, "%s", err.message);
}

LOOP_TEST(what_cannot_be_is_refused, 0, 6)
{
    static const char *const wrong[][2] = {{"fields=txt,,a", "one is empty"},
                                           {"fields=.?", "list of extensions"},
                                           {"fields=../a", "list of extensions"},
                                           {"fields=txt,txt?", "'txt' twice"},
                                           {"fields=mask", "name of the image's"},
                                           {"fields=txt list=1", "fields are packed with images"}};
    struct imrec_pack_result result;
    ck_assert_int_eq(pack(wrong[_i][0], "x.rec", &result), IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(err.message, wrong[_i][1]) != NULL, "%s", err.message);
}
