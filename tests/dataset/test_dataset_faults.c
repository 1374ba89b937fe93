/* The functions on whole data sets while memory runs out at any request, and while reads fail:
 * an error or a finding, nothing leaked, nothing half-written under a final name. */
#include "base/alloc.h"
#include "formats/set/manifest.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tools/bench/limit/bench_limit.h"

enum { RECORDS = 12 };

static enum imrec_status run_card(struct imrec_error *err)
{
    struct imrec_dataset_card c;
    const enum imrec_status st = imrec_dataset_card("mem://f.rec", NULL, NULL, &c, err);
    if (st == IMREC_OK) {
        ck_assert_uint_eq(c.records, RECORDS);
        ck_assert_uint_eq(c.label_count, SMALL_CLASSES);
        imrec_dataset_card_free(&c);
    }
    return st;
}

static enum imrec_status run_verify(struct imrec_error *err)
{
    struct imrec_verify_options o;
    struct imrec_verify_result r;
    imrec_verify_options_init(&o);
    o.threads = 1; /* which request fails is the same every time */
    const enum imrec_status st = imrec_dataset_verify("mem://f.rec", &o, &r, err);
    if (st == IMREC_OK && r.findings == 0)
        ck_assert_uint_eq(r.decoded, RECORDS);
    return st;
}

static enum imrec_status run_repair(struct imrec_error *err)
{
    struct imrec_repair_options o;
    struct imrec_repair_result r;
    imrec_repair_options_init(&o);
    o.force = true;
    const enum imrec_status st = imrec_dataset_repair("mem://f.rec", "mem://g.rec", &o, &r, err);
    if (st == IMREC_OK)
        ck_assert_uint_eq(r.kept, RECORDS);
    return st;
}

static enum imrec_status run_checked(struct imrec_error *err)
{
    struct imrec_checked *c;
    struct imrec_record r;
    uint64_t n = 0;
    enum imrec_status st = imrec_checked_open("mem://f.rec", NULL, NULL, &c, err);
    if (st != IMREC_OK)
        return st;
    while ((st = imrec_checked_next(c, &r, err)) == IMREC_OK)
        n++;
    ck_assert(st != IMREC_END || n == RECORDS);
    imrec_checked_close(c);
    return st == IMREC_END ? IMREC_OK : st;
}

static enum imrec_status run_index(struct imrec_error *err)
{
    struct imrec_index_result r;
    const enum imrec_status st =
        imrec_dataset_index("mem://f.rec", "mem://h.idx", IMREC_KEYS_ID, true, &r, err);
    if (st == IMREC_OK)
        ck_assert_uint_eq(r.records, RECORDS);
    return st;
}

static enum imrec_status run_find(struct imrec_error *err)
{
    uint32_t shard;
    uint64_t offset;
    const enum imrec_status st = imrec_dataset_find("mem://f.rec", 105, &shard, &offset, err);
    if (st == IMREC_OK)
        ck_assert(shard == 0 && offset > 0 && offset % 4 == 0);
    return st;
}

static enum imrec_status run_names(struct imrec_error *err)
{
    struct imrec_names *n;
    struct imrec_classes *c;
    const enum imrec_status st = imrec_names_open("mem://f.rec", &n, err);
    if (st != IMREC_OK)
        return st;
    ck_assert_uint_eq(imrec_names_count(n), 2);
    ck_assert_str_eq(imrec_names_find(n, 101), "a/one.jpg");
    ck_assert_ptr_null(imrec_names_find(n, 103));
    imrec_names_close(n);
    const enum imrec_status other = imrec_classes_open("mem://f.rec", &c, err);
    if (other != IMREC_OK)
        return other;
    ck_assert_str_eq(imrec_classes_name(c, 1), "b");
    ck_assert_ptr_null(imrec_classes_name(c, 0.5f));
    ck_assert_ptr_null(imrec_classes_name(c, -1));
    ck_assert_ptr_null(imrec_classes_name(c, 2));
    imrec_classes_close(c);
    return IMREC_OK;
}

static enum imrec_status run_expand(struct imrec_error *err)
{
    char *list;
    const enum imrec_status st = imrec_shards_expand("mem://f.manifest.json", true, &list, err);
    if (st == IMREC_OK)
        ck_assert_str_eq(list, "mem://f.rec");
    imrec_shards_free(list);
    return st;
}

static enum imrec_status run_bench(struct imrec_error *err)
{
    struct bench_limit *b;
    struct bench_limit_result run;
    const enum imrec_status st = bench_limit_open("mem://f.rec", NULL, 0, 0, &b, err);
    if (st != IMREC_OK)
        return st;
    const enum imrec_status limit = bench_limit_run(b, 1, RECORDS, &run, err);
    bench_limit_close(b);
    return limit;
}

static const struct {
    const char *name;
    enum imrec_status (*run)(struct imrec_error *err);
} runs[] = {{"card", run_card},   {"verify", run_verify},   {"repair", run_repair},
            {"index", run_index}, {"find", run_find},       {"names", run_names},
            {"bench", run_bench}, {"checked", run_checked}, {"expand", run_expand}};

/* Of the shard alone. */
static void make_manifest(void)
{
    struct imrec_error err;
    struct buf text = BUF_INIT(1 << 16);
    struct manifest_shard shard = {.rec = {.name = "f.rec"}, .records = RECORDS};
    uint8_t *p;
    size_t n;
    must(source_load("mem://f.rec", SIZE_MAX / 2, &p, &n, &err), &err);
    shard.rec.bytes = n;
    shard.rec.crc32c = crc32c(0, p, n);
    imrec_free(p);
    const struct manifest m = {.packer = "imrec 0",
                               .shards = &shard,
                               .shard_count = 1,
                               .records = RECORDS,
                               .bytes = n,
                               .label_width = 1};
    must(manifest_write(&m, &text, &err), &err);
    small_file("mem://f.manifest.json", text.p, text.n);
    buf_free(&text);
}

static void make(void)
{
    small_shard("mem://f.rec", 0, RECORDS);
    ck_assert_uint_eq(small_checksums("mem://f.rec"), RECORDS);
    static const char list[] = "102\t2\tb/two.jpg\n101\t1\ta/one.jpg\nbroken\n";
    small_file("mem://f.lst", list, sizeof(list) - 1);
    small_file("mem://f.classes.txt", "a\nb\n", 4);
    make_manifest();
}

CASE(.timeout = 120)

LOOP_TEST(every_failing_allocation_is_an_error_and_nothing_leaks, 0, COUNT(runs))
{
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    struct imrec_error err;
    long n;
    make();
    ck_assert_int_eq(runs[_i].run(&err), IMREC_OK);
    for (n = 0; n < 5000; n++) {
        const long live = imrec_alloc_live();
        memset(&err, 0, sizeof(err));
        imrec_alloc_fail_after(n);
        st = runs[_i].run(&err);
        imrec_alloc_fail_after(-1);
        if (st == IMREC_OK)
            break;
        ck_assert_msg(err.status == st && err.message[0] != '\0', "%s, allocation %ld: %d %s",
                      runs[_i].name, n, (int)st, err.message);
        ck_assert_msg(imrec_alloc_live() <= live + 8, "%s, allocation %ld leaks", runs[_i].name, n);
    }
    ck_assert_msg(n > 3 && st == IMREC_OK, "%s: %ld", runs[_i].name, n);
}
