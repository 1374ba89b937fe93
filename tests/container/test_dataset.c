#include "base/alloc.h"
#include "container/container.h"
#include "formats/crc32c.h"
#include "formats/recordio/record_index.h"
#include "formats/set/manifest.h"
#include "storage/mem.h"
#include "tests/support/shards.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

static struct imrec_error err;
static struct made_shard a, b;

static void put(const char *name, const char *text)
{
    ck_assert_int_eq(mem_put(name, text, strlen(text), &err), IMREC_OK);
}

static void setup(void)
{
    struct dice d = {11};
    a = made_shard(&d, 10, 100);
    b = made_shard(&d, 7, 100);
    ck_assert_int_eq(mem_put("a.rec", a.file.p, a.file.n, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("b.rec", b.file.p, b.file.n, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("torn.rec", b.file.p, b.file.n - 3, &err), IMREC_OK);
    put("empty.rec", "");
    put("none.rec", "");
}

static void teardown(void)
{
    mem_clear();
    made_free(&a);
    made_free(&b);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct container_options
options(const char *rec, const char *idx, uint64_t parts, uint64_t part)
{
    return (struct container_options){.path_imgrec = rec,
                                      .path_imgidx = idx,
                                      .num_parts = parts,
                                      .part_index = part,
                                      .cell_bytes = 64};
}

/* A manifest of NAME.rec alone. */
static void put_manifest(const char *name, uint64_t bytes, uint64_t records)
{
    char rec[32], path[64];
    struct buf text = BUF_INIT(1 << 20);
    struct manifest_shard shard = {.rec = {rec, bytes, 1}, .records = records};
    const struct manifest m = {.packer = "imrec 0",
                               .shards = &shard,
                               .shard_count = 1,
                               .records = records,
                               .bytes = bytes,
                               .label_width = 1};
    snprintf(rec, sizeof(rec), "%s.rec", name);
    snprintf(path, sizeof(path), "%s.manifest.json", name);
    ck_assert_msg(manifest_write(&m, &text, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(mem_put(path, text.p, text.n, &err), IMREC_OK);
    buf_free(&text);
}

CASE(.setup = setup, .teardown = teardown)

TEST(units_tile_the_partitions_and_partitions_the_shards)
{
    static const char *lists[] = {"mem://a.rec;mem://b.rec",
                                  "mem://torn.rec;mem://empty.rec;mem://a.rec;mem://torn.rec",
                                  "mem://none.rec"};
    put_manifest("none", 0, 0); /* which promises nothing */
    for (size_t l = 0; l < 3; l++)
        for (uint64_t parts = 1; parts < 60; parts += parts / 5 + 1) {
            uint64_t covered = 0, last = 0, total = 0;
            for (uint64_t p = 0; p < parts; p++) {
                struct container s;
                const struct container_options o = options(lists[l], "", parts, p);
                ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
                total = s.total_bytes;
                for (uint64_t u = 0; u < s.unit_count; u++) {
                    const struct unit_range r = container_unit(&s, u);
                    const uint64_t at = s.shards[r.shard].begin + r.begin;
                    MUST(r.begin < r.end && r.end <= s.shards[r.shard].size);
                    MUST(r.begin % 4 == 0 && r.end - r.begin <= 64);
                    MUST(at >= last);
                    MUST(r.end % 64 == 0 || r.end == s.shards[r.shard].size ||
                         u + 1 == s.unit_count);
                    last = at + r.end - r.begin;
                    covered += r.end - r.begin;
                }
                container_close(&s);
            }
            ck_assert_uint_eq(covered, total);
        }
}

static const struct {
    const char *rec, *idx, *text; /* text: of mem://x.idx */
    enum imrec_status status;
    const char *says;
} bad[] = {
    {"mem://no.rec", "", "", IMREC_ERR_ARGUMENT, "mem://no.rec: there is no such object"},
    {"mem://a.rec", "mem://no.idx", "", IMREC_ERR_ARGUMENT,
     "mem://no.idx: there is no such object"},
    {"mem://a.rec;mem://b.rec", "mem://x.idx", "0\t0\n", IMREC_ERR_ARGUMENT,
     "path_imgidx names 1 files for 2 shards"},
    {"mem://a.rec", "mem://x.idx", "0\t0\n1\t17\n", IMREC_ERR_CORRUPT, "mem://x.idx line 2"},
    {"mem://a.rec", "mem://x.idx", "0\t0\n1\n", IMREC_ERR_CORRUPT, "mem://x.idx line 2"},
    {"mem://a.rec", "mem://x.idx", "0\t0\n1\t4000000000\n", IMREC_ERR_CORRUPT,
     "if it was cut, restore it, or copy what is left (imrec repair)"},
    {"mem://a.rec", "mem://x.idx", "0\t0\n5\t8\n1\t0\n", IMREC_ERR_CORRUPT,
     "mem://x.idx: two lines give the offset 0"},
    {"mem://empty.rec;mem://a.rec", "mem://x.idx;mem://x.idx", "0\t0\n", IMREC_ERR_CORRUPT,
     "no record can begin at 0"},
    {"mem://empty.rec", "mem://x.idx", "0\t0\n", IMREC_ERR_CORRUPT,
     "mem://empty.rec holds no record: it has 0 bytes"},
    {"mem://empty.rec;mem://empty.rec", "", "", IMREC_ERR_CORRUPT,
     "it has 0 bytes, and none of the 2 shards holds one"},
    {"mem://a.rec", "mem://x.idx", "", IMREC_ERR_CORRUPT,
     "mem://a.rec holds no record: its index has no entry"},
};

LOOP_TEST(what_is_wrong_with_a_list_or_an_index_is_said, 0, COUNT(bad))
{
    struct container s;
    const struct container_options o = options(bad[_i].rec, bad[_i].idx, 1, 0);
    put("x.idx", bad[_i].text);
    ck_assert_int_eq(container_open(&o, &s, &err), bad[_i].status);
    ck_assert_msg(strstr(err.message, bad[_i].says) != NULL, "%s", err.message);
}

TEST(wrong_numbers_are_refused)
{
    struct container s;
    struct container_options o = options("mem://a.rec", "", 3, 3);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_ERR_ARGUMENT);
    o = options("mem://a.rec", "", 0, 0);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_ERR_ARGUMENT);
    o = options("mem://a.rec", "", 1, 0);
    o.cell_bytes = 6;
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_ERR_ARGUMENT);
    o.cell_bytes = 4;
    o.num_parts = UINT64_MAX; /* most partitions of a large number are empty */
    o.part_index = UINT64_MAX - 1;
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
    ck_assert_uint_eq(s.unit_count, 0);
    container_close(&s);
}

TEST(indexed_partitions_hold_equal_numbers_in_file_order)
{
    char text[1024] = "", lines[64];
    for (size_t i = a.count; i-- > 0;) { /* backwards: the order of lines does not matter */
        snprintf(lines, sizeof(lines), "%zu\t%zu\n", 50 + i, (size_t)a.records[i].begin);
        strcat(text, lines);
    }
    put("x.idx", text);
    put("none.idx", "");
    for (uint64_t p = 0; p < 6; p++) { /* 10 records in steps of 2 */
        struct container s;
        const struct container_options o =
            options("mem://empty.rec;mem://a.rec", "mem://none.idx;mem://x.idx", 6, p);
        uint64_t counts[6];
        ck_assert_msg(container_open(&o, &s, &err) == IMREC_OK, "%s", err.message);
        ck_assert_int_eq(container_count(&s, counts, &err), IMREC_OK);
        ck_assert_uint_eq(counts[p], p < 5 ? 2 : 0);
        ck_assert_uint_eq(s.unit_count, counts[p]);
        for (uint64_t u = 0; u < s.unit_count; u++) {
            const struct made_record *r = &a.records[2 * p + u];
            ck_assert_uint_eq(s.records[u].offset, r->begin);
            ck_assert_uint_eq(s.records[u].key, 50 + 2 * p + u);
            ck_assert_uint_eq(container_unit(&s, u).end, r->end);
        }
        ck_assert_uint_eq(container_memory(&s), (s.unit_count + 1) * 24);
        container_close(&s);
    }
}

TEST(indexes_find_their_shards_by_name)
{
    struct container s;
    put("a.idx", "1\t0\n");
    put("b.idx", "2\t0\n");
    struct container_options o =
        options("mem://a.rec;mem://b.rec", "mem://b.idx;mem://a.idx", 1, 0);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
    ck_assert_uint_eq(s.records[0].key, 1);
    ck_assert_uint_eq(s.records[1].key, 2);
    container_close(&s);
    put("c.idx", "3\t0\n"); /* one name that is nobody's: by place */
    o = options("mem://a.rec;mem://b.rec", "mem://b.idx;mem://c.idx", 1, 0);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
    ck_assert_uint_eq(s.records[0].key, 2);
    ck_assert_uint_eq(s.records[1].key, 3);
    container_close(&s);
}

/* A manifest beside mem://a.rec that counts `records`, and its index. */
static void put_set(uint64_t records, const struct buf *idx, uint32_t crc)
{
    struct buf text = BUF_INIT(1 << 20);
    struct manifest_shard shard = {
        .rec = {"a.rec", a.file.n, 1}, .idx = {"a.idx", idx->n, crc}, .records = records};
    const struct manifest m = {.packer = "imrec 0",
                               .shards = &shard,
                               .shard_count = 1,
                               .records = records,
                               .bytes = a.file.n,
                               .label_width = 1};
    ck_assert_msg(manifest_write(&m, &text, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(mem_put("a.manifest.json", text.p, text.n, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("a.idx", idx->p, idx->n, &err), IMREC_OK);
    buf_free(&text);
}

static void expect_counts(uint64_t parts, uint64_t sum, bool only_first_half)
{
    struct container s;
    uint64_t counts[8] = {0}, got = 0;
    const struct container_options o = options("mem://a.rec;mem://b.rec", "", parts, 0);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
    ck_assert_int_eq(container_count(&s, counts, &err), IMREC_OK);
    for (uint64_t p = 0; p < parts; p++)
        got += counts[p];
    ck_assert_uint_eq(got, sum + b.count);
    if (only_first_half)
        ck_assert_uint_eq(counts[0], 5);
    container_close(&s);
}

TEST(counting_asks_manifest_and_index_before_it_reads)
{
    struct buf idx = BUF_INIT(1 << 20);
    for (uint64_t i = 0; i < 5; i++) /* only half of the records: a scan would find all */
        ck_assert_int_eq(record_index_write(&idx, i, a.records[0].begin, &err), IMREC_OK);
    const uint32_t crc = crc32c(0, idx.p, idx.n);
    expect_counts(1, a.count, false); /* nothing beside the shards */
    expect_counts(5, a.count, false);
    put_set(5, &idx, crc);
    expect_counts(1, 5, false);
    expect_counts(5, 5, true);
    put_set(5, &idx, crc + 1); /* another index than the manifest's */
    expect_counts(1, 5, false);
    expect_counts(5, a.count, false);
    put_set(6, &idx, crc); /* an index that lacks a record */
    expect_counts(5, a.count, false);
    put("a.manifest.json", "{}");
    expect_counts(1, a.count, false);
    ck_assert_int_eq(mem_put("a.rec", a.file.p, a.file.n - 8, &err), IMREC_OK);
    put_set(5, &idx, crc); /* another shard than the manifest's */
    expect_counts(1, a.count - 1, false);
    buf_free(&idx);
}

TEST(an_index_with_other_records_than_its_manifest_is_not_found)
{
    struct buf idx = BUF_INIT(1 << 20);
    struct container s;
    struct container_options o = options("mem://a.rec", "auto", 1, 0);
    for (size_t i = 0; i < a.count; i++)
        if (i != 4) /* one inside: nothing but the manifest knows before it is read */
            ck_assert_int_eq(record_index_write(&idx, i, a.records[i].begin, &err), IMREC_OK);
    put_set(a.count - 1, &idx, 0);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
    container_close(&s);
    put_set(a.count, &idx, 0);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_ERR_CORRUPT);
    ck_assert_msg(strstr(err.message, "mem://a.idx lists 9 records, but by its manifest "
                                      "mem://a.rec has 10") != NULL,
                  "%s", err.message);
    o.path_imgidx = "mem://a.idx";
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
    ck_assert_int_eq(s.index_doubt.status, IMREC_ERR_CORRUPT);
    container_close(&s);
    buf_free(&idx);
}

/* What stands before the first record or behind the last one of an index is no record: damage. */
LOOP_TEST(an_index_may_leave_out_damage, 0, 2) /* _i: 0 = no head, 1 = the head of a later part */
{
    struct buf idx = BUF_INIT(1 << 20);
    struct container s;
    const struct container_options o = options("mem://d.rec", "auto", 1, 0);
    uint8_t *bytes = malloc(a.file.n);
    memcpy(bytes, a.file.p, a.file.n);
    uint8_t *last = bytes + a.records[a.count - 1].begin;
    if (_i == 0) {
        memset(bytes, 0x55, 8);
        memset(last, 0x55, 8);
    } else {
        bytes[7] |= 3 << 5;
        last[7] |= 3 << 5;
    }
    ck_assert_int_eq(mem_put("d.rec", bytes, a.file.n, &err), IMREC_OK);
    for (size_t i = 1; i + 1 < a.count; i++)
        ck_assert_int_eq(record_index_write(&idx, i, a.records[i].begin, &err), IMREC_OK);
    ck_assert_int_eq(mem_put("d.idx", idx.p, idx.n, &err), IMREC_OK);
    ck_assert_msg(container_open(&o, &s, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(s.record_total, a.count - 2);
    container_close(&s);
    buf_free(&idx);
    free(bytes);
}

static uint64_t fingerprint(const char *rec, const char *idx)
{
    struct container s;
    const struct container_options o = options(rec, idx, 1, 0);
    ck_assert_int_eq(container_open(&o, &s, &err), IMREC_OK);
    const uint64_t f = container_fingerprint(&s);
    container_close(&s);
    return f;
}

TEST(the_fingerprint_changes_with_names_sizes_order_and_index)
{
    uint64_t f[8];
    put("a.idx", "1\t0\n");
    put("k.idx", "2\t0\n");
    ck_assert_int_eq(mem_put("moved/a.rec", a.file.p, a.file.n, &err), IMREC_OK);
    f[0] = fingerprint("mem://a.rec;mem://b.rec", "");
    f[1] = fingerprint("mem://b.rec;mem://a.rec", "");
    f[2] = fingerprint("mem://a.rec", "");
    f[3] = fingerprint("mem://a.rec", "mem://a.idx");
    f[4] = fingerprint("mem://a.rec", "mem://k.idx");
    f[5] = fingerprint("mem://b.rec", "");
    f[6] = fingerprint("mem://torn.rec", "");
    f[7] = fingerprint("mem://a.rec;mem://a.rec", "");
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(f[i], f[j]);
    ck_assert_uint_eq(fingerprint("mem://moved/a.rec", ""), f[2]);
}

TEST(no_allocation_that_fails_leaks)
{
    struct container s;
    put("a.idx", "1\t0\n");
    for (int keep = 0; keep < 2; keep++)
        STARVING_SOME(memory)
        {
            struct container_options o = options("mem://a.rec", keep ? "" : "mem://a.idx", 1, 0);
            uint64_t count;
            o.keep_in_memory = keep;
            memory.st = container_open(&o, &s, &err);
            if (memory.st == IMREC_OK)
                memory.st = container_count(&s, &count, &err);
            container_close(&s);
        }
}
