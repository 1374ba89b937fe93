/* tests/dataset/test_transfer_set.c - records into several shards: im2rec's names and cuts, all or
 * none. */
#include "dataset/record_writer.h"
#include "imrec/convert.h"
#include "storage/mem.h"
#include "tests/support/heard.h"
#include "tests/support/identities.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"

#include <inttypes.h>

enum { RECORDS = 10 };

static struct imrec_records_result g_result;
static struct imrec_error g_err;

static void begin(void)
{
    small_shard("mem://a.rec", 0, RECORDS);
    ck_assert_uint_eq(small_checksums("mem://a.rec"), RECORDS);
}

static void end(void)
{
    mem_clear();
}

static struct imrec_records_options from_to(const char *input, const char *output)
{
    struct imrec_records_options o;
    imrec_records_options_init(&o);
    o.input = input;
    o.output = output;
    return o;
}

static void convert_as(const struct imrec_records_options *o)
{
    ck_assert_msg(imrec_convert_records(o, &g_result, &g_err) == IMREC_OK, "%s: %s", o->output,
                  g_err.message);
}

static void convert(const char *input, const char *output, int64_t shards, int64_t size)
{
    struct imrec_records_options o = from_to(input, output);
    o.shards = shards;
    o.shard_size = size;
    convert_as(&o);
}

static void refuse(const struct imrec_records_options *o, const char *words)
{
    const enum imrec_status st = imrec_convert_records(o, &g_result, &g_err);
    ck_assert_msg(st == IMREC_ERR_ARGUMENT && strstr(g_err.message, words) != NULL, "%d: %s",
                  (int)st, g_err.message);
}

static uint64_t size_of(const char *uri)
{
    struct source *s;
    ck_assert_msg(source_open(uri, &s, &g_err) == IMREC_OK, "%s", g_err.message);
    const uint64_t n = s->size;
    source_close(s);
    return n;
}

static void expect_none(const char *uri)
{
    struct source *s;
    ck_assert_msg(source_open(uri, &s, NULL) != IMREC_OK, "%s is there", uri);
}

/* Ids of all records, in their order, with a blank after each. */
static const char *ids_of(const char *uri)
{
    static char text[1000];
    struct imrec_reader *r;
    struct imrec_record x;
    size_t n = 0;
    text[0] = '\0';
    ck_assert_msg(imrec_reader_open(uri, 0, 1, &r, &g_err) == IMREC_OK, "%s", g_err.message);
    while (imrec_reader_next(r, &x, &g_err) == IMREC_OK)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%" PRIu64 " ", x.id);
    imrec_reader_close(r);
    return text;
}

static void expect_same(const char *a, const char *b)
{
    uint8_t *p, *q;
    size_t n, m;
    ck_assert_int_eq(source_load(a, 1 << 26, &p, &n, &g_err), IMREC_OK);
    ck_assert_int_eq(source_load(b, 1 << 26, &q, &m, &g_err), IMREC_OK);
    ck_assert_uint_eq(n, m);
    ck_assert_mem_eq(p, q, n);
    imrec_free(p);
    imrec_free(q);
}

CASE(.setup = begin, .teardown = end)

static void put(const char *name, const char *text)
{
    ck_assert_int_eq(mem_put(name, text, strlen(text), &g_err), IMREC_OK);
}

TEST(a_mark_that_nobody_has_written_is_refused)
{
    static const char *const texts[] = {"",     "3",         "0\n", "-1\n",
                                        "3 \n", "1048577\n", "x\n", "99999999999999999999999\n"};
    struct imrec_records_options o = from_to("mem://a.rec", "mem://c.tar");
    o.shards = 3;
    for (size_t i = 0; i < COUNT(texts); i++) {
        put("c.unfinished", texts[i]);
        refuse(&o, "c.unfinished exists, and no conversion has written it");
    }
    put("c.unfinished", "4\n");
    put("c-00001-of-00004.tar", "x");
    convert("mem://a.rec", "mem://c.tar", 3, 0);
    expect_none("mem://c-00001-of-00004.tar");
    expect_none("mem://c.unfinished");
}

TEST(a_whole_set_with_a_mark_stays)
{
    convert("mem://a.rec", "mem://c.tar", 3, 0);
    put("c.unfinished", "3\n"); /* killed when all had their names */
    struct imrec_records_options o = from_to("mem://c-00000-of-00003.tar", "mem://c.tar");
    o.shards = 2;
    refuse(&o, "-of-00003.tar exists, next to which");
    expect_none("mem://c.unfinished");
    (void)size_of("mem://c-00000-of-00003.tar");
    (void)size_of("mem://c-00002-of-00003.tar");
}

/* The number of shards is known at the end alone. */
TEST(a_whole_set_with_a_mark_is_replaced_by_the_same_command)
{
    static const char others[] = "-of-00010.tar exists, next to which";
    struct imrec_records_options o = from_to("mem://a.rec", "mem://c.tar");
    o.shard_size = 1;
    convert("mem://a.rec", "mem://c.tar", 0, o.shard_size);
    ck_assert_uint_eq(g_result.shards, RECORDS);
    refuse(&o, others); /* finished, as far as anybody can tell */
    put("c.unfinished", "10\n");
    convert("mem://a.rec", "mem://c.tar", 0, o.shard_size);
    expect_none("mem://c.unfinished");
    put("c.unfinished", "10\n");
    o.shard_size = 1 << 20;
    refuse(&o, others);
    ck_assert_uint_eq(size_of("mem://c.unfinished"), 3); /* for the one that may come */
    (void)size_of("mem://c-00009-of-00010.tar");
    expect_none("mem://c-00000-of-00001.tar");
}

TEST(n_shards_are_cut_and_called_as_those_of_im2rec)
{
    convert("mem://a.rec", "mem://b.tfrecord", 0, 0);
    convert("mem://b.tfrecord", "mem://c.rec", 3, 0);
    ck_assert(g_result.shards == 3 && g_result.records == RECORDS);
    ck_assert_str_eq(ids_of("mem://c-00000-of-00003.rec"), "100 101 102 ");
    ck_assert_str_eq(ids_of("mem://c-00001-of-00003.rec"), "103 104 105 ");
    ck_assert_str_eq(ids_of("mem://c-00002-of-00003.rec"), "106 107 108 109 ");
    ck_assert_uint_eq(g_result.bytes, size_of("mem://c-00000-of-00003.rec") +
                                          size_of("mem://c-00001-of-00003.rec") +
                                          size_of("mem://c-00002-of-00003.rec"));
    (void)size_of("mem://c-00001-of-00003.idx");
    (void)size_of("mem://c-00002-of-00003.crc");
    expect_none("mem://c.rec");
    convert("mem://c-00000-of-00003.rec;mem://c-00001-of-00003.rec;mem://c-00002-of-00003.rec",
            "mem://d.tfrecord", 0, 0);
    expect_same("mem://b.tfrecord", "mem://d.tfrecord");
}

/* The same shards, whether an index says how many records there are or heads are counted. */
LOOP_TEST(every_kind_says_how_many_records_it_has, 0, 4)
{
    static const char *const inputs[] = {"mem://a.rec", "mem://without.rec", "mem://b.tar",
                                         "mem://b.tfrecord"};
    uint8_t *p;
    size_t n;
    ck_assert_int_eq(source_load("mem://a.rec", 1 << 26, &p, &n, &g_err), IMREC_OK);
    ck_assert_int_eq(mem_put("without.rec", p, n, NULL), IMREC_OK);
    imrec_free(p);
    convert("mem://a.rec", "mem://b.tar", 0, 0);
    convert("mem://a.rec", "mem://b.tfrecord", 0, 0);
    convert("mem://a.rec", "mem://want.tar", 4, 0);
    convert(inputs[_i], "mem://c.tar", 4, 0);
    const char *const names[] = {"mem://c-00000-of-00004.tar", "mem://c-00001-of-00004.tar",
                                 "mem://c-00002-of-00004.tar", "mem://c-00003-of-00004.tar"};
    for (int i = 0; i < 4; i++) {
        char want[64];
        (void)snprintf(want, sizeof(want), "mem://want%s", names[i] + strlen("mem://c"));
        expect_same(want, names[i]);
    }
}

LOOP_TEST(a_shard_ends_before_the_record_that_would_make_it_too_large, 0, 3)
{
    static const char *const suffixes[] = {".rec", ".tfrecord", ".tar"};
    char output[64], name[64];
    uint64_t records = 0;
    const uint64_t most = _i == 2 ? 25000 : 7000; /* archives are padded */
    convert("mem://a.rec", "mem://b.tfrecord", 0, 0);
    (void)snprintf(output, sizeof(output), "mem://c%s", suffixes[_i]);
    convert("mem://b.tfrecord", output, 0, (int64_t)most);
    const uint64_t count = g_result.shards;
    ck_assert_uint_gt(count, 1);
    ck_assert_uint_lt(count, RECORDS);
    for (uint64_t k = 0; k < count; k++) {
        (void)snprintf(name, sizeof(name), "mem://c-%05u-of-%05u%s", (unsigned)k, (unsigned)count,
                       suffixes[_i]);
        ck_assert_uint_le(size_of(name), most);
        records += strlen(ids_of(name)) != 0;
    }
    ck_assert_uint_eq(records, count);
    ck_assert_uint_eq(g_result.records, RECORDS);
    convert("mem://b.tfrecord", "mem://d.tar", 0, 1); /* no record fits: each has a shard */
    ck_assert_uint_eq(g_result.shards, RECORDS);
}

TEST(a_range_of_names_is_as_many_shards)
{
    convert("mem://a.rec", "mem://c-{008..010}.tar", 0, 0);
    ck_assert_uint_eq(g_result.shards, 3);
    convert("mem://a.rec", "mem://d.tar", 3, 0);
    expect_same("mem://d-00000-of-00003.tar", "mem://c-008.tar");
    expect_same("mem://d-00001-of-00003.tar", "mem://c-009.tar");
    expect_same("mem://d-00002-of-00003.tar", "mem://c-010.tar");
    ck_assert_str_eq(ids_of("mem://c-{008..010}.tar"), "0 1 2 3 4 5 6 7 8 9 ");
}

TEST(one_shard_that_was_asked_for_has_a_number)
{
    convert("mem://a.rec", "mem://c.tar", 1, 0);
    convert("mem://a.rec", "mem://d.tar", 0, 1 << 30);
    expect_same("mem://c-00000-of-00001.tar", "mem://d-00000-of-00001.tar");
    ck_assert_uint_eq(g_result.shards, 1);
}

TEST(what_is_no_set_is_refused)
{
    struct imrec_records_options o = from_to("mem://a.rec", "mem://b.tar");
    o.shards = 2;
    o.shard_size = 5;
    refuse(&o, "shards and shard_size say the same twice");
    o.shards = -1;
    o.shard_size = 0;
    refuse(&o, "shards=-1 shard_size=0: there are 1 to 1048576 shards");
    o.shards = RECORDS + 1;
    refuse(&o, "mem://b.tar: 11 shards of 10 records: one has none");
    o.shards = 2;
    o.output = "mem://b-{0..1}.tar";
    refuse(&o, "names every shard: shards and shard_size belong to one name");
    o.shards = 0;
    o.output = "mem://b-{0..10}.tar";
    refuse(&o, "11 shards of 10 records");
    expect_none("mem://b-0.tar");
}

static void put_text(const char *name)
{
    ck_assert_int_eq(mem_put(name, "text", 4, NULL), IMREC_OK);
}

TEST(shards_of_another_number_stay_and_are_refused)
{
    struct imrec_records_options o = from_to("mem://a.rec", "mem://f/b.tar");
    put_text("f/b-00007-of-00009.tar");
    put_text("f/b-0007-of-0008.tar"); /* these are no shards of it */
    put_text("f/bb-00007-of-00008.tar");
    put_text("f/b-00007-of-00008.tar.txt");
    o.shards = 2;
    refuse(&o, "b-00007-of-00009.tar exists, next to which shards of mem://f/b.tar would be taken");
    o.shards = 0;
    o.shard_size = 9999;
    refuse(&o, "b-00007-of-00009.tar exists");
    (void)size_of("mem://f/b-00007-of-00009.tar");
    expect_none("mem://f/b-00000-of-00002.tar");
    expect_none("mem://f/b.lock.part");
    convert("mem://a.rec", "mem://f/b.tar", 9, 0); /* of the same number they are replaced */
    ck_assert_str_eq(ids_of("mem://f/b-00007-of-00009.tar"), "0 ");
}

TEST(a_set_of_im2rec_is_not_mixed_with_another)
{
    convert("mem://a.rec", "mem://b.tfrecord", 0, 0);
    struct imrec_records_options o = from_to("mem://b.tfrecord", "mem://c.rec");
    o.shards = 2;
    put_text("c.journal.part");
    refuse(&o, "mem://c.journal.part exists, of a set that im2rec has written or begun");
    put_text("d.manifest.json");
    o.output = "mem://d.rec";
    refuse(&o, "mem://d.manifest.json exists");
    o.output = "mem://d.tar";
    convert_as(&o);
}

TEST(what_an_interrupted_run_left_is_removed)
{
    put_text("f/b-00003-of-00005.tar.part");
    put_text("f/b-00000-of-00000.tar.part");
    put_text("f/bb-00000-of-00000.tar.part");
    put_text("f/c-00001-of-00005.rec.part");
    put_text("f/c-00001-of-00005.idx.part");
    convert("mem://a.rec", "mem://f/b.tar", 2, 0);
    expect_none("mem://f/b-00003-of-00005.tar.part");
    expect_none("mem://f/b-00000-of-00000.tar.part");
    expect_none("mem://f/b.lock.part");
    (void)size_of("mem://f/bb-00000-of-00000.tar.part");
    convert("mem://f/b-00000-of-00002.tar", "mem://f/c.rec", 2, 0);
    expect_none("mem://f/c-00001-of-00005.rec.part");
    expect_none("mem://f/c-00001-of-00005.idx.part");
}

/* Damage in the middle: no shard, or the cuts that there would be without it. */
TEST(damage_leaves_no_shard_or_moves_no_cut)
{
    uint8_t *p;
    size_t n;
    convert("mem://a.rec", "mem://b.tfrecord", 0, 0);
    ck_assert_int_eq(source_load("mem://b.tfrecord", 1 << 26, &p, &n, &g_err), IMREC_OK);
    p[n / 2] ^= 1;
    ck_assert_int_eq(mem_put("b.tfrecord", p, n, NULL), IMREC_OK);
    imrec_free(p);
    struct imrec_records_options o = from_to("mem://b.tfrecord", "mem://c.tar");
    o.shards = 3;
    ck_assert_int_eq(imrec_convert_records(&o, &g_result, &g_err), IMREC_ERR_DATA);
    expect_none("mem://c-00000-of-00003.tar");
    expect_none("mem://c-00000-of-00003.tar.part");
    expect_none("mem://c-00001-of-00003.tar.part");
    o.on_error = IMREC_ON_ERROR_SKIP;
    o.output = "mem://c.rec";
    convert_as(&o);
    ck_assert(g_result.left_out == 1 && g_result.records == RECORDS - 1);
    ck_assert_str_eq(ids_of("mem://c-00000-of-00003.rec"), "100 101 102 ");
    ck_assert_str_eq(ids_of("mem://c-00002-of-00003.rec"), "106 107 108 109 ");
}

TEST(records_that_are_no_samples_are_left_out_and_told_of)
{
    struct identity_set s = {.header_first = true};
    identity_make(&s);
    identity_store(&s, "f", true);
    identity_free(&s);
    heard_begin();
    convert("mem://f.rec", "mem://g.tar", 2, 0);
    heard_end();
    ck_assert_uint_eq(g_result.records, IDENTITY_IMAGES);
    ck_assert_uint_eq(heard_count("mem://f.rec: 6 records that name ranges of keys have no image"),
                      1);
    ck_assert_str_eq(ids_of("mem://g-00001-of-00002.tar"), "0 1 2 3 4 5 6 ");
}
