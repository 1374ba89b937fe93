/* tests/im2rec/test_pack_packed.c - archives that gzip has packed make the records of those that it
 * has not, in any order of reading; what is wrong with the gzip is damage of the archive. */
#include "imrec/plan.h"
#include "tests/support/archives.h"
#include "tests/support/gzips.h"
#include "tests/support/starving.h"

static struct buf gz;

static void setup(void)
{
    archives_make();
    gz = BUF_INIT((size_t)1 << 26);
}

static void teardown(void)
{
    buf_free(&gz);
    archives_remove();
}

CASE(.timeout = 300, .setup = setup, .teardown = teardown)

static void put_image(const char *class, int i)
{
    char name[64], text[2000];
    snprintf(name, sizeof(name), "source/%s/%02d.jpg", class, i);
    const struct bytes jpeg = read_whole(tmp_path(&p.dir, name));
    snprintf(name, sizeof(name), "%s-%02d.jpg", class, i);
    tar_put(&tar, name, '0', jpeg.p, jpeg.n);
    free((void *)(uintptr_t)jpeg.p);
    snprintf(name, sizeof(name), "%s-%02d.cls", class, i);
    snprintf(text, sizeof(text), "%d", i);
    tar_text(&tar, name, text);
    snprintf(name, sizeof(name), "%s-%02d.txt", class, i);
    memset(text, 'a' + i, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    tar_text(&tar, name, text);
}

/* NAME.tar, and the same packed, as PACKED, in members of some bytes each. */
static void write_both(const char *name, const char *packed_name)
{
    tar_end(&tar);
    gz.n = 0;
    for (size_t at = 0; at < tar.n; at += 30000)
        gzip_put(&gz, tar.p + at, tar.n - at < 30000 ? tar.n - at : 30000, (int)(at / 30000 % 10));
    tmp_write(&p.dir, packed_name, gz.p, gz.n);
    tmp_write(&p.dir, name, tar.p, tar.n);
    tar.n = 0;
}

static void make_archives(void)
{
    static const char *const classes[MADE_CLASSES] = {"ant", "bee", "cow"};
    for (int c = 0; c < MADE_CLASSES; c++) {
        for (int i = 0; i < MADE_EACH; i++)
            put_image(classes[c], i);
        if (c == 0)
            write_both("x.tar", "x.tar.gz");
    }
    write_both("y.tar", "y.tgz");
}

static void expect_records(void)
{
    static const char *const files[] = {".rec", ".idx", ".crc"};
    for (size_t i = 0; i < COUNT(files); i++)
        expect_same_file(&p, "a", "b", files[i]);
}

LOOP_TEST(packed_archives_make_the_same_records, 0, 4)
{
    make_archives();
    p.o.threads = _i == 0 ? 1 : 7;
    p.o.fields = _i >= 2 ? "txt" : "";
    p.o.part = (struct imrec_share){_i == 3 ? 1 : 0, _i == 3 ? 3 : 1};
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "a"));
    const struct imrec_pack_result whole = p.result;
    expect_ok(pack_from(here("x.tar.gz;y.tgz"), NULL, "b"));
    ck_assert_int_eq(memcmp(&whole, &p.result, sizeof(whole)), 0);
    expect_records();
    const struct bytes lst = read_whole(tmp_path(&p.dir, "b.lst"));
    ck_assert_ptr_nonnull(strstr((const char *)lst.p, "\ty.tgz/bee-"));
    free((void *)(uintptr_t)lst.p);
}

TEST(one_in_a_store_is_read_as_one_in_a_folder_is)
{
    make_archives();
    const struct bytes x = read_whole(tmp_path(&p.dir, "x.tar.gz"));
    expect_ok(mem_put("x.tar.gz", x.p, x.n, &p.err));
    free((void *)(uintptr_t)x.p);
    p.o.threads = 4;
    p.o.fields = "txt?";
    expect_ok(pack_from(here("x.tar.gz"), NULL, "a"));
    expect_ok(pack_from("mem://x.tar.gz", NULL, "b"));
    expect_records();
}

TEST(a_plain_archive_may_be_called_like_a_packed_one)
{
    make_archives();
    const struct bytes x = read_whole(tmp_path(&p.dir, "x.tar"));
    tmp_write(&p.dir, "z.tar.gz", x.p, x.n);
    free((void *)(uintptr_t)x.p);
    expect_ok(pack_from(here("x.tar"), NULL, "a"));
    expect_ok(pack_from(here("z.tar.gz"), NULL, "b"));
    expect_records();
}

static bool stop_at_nine(void *user, const struct imrec_progress *of)
{
    (void)user;
    return of->done < 9;
}

TEST(an_interrupted_run_is_resumed_in_the_middle)
{
    char out[512];
    make_archives();
    expect_ok(pack_from(here("x.tar;y.tar"), NULL, "a"));
    snprintf(out, sizeof(out), "%s/b", p.dir.path);
    struct imrec_pack_task task = {
        .root = here("x.tar.gz;y.tgz"), .out = out, .progress = stop_at_nine};
    ck_assert_int_eq(imrec_pack(&task, &p.o, &p.result, &p.err), IMREC_ERR_CANCELLED);
    p.o.resume = true;
    task.progress = NULL;
    expect_ok(imrec_pack(&task, &p.o, &p.result, &p.err));
    ck_assert_uint_gt(p.result.resumed, 0);
    expect_records();
}

TEST(tasks_read_no_packed_archives)
{
    char plan[512], out[512];
    struct imrec_plan_status s;
    make_archives();
    snprintf(plan, sizeof(plan), "%s/plan", p.dir.path);
    snprintf(out, sizeof(out), "%s/b", p.dir.path);
    const struct imrec_pack_task task = {.root = here("x.tar;y.tgz"), .out = out};
    expect_error(imrec_plan_make(plan, &task, &p.o, 2, &s, &p.err), IMREC_ERR_ARGUMENT,
                 "y.tgz: tasks read pieces of .tar archives that are not packed");
}

LOOP_TEST(damage_of_the_gzip_is_damage_of_the_archive, 0, 3)
{
    static const char *const words[] = {"the gzip around the archive is cut off: byte",
                                        "the gzip around the archive is damaged before byte",
                                        "the gzip around the archive is followed by other bytes"};
    make_archives();
    const struct bytes x = read_whole(tmp_path(&p.dir, "x.tar.gz"));
    uint8_t *bytes = (uint8_t *)(uintptr_t)x.p;
    if (_i == 1)
        bytes[x.n - 6] ^= 1;
    FILE *f = fopen(tmp_path(&p.dir, "x.tar.gz"), "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, _i == 0 ? x.n * 2 / 3 : x.n, f),
                      _i == 0 ? x.n * 2 / 3 : x.n);
    if (_i == 2)
        fputs("more", f);
    fclose(f);
    free(bytes);
    expect_ok(pack_from(here("x.tar.gz;y.tgz"), NULL, "b"));
    ck_assert(_i == 0 ? p.result.packed < MADE_CLASSES * MADE_EACH && p.result.packed > 5
                      : p.result.packed > 0);
    size_t told = 0;
    for (uint32_t i = 0; i < p.result.first_skip_count; i++)
        told += strstr(p.result.first_skips[i].reason, "the gzip around") != NULL;
    ck_assert_uint_eq(told, 1);
    p.o.archive_errors = IMREC_ARCHIVE_STOP;
    expect_error(pack_from(here("x.tar.gz;y.tgz"), NULL, "c"), IMREC_ERR_CORRUPT, words[_i]);
    ck_assert_str_eq(p.err.shard, here("x.tar.gz"));
    ck_assert_int_ne(access(tmp_path(&p.dir, "c.rec"), F_OK), 0);
}

TEST(lacking_memory_is_an_error_and_leaks_nothing)
{
    make_archives();
    const struct archive_options o = {.spec = here("x.tar.gz"),
                                      .image_ext = "",
                                      .label_ext = "",
                                      .builtin = (const char *const[]){".jpg", NULL}};
    STARVING_SOME(s)
    {
        s.st = archives_scan(&o, &found, &root, &p.err);
        scan_free(&found);
        imrec_free(root);
        root = NULL;
    }
}
