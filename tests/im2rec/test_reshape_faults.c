/* Memory that runs out and storage that fails at every call, while sets are made of sets: never a
 * set that looks whole and is not, and what was there before stays. */
#include "base/alloc.h"
#include "imrec/records.h"
#include "imrec/reshape.h"
#include "storage/fault.h"
#include "tests/support/itemset.h"
#include "tests/support/packing_faults.h"
#include "tests/support/suite.h"

#include <dirent.h>

static struct packing p;
static char a_rec[512], b_rec[512];
static struct imrec_reshape_options o;
static struct imrec_reshape_result r;

static void setup(void)
{
    packing_make(&p, false);
    p.o.threads = 1;
    snprintf(a_rec, sizeof(a_rec), "%s", tmp_path(&p.dir, "a.rec"));
    snprintf(b_rec, sizeof(b_rec), "%s", tmp_path(&p.dir, "b.rec"));
    ck_assert_int_eq(packing_run(&p, a_rec), IMREC_OK);
    imrec_reshape_options_init(&o);
}

static void teardown(void)
{
    fault_forget("reshape");
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Files of the set b, or of parts alone. */
static int files_of_b(const char *end)
{
    int n = 0;
    DIR *d = opendir(p.dir.path);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        const size_t length = strlen(e->d_name), k = strlen(end);
        n += e->d_name[0] == 'b' && length >= k && strcmp(e->d_name + length - k, end) == 0;
    }
    closedir(d);
    return n;
}

static enum imrec_status reshape(const char *out)
{
    const char *uris[] = {a_rec};
    return imrec_reshape(uris, 1, out, "test", &o, &r, &p.err);
}

static const char *scripted(uint64_t call, bool rename_only, const char *path)
{
    static char uri[600];
    const struct fault_script script = {.call_eio = rename_only ? 0 : call,
                                        .rename_eio = rename_only ? call : 0};
    snprintf(uri, sizeof(uri), "fault://script=reshape:%s", path);
    ck_assert_int_eq(fault_set("reshape", &script, NULL), IMREC_OK);
    return uri;
}

static uint64_t all_calls(void)
{
    const struct fault_counts c = fault_counts("reshape");
    return c.reads + c.writes + c.syncs + c.renames;
}

CASE(.timeout = 100, .setup = setup, .teardown = teardown)

LOOP_TEST(a_reshaping_without_memory_leaves_nothing, 0, 4)
{
    long n = 0;
    tmp_write(&p.dir, "labels.lst", "3\t1\t2\tx\n", 8);
    o.shards = _i == 0 ? 3 : 0;
    o.renumber = _i == 1;
    o.labels = _i == 2 ? kept_path(&p, "labels.lst") : NULL;
    o.unlisted = IMREC_UNLISTED_KEEP;
    o.fraction = _i == 3 ? 0.5 : -1;
    for (;; n += 1 + n / 40) {
        const long live = imrec_alloc_live();
        imrec_alloc_fail_after(n);
        const enum imrec_status st = reshape(b_rec);
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), live);
        if (st == IMREC_OK)
            break;
        ck_assert_msg(st == IMREC_ERR_NO_MEMORY, "request %ld: %s", n, p.err.message);
        ck_assert_msg(files_of_b("") == 0, "request %ld left files", n);
    }
    ck_assert_int_gt(n, 10);
    ck_assert(packing_verifies(&p, o.shards != 0 ? tmp_path(&p.dir, "b-*.rec") : b_rec));
}

TEST(storage_that_fails_leaves_no_set_or_a_whole_one)
{
    uint64_t n = 1, calls;
    o.force = true;
    o.shards = 2;
    ck_assert_int_eq(reshape(scripted(0, false, b_rec)), IMREC_OK);
    calls = all_calls();
    for (; n <= calls; n += 2) {
        const enum imrec_status st = reshape(scripted(n, false, b_rec));
        if (st == IMREC_OK)
            continue;
        ck_assert_msg(st == IMREC_ERR_IO, "call %d: %s", (int)n, p.err.message);
        ck_assert(!is_there(&p, "b.manifest.json") ||
                  packing_verifies(&p, tmp_path(&p.dir, "b-*.rec")));
    }
    ck_assert_int_eq(reshape(b_rec), IMREC_OK);
    ck_assert(packing_verifies(&p, tmp_path(&p.dir, "b-*.rec")));
    ck_assert_int_eq(files_of_b(".part"), 0);
}

static uint64_t records_of(const char *uri)
{
    struct imrec_dataset_card card;
    ck_assert_int_eq(imrec_dataset_card(uri, NULL, NULL, &card, &p.err), IMREC_OK);
    const uint64_t n = card.records;
    imrec_dataset_card_free(&card);
    return n;
}

/* The set b as packed, in numbered shards or one. */
static void pack_b(bool numbered)
{
    p.o.force = true;
    p.o.shards = numbered ? 2 : 0;
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    p.o.force = false;
    p.o.shards = 0;
}

static struct itemset s;

static enum imrec_status append_items(const char *out)
{
    char kept[512];
    const struct imrec_pack_task task = {.root = p.source, .out = kept};
    snprintf(kept, sizeof(kept), "%s", out);
    s.next = 0;
    const enum imrec_status st = imrec_append_items(&task, &s.source, &p.o, &p.result, &p.err);
    itemset_forget(&s);
    return st;
}

/* Of the joined set. */
static void expect_records(uint64_t n)
{
    struct imrec_reader *reader;
    uint64_t count;
    ck_assert(packing_verifies(&p, b_rec));
    ck_assert_int_eq(imrec_reader_open(b_rec, 0, 1, &reader, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_reader_count(reader, &count, NULL), IMREC_OK);
    ck_assert_uint_eq(count, n);
    imrec_reader_close(reader);
}

TEST(items_are_appended_behind_a_set)
{
    static const char *const names[] = {"ant", "bee", "cow"};
    itemset_make(&s, &p, ITEM_MIXED);
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    ck_assert_int_ne(append_items(b_rec), IMREC_OK);
    ck_assert_msg(strstr(p.err.message, "id 0") != NULL, "%s", p.err.message);
    ck_assert_int_eq(files_of_b(""), 6);
    s.source.numbered = true;
    s.source.classes = names;
    s.source.class_count = 3;
    ck_assert_msg(append_items(b_rec) == IMREC_OK, "%s", p.err.message);
    expect_records(2 * (uint64_t)MADE_GOOD);
    ck_assert_int_eq(files_of_b(""), 6);
    s.fails_at = 9;
    s.status = IMREC_ERR_LIMIT;
    ck_assert_int_eq(append_items(b_rec), IMREC_ERR_LIMIT);
    ck_assert_str_eq(p.err.message, "the caller's own words");
    p.o.resume = true;
    ck_assert_int_eq(append_items(b_rec), IMREC_ERR_ARGUMENT);
    expect_records(2 * (uint64_t)MADE_GOOD);
    ck_assert_int_eq(files_of_b(""), 6);
}

TEST(a_set_can_be_appended_to_any_number_of_times)
{
    itemset_make(&s, &p, ITEM_BYTES);
    s.source.numbered = true;
    ck_assert_int_eq(packing_run(&p, b_rec), IMREC_OK);
    s.count = 1;
    for (int i = 0; i < 50; i++)
        ck_assert_msg(append_items(b_rec) == IMREC_OK, "append %d: %s", i, p.err.message);
    expect_records(MADE_GOOD + 50);
}

static enum imrec_status append(const char *out)
{
    const struct imrec_pack_task task = {.root = p.source, .out = out};
    return imrec_append(&task, &p.o, &p.result, &p.err);
}

static const char *set_b(bool numbered)
{
    return numbered ? tmp_path(&p.dir, "b-*.rec") : b_rec;
}

/* After a failure: the old set, or the new one, maybe after it was finished. *ended: the new. */
static void expect_one_of_both(bool numbered, int call, bool *ended)
{
    *ended = !is_there(&p, "b.manifest.json");
    if (*ended) {
        ck_assert_int_eq(append(b_rec), IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(p.err.message, "is finished now") != NULL, "%s", p.err.message);
        if (numbered) { /* of the old number */
            (void)remove(tmp_path(&p.dir, "b-00000-of-00002.rec"));
            (void)remove(tmp_path(&p.dir, "b-00001-of-00002.rec"));
        }
    }
    const uint64_t n = records_of(set_b(numbered));
    ck_assert_msg(packing_verifies(&p, set_b(numbered)), "call %d", call);
    ck_assert_msg(n == 2 * MADE_GOOD || (!*ended && n == MADE_GOOD), "call %d", call);
    *ended |= n != MADE_GOOD;
}

LOOP_TEST(an_append_without_memory_leaves_the_old_set_or_the_new_one, 0, 2)
{
    bool ended = false;
    pack_b(_i != 0);
    for (long n = 0;; n += 1 + n / 15) {
        const long live = imrec_alloc_live();
        imrec_alloc_fail_after(n);
        const enum imrec_status st = append(b_rec);
        imrec_alloc_fail_after(-1);
        ck_assert_int_eq(imrec_alloc_live(), live);
        if (st == IMREC_OK)
            break;
        expect_one_of_both(_i != 0, (int)n, &ended);
        if (ended)
            pack_b(_i != 0);
    }
    ck_assert(packing_verifies(&p, set_b(_i != 0)));
    ck_assert_uint_eq(records_of(set_b(_i != 0)), 2 * MADE_GOOD);
    ck_assert_int_eq(files_of_b(".part"), 0);
}

/* Every rename in turn, and every seventh of all calls. */
LOOP_TEST(an_append_on_storage_that_fails_keeps_the_old_set_or_can_be_finished, 0, 4)
{
    const bool numbered = _i % 2 != 0, renames = _i / 2 == 0;
    uint64_t finished = 0;
    bool ended;
    pack_b(numbered);
    ck_assert_int_eq(append(scripted(0, false, b_rec)), IMREC_OK);
    const uint64_t calls = renames ? fault_counts("reshape").renames : all_calls();
    for (uint64_t n = 1; n <= calls; n += renames ? 1 : 7) {
        pack_b(numbered);
        const enum imrec_status st = append(scripted(n, renames, b_rec));
        if (st == IMREC_OK)
            continue; /* a read that another one did again */
        ck_assert_msg(st == IMREC_ERR_IO, "call %d: %s", (int)n, p.err.message);
        expect_one_of_both(numbered, (int)n, &ended);
        finished += ended;
    }
    ck_assert(!renames || finished >= 2);
}
