/* tests/container/test_extents.c - the index of a tar archive or a TFRecord file: the same records
 * in the same order as without, and nothing of a damaged one, or of one of another shard. */
#include "container/container.h"
#include "container/shards/extents.h"
#include "formats/set/image_list.h"
#include "imrec/dataset.h"
#include "storage/mem.h"
#include "storage/sink.h"
#include "storage/source.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"
#include "tests/support/tfrecords.h"

#include "base/alloc.h"

enum { RECORDS = 20 };

static struct buf g_file;
static struct imrec_error g_err;

static void begin(void)
{
    g_file = BUF_INIT((size_t)1 << 26);
}

static void end(void)
{
    buf_free(&g_file);
    mem_clear();
}

static void put(const char *name, size_t n)
{
    ck_assert_int_eq(mem_put(name, g_file.p, n, NULL), IMREC_OK);
}

/* With a folder between samples: no record ends where the next one begins. */
static void make_tar(uint32_t samples)
{
    char name[40];
    g_file.n = 0;
    for (uint32_t i = 0; i < samples; i++) {
        (void)snprintf(name, sizeof(name), "%u.jpg", i);
        tar_text(&g_file, name, "image");
        (void)snprintf(name, sizeof(name), "%u.cls", i);
        tar_text(&g_file, name, "3");
        if (i % 3 == 0)
            tar_put(&g_file, "folder/", '5', "", 0);
    }
    tar_end(&g_file);
}

static void make_tfrecord(uint32_t records)
{
    g_file.n = 0;
    for (uint32_t i = 0; i < records; i++)
        tfrecord_image(&g_file, "image of any length" + i % 5, i);
}

static enum imrec_status try_open(const char *uri, const char *index, struct container *c)
{
    const struct container_options o = {
        .path_imgrec = uri, .path_imgidx = index, .num_parts = 1, .cell_bytes = 4096};
    return container_open(&o, c, &g_err);
}

static void index_of(const char *uri, const char *to)
{
    struct imrec_index_result r;
    ck_assert_msg(imrec_dataset_index(uri, to, IMREC_KEYS_ID, false, &r, &g_err) == IMREC_OK, "%s",
                  g_err.message);
    ck_assert(r.repeated == 0 && r.damaged_ranges == 0);
}

static void expect_equal(const char *uri, const char *index)
{
    struct container a, b;
    ck_assert_int_eq(try_open(uri, "none", &a), IMREC_OK);
    ck_assert_msg(try_open(uri, index, &b) == IMREC_OK, "%s", g_err.message);
    ck_assert_uint_eq(a.unit_count, b.unit_count);
    ck_assert_uint_eq(a.index_hash, b.index_hash);
    for (uint64_t i = 0; i < a.unit_count; i++)
        ck_assert(a.records[i].offset == b.records[i].offset &&
                  a.records[i].bytes == b.records[i].bytes &&
                  a.records[i].key == b.records[i].key && a.records[i].shard == b.records[i].shard);
    container_close(&a);
    container_close(&b);
}

/* Whether an index is read: heads of the shard, which has the same size, are gone. */
static bool opens_without_heads(const char *name, const char *uri, const char *index)
{
    struct container c;
    memset(g_file.p + 4096, 'x', g_file.n - 4096);
    put(name, g_file.n);
    if (try_open(uri, index, &c) != IMREC_OK)
        return false;
    bool whole = c.unit_count >= RECORDS;
    for (uint64_t i = 0; i < c.unit_count; i++)
        whole &= c.kind->lost(&c, i) == NULL;
    container_close(&c);
    return whole;
}

CASE(.setup = begin, .teardown = end)

TEST(records_of_an_index_are_those_of_the_heads)
{
    make_tar(RECORDS);
    put("a.tar", g_file.n);
    index_of("mem://a.tar", NULL);
    make_tar(3);
    put("b.tar", g_file.n); /* without an index */
    expect_equal("mem://a.tar", "auto");
    expect_equal("mem://a.tar;mem://b.tar", "auto");
    make_tfrecord(RECORDS);
    put("t-00000-of-00001", g_file.n);
    index_of("mem://t-00000-of-00001", NULL);
    expect_equal("mem://t-00000-of-00001", "auto");
}

TEST(heads_are_not_read_where_there_is_an_index)
{
    make_tar(RECORDS);
    put("a.tar", g_file.n);
    index_of("mem://a.tar", NULL);
    ck_assert(!opens_without_heads("a.tar", "mem://a.tar", "none"));
    ck_assert(!opens_without_heads("a.tar", "mem://a.tar", NULL));
    ck_assert(opens_without_heads("a.tar", "mem://a.tar", "auto"));
    ck_assert(opens_without_heads("a.tar", "mem://a.tar", ""));
    make_tfrecord(200);
    put("a.tfrecord", g_file.n);
    index_of("mem://a.tfrecord", NULL);
    ck_assert(!opens_without_heads("a.tfrecord", "mem://a.tfrecord", "none"));
    ck_assert(opens_without_heads("a.tfrecord", "mem://a.tfrecord", "auto"));
}

TEST(indexes_in_a_folder_are_found_by_the_names_of_shards)
{
    struct container c;
    make_tar(RECORDS);
    put("data/a.tar", g_file.n);
    put("data/b.tar", g_file.n);
    index_of("mem://data/a.tar", "mem://indexes/a.tar.idxb");
    ck_assert_int_ne(try_open("mem://data/a.tar;mem://data/b.tar", "mem://indexes", &c), IMREC_OK);
    ck_assert_msg(strstr(g_err.message, "indexes/b.tar.idxb") != NULL, "%s", g_err.message);
    index_of("mem://data/b.tar", "mem://indexes/b.tar.idxb");
    expect_equal("mem://data/a.tar;mem://data/b.tar", "mem://indexes");
    expect_equal("mem://data/a.tar;mem://data/b.tar", "mem://indexes/");
    expect_equal("mem://data/a.tar", "mem://indexes/a.tar.idxb");
    ck_assert_int_eq(try_open("mem://data/a.tar;mem://data/b.tar", "mem://indexes/a.tar.idxb", &c),
                     IMREC_ERR_ARGUMENT);
    ck_assert_msg(strstr(g_err.message, "name the folder with") != NULL, "%s", g_err.message);
    ck_assert(opens_without_heads("data/a.tar", "mem://data/a.tar", "mem://indexes"));
}

TEST(every_changed_byte_of_an_index_is_noticed)
{
    uint8_t *p;
    size_t n;
    struct container c;
    make_tar(RECORDS);
    put("a.tar", g_file.n);
    index_of("mem://a.tar", NULL);
    ck_assert_int_eq(source_load("mem://a.tar.idxb", 1 << 20, &p, &n, &g_err), IMREC_OK);
    for (size_t i = 0; i < n; i++) {
        p[i] ^= 0x10;
        ck_assert_int_eq(mem_put("a.tar.idxb", p, n, NULL), IMREC_OK);
        ck_assert_msg(try_open("mem://a.tar", "auto", &c) != IMREC_OK, "byte %zu", i);
        ck_assert_msg(strstr(g_err.message, "a.tar.idxb") != NULL, "%s", g_err.message);
        p[i] ^= 0x10;
    }
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(mem_put("a.tar.idxb", p, i, NULL), IMREC_OK);
        ck_assert_int_ne(try_open("mem://a.tar", "auto", &c), IMREC_OK);
    }
    imrec_free(p);
}

TEST(an_index_of_another_shard_is_refused)
{
    struct container c;
    make_tar(RECORDS);
    put("a.tar", g_file.n);
    index_of("mem://a.tar", NULL);
    g_file.p[100] ^= 1; /* the mode: still an archive, of as many bytes */
    put("a.tar", g_file.n);
    ck_assert_int_eq(try_open("mem://a.tar", "auto", &c), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(g_err.message, "is the index of another shard") != NULL, "%s",
                  g_err.message);
    make_tar(RECORDS + 1);
    put("a.tar", g_file.n);
    ck_assert_int_eq(try_open("mem://a.tar", "auto", &c), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(g_err.message, "is the index of a shard of ") != NULL, "%s",
                  g_err.message);
}

/* Of a RecordIO shard in the place of that of an archive. */
TEST(an_index_of_another_kind_is_refused)
{
    struct container c;
    struct index_blocks h;
    struct sink *sink;
    struct source *source;
    const struct index_entry e = {0, 1024};
    make_tar(1);
    put("a.tar", g_file.n);
    ck_assert_int_eq(source_open("mem://a.tar", &source, &g_err), IMREC_OK);
    const struct index_shard of = {"mem://a.tar", source, source->size, false};
    ck_assert_int_eq(index_of_shard(&of, &h, &g_err), IMREC_OK);
    source_close(source);
    ck_assert_int_eq(sink_open("mem://a.tar.idxb", &sink, &g_err), IMREC_OK);
    ck_assert_int_eq(index_write(sink, &h, &e, 1, &g_err), IMREC_OK);
    ck_assert_int_eq(sink_commit(sink, &g_err), IMREC_OK);
    ck_assert_int_eq(try_open("mem://a.tar", "auto", &c), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(g_err.message, "is the index of a RecordIO shard") != NULL, "%s",
                  g_err.message);
}

/* Written by somebody who knows the checksums. */
static void put_index(const char *shard, struct index_entry e)
{
    struct index_blocks h;
    struct sink *sink;
    struct source *source;
    char name[100];
    (void)snprintf(name, sizeof(name), "%s.idxb", shard);
    ck_assert_int_eq(source_open(shard, &source, &g_err), IMREC_OK);
    const struct index_shard of = {shard, source, source->size, true};
    ck_assert_int_eq(index_of_shard(&of, &h, &g_err), IMREC_OK);
    source_close(source);
    h.flags = INDEX_BLOCKS_EXTENTS;
    ck_assert_int_eq(sink_open(name, &sink, &g_err), IMREC_OK);
    ck_assert_int_eq(index_write(sink, &h, &e, 1, &g_err), IMREC_OK);
    ck_assert_int_eq(sink_commit(sink, &g_err), IMREC_OK);
}

LOOP_TEST(extents_that_no_record_can_have_are_refused, 0, 8)
{
    static const struct {
        const char *uri;
        struct index_entry e;
    } rows[] = {{"mem://a.tfrecord", {0, 5}},  {"mem://a.tfrecord", {0, 15}},
                {"mem://a.tfrecord", {7, 1}},  {"mem://a.tar", {0, 511}},
                {"mem://a.tar", {1, 512}},     {"mem://a.tar", {8, 1024}},
                {"mem://a.tar", {0, 1 << 30}}, {"mem://a.tfrecord", {0, UINT64_MAX}}};
    struct container c;
    make_tar(3);
    put("a.tar", g_file.n);
    make_tfrecord(3);
    put("a.tfrecord", g_file.n);
    put_index(rows[_i].uri, rows[_i].e);
    ck_assert_int_eq(try_open(rows[_i].uri, "auto", &c), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(g_err.message, "path_imgidx=none") != NULL, "%s", g_err.message);
}

/* Samples of an archive that was written again, of the same size and with the same first bytes. */
TEST(files_of_two_samples_are_no_sample)
{
    struct imrec_error err;
    struct container c;
    struct parse_room room;
    struct record x;
    g_file.n = 0;
    for (uint32_t i = 0; i < 8; i++) {
        char name[40];
        (void)snprintf(name, sizeof(name), "%u.cls", i);
        tar_text(&g_file, name, "3");
        (void)snprintf(name, sizeof(name), "%u.jpg", i);
        tar_text(&g_file, name, "image");
    }
    put("a.tar", g_file.n);
    put_index("mem://a.tar", (struct index_entry){1024, 2048}); /* an image, and the next label */
    ck_assert_int_eq(try_open("mem://a.tar", "auto", &c), IMREC_OK);
    ck_assert_int_eq(parse_room_init(&room, 4, IMREC_LABEL_FLOAT32, 1 << 20, &err), IMREC_OK);
    struct record_ref ref = {.bytes = {g_file.p + 1024, 2048}};
    ck_assert_int_eq(c.kind->parse(&c, &ref, RECORD_PARTS, &room, &x, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "not the files of one sample") != NULL, "%s", err.message);
    ref.bytes = (struct bytes){g_file.p + 2048, 1024 + 512}; /* a file, and half of a header */
    g_file.p[2048 + 1024 + 200] ^= 1;
    ck_assert_int_eq(c.kind->parse(&c, &ref, RECORD_PARTS, &room, &x, &err), IMREC_ERR_CORRUPT);
    parse_room_free(&room);
    container_close(&c);
}

TEST(a_query_of_a_web_server_follows_the_name)
{
    static const char *const rows[][3] = {
        {NULL, "http://h/a.tar?x=/1", "http://h/a.tar.idxb?x=/1"},
        {NULL, "a/b.tar", "a/b.tar.idxb"},
        {"indexes", "http://h/f/a.tar?x=/1", "indexes/a.tar.idxb"},
        {"indexes/", "s3://b/a-00000-of-00001", "indexes/a-00000-of-00001.idxb"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *name = extents_name(rows[i][0], rows[i][1]);
        ck_assert_str_eq(name, rows[i][2]);
        imrec_free(name);
    }
}

TEST(a_damaged_archive_gets_no_index)
{
    struct imrec_index_result r;
    struct source *none;
    make_tar(RECORDS);
    memset(g_file.p + 2048, 'x', 600);
    put("a.tar", g_file.n);
    ck_assert_int_eq(imrec_dataset_index("mem://a.tar", NULL, IMREC_KEYS_ID, false, &r, &g_err),
                     IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(g_err.message, "an index would hide it") != NULL, "%s", g_err.message);
    ck_assert_int_ne(source_open("mem://a.tar.idxb", &none, NULL), IMREC_OK);
}

TEST(an_index_is_replaced_only_by_force)
{
    struct imrec_index_result r;
    make_tar(RECORDS);
    put("a.tar", g_file.n);
    index_of("mem://a.tar", NULL);
    make_tar(3);
    put("a.tar", g_file.n);
    ck_assert_int_eq(imrec_dataset_index("mem://a.tar", NULL, IMREC_KEYS_ID, false, &r, &g_err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_dataset_index("mem://a.tar", NULL, IMREC_KEYS_ID, true, &r, &g_err),
                     IMREC_OK);
    ck_assert_uint_eq(r.records, 3);
    expect_equal("mem://a.tar", "auto");
}
