/* tests/container/test_webdataset.c - tar archives of WebDataset: samples by key, classes, names of
 * any length, damage, partitions. */
#include "container/container.h"
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"

#define URI "mem://a.tar"

static struct buf g_tar;

static void begin(void)
{
    g_tar = BUF_INIT((size_t)1 << 26);
}

static void end(void)
{
    buf_free(&g_tar);
    mem_clear();
}

static struct imrec_reader *open_tar(uint64_t part, uint64_t parts)
{
    struct imrec_reader *r;
    struct imrec_error err = {0};
    ck_assert_int_eq(mem_put("a.tar", g_tar.p, g_tar.n, NULL), IMREC_OK);
    ck_assert_msg(imrec_reader_open(URI, part, parts, &r, &err) == IMREC_OK, "%s", err.message);
    return r;
}

static void expect(struct imrec_reader *r, uint64_t id, const char *image, float label)
{
    struct imrec_record x;
    struct imrec_error err = {0};
    ck_assert_msg(imrec_reader_next(r, &x, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(x.id, id);
    ck_assert(x.is_image && x.image_size == strlen(image));
    ck_assert_mem_eq(x.image, image, x.image_size);
    ck_assert(x.label_count == 1 && x.labels[0] == label);
}

static void expect_lost(struct imrec_reader *r, const char *words)
{
    struct imrec_record x;
    struct imrec_error err = {0};
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
}

static void expect_end(struct imrec_reader *r)
{
    struct imrec_record x;
    ck_assert_int_eq(imrec_reader_next(r, &x, NULL), IMREC_END);
    imrec_reader_close(r);
}

CASE(.setup = begin, .teardown = end)

TEST(files_of_one_key_are_a_sample)
{
    tar_put(&g_tar, "./train/", '5', "", 0);
    tar_text(&g_tar, "train/1.a.jpg", "no dot of the key: its extension is a.jpg");
    tar_text(&g_tar, "train/1.cls", "7\n");
    tar_text(&g_tar, "train/1.json", "{}");
    tar_text(&g_tar, "train/README", "a file without an extension is none of a sample");
    tar_text(&g_tar, "train/2.cls", " 16777216 ");
    tar_text(&g_tar, "train/2.PNG", "png");
    tar_end(&g_tar);
    struct imrec_reader *r = open_tar(0, 1);
    expect(r, 0, "no dot of the key: its extension is a.jpg", 7);
    expect(r, 1, "png", 16777216);
    expect_end(r);
}

TEST(names_of_any_length_are_read)
{
    char name[400], pax[512];
    memset(name, 'n', 300);
    strcpy(name + 300, ".jpg");
    tar_put(&g_tar, "././@LongLink", 'L', name, strlen(name) + 1);
    tar_text(&g_tar, "nnn", "gnu");
    strcpy(name + 300, ".cls");
    const int n = snprintf(pax, sizeof(pax), "%d path=%s\n", 314, name);
    ck_assert_int_eq(n, 314);
    tar_put(&g_tar, "PaxHeader", 'x', pax, (size_t)n);
    tar_text(&g_tar, "nnn", "3");
    tar_end(&g_tar);
    struct imrec_reader *r = open_tar(0, 1);
    expect(r, 0, "gnu", 3);
    expect_end(r);
}

TEST(what_is_wrong_costs_its_own_sample)
{
    tar_text(&g_tar, "0.jpg", "zero");
    tar_text(&g_tar, "0.cls", "0");
    tar_text(&g_tar, "1.json", "{}");
    tar_text(&g_tar, "2.jpg", "two");
    tar_text(&g_tar, "2.cls", "cat");
    const size_t damaged = g_tar.n;
    tar_text(&g_tar, "3.jpg", "three");
    tar_text(&g_tar, "4.jpg", "four");
    tar_text(&g_tar, "4.cls", "4");
    tar_put(&g_tar, "5.jpg", '0', "five", 4);
    g_tar.n -= 510; /* cut off in its content */
    g_tar.p[damaged + 5] ^= 1;
    struct imrec_reader *r = open_tar(0, 1);
    expect(r, 0, "zero", 0);
    expect_lost(r, "has no image");
    expect_lost(r, ".cls is 'cat'");
    expect_lost(r, "checksum");
    expect(r, 4, "four", 4);
    expect_lost(r, "5.jpg has 4 bytes, the archive ends after 2");
    expect_end(r);
}

LOOP_TEST(partitions_count_the_samples_off, 1, 6) /* _i parts */
{
    char name[20], text[20];
    uint64_t seen = 0;
    for (int i = 0; i < 11; i++) {
        (void)snprintf(text, sizeof(text), "image %d", i);
        (void)snprintf(name, sizeof(name), "%d.jpg", i);
        tar_text(&g_tar, name, text);
        (void)snprintf(name, sizeof(name), "%d.cls", i);
        (void)snprintf(text, sizeof(text), "%d", i);
        tar_text(&g_tar, name, text);
    }
    for (int part = 0; part < _i; part++) {
        struct imrec_reader *r = open_tar((uint64_t)part, (uint64_t)_i);
        struct imrec_record x;
        for (; imrec_reader_next(r, &x, NULL) == IMREC_OK; seen++)
            ck_assert(x.id == seen && x.labels[0] == (float)seen);
        imrec_reader_close(r);
    }
    ck_assert_uint_eq(seen, 11);
}

TEST(what_an_archive_cannot_have_is_refused)
{
    struct container c;
    struct imrec_error err = {0};
    tar_text(&g_tar, "0.jpg", "zero");
    ck_assert_int_eq(mem_put("a.tar", g_tar.p, g_tar.n, NULL), IMREC_OK);
    struct container_options o = {
        .path_imgrec = URI, .path_imgidx = "a.idx", .num_parts = 1, .cell_bytes = 4096};
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "which is its own index"));
    o.path_imgidx = NULL;
    o.verify_checksums = true;
    ck_assert_int_eq(container_open(&o, &c, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "is a tar archive, and only shards of records"));
}
