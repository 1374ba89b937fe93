/* Random damage: verifying says the same with one thread and many, and repairing keeps exactly
 * the records that verifying has nothing against. */
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tools/bench/limit/bench_limit.h"

#include <stdatomic.h>

enum { RECORDS = 200, ROUNDS = 60, MAX_FINDINGS = 400 };

struct findings {
    int n;
    struct {
        enum imrec_finding_kind kind;
        uint64_t begin, end, id;
        char reason[512];
    } f[MAX_FINDINGS];
};

static void note(void *user, const struct imrec_finding *f)
{
    struct findings *all = user;
    if (all->n == MAX_FINDINGS)
        return;
    all->f[all->n].kind = f->kind;
    all->f[all->n].begin = f->begin;
    all->f[all->n].end = f->end;
    all->f[all->n].id = f->id;
    snprintf(all->f[all->n++].reason, sizeof(all->f[0].reason), "%s", f->reason);
}

static struct imrec_verify_result verify(int threads, struct findings *found)
{
    struct imrec_error err;
    struct imrec_verify_options o;
    struct imrec_verify_result r;
    imrec_verify_options_init(&o);
    o.threads = threads;
    o.finding = note;
    o.user = found;
    memset(found, 0, sizeof(*found));
    must(imrec_dataset_verify("mem://damaged.rec", &o, &r, &err), &err);
    return r;
}

static uint64_t g_state;

static uint64_t dice(uint64_t n)
{
    g_state ^= g_state << 13, g_state ^= g_state >> 7, g_state ^= g_state << 17;
    return g_state % n;
}

/* A copy of the whole shard with a few bytes changed, zeroed, cut off or swapped about. */
static void damage(const uint8_t *whole, size_t n)
{
    uint8_t *p = malloc(n);
    memcpy(p, whole, n);
    for (uint64_t hits = 1 + dice(6); hits > 0; hits--) {
        const size_t at = dice(n), length = 1 + dice(dice(3) == 0 ? 2000 : 8);
        for (size_t i = at; i < n && i < at + length; i++)
            p[i] = dice(2) == 0 ? 0 : (uint8_t)dice(256);
    }
    if (dice(4) == 0) /* a head where none belongs */
        memcpy(p + dice(n / 4 - 2) * 4, whole, 8);
    if (dice(4) == 0)
        n -= dice(n / 2);
    small_file("mem://damaged.rec", p, n);
    free(p);
}

static bool is_original(const struct imrec_record *r)
{
    struct imrec_error err;
    struct imrec_reader *reader;
    struct imrec_record o;
    bool same = false;
    must(imrec_reader_open("mem://whole.rec", 0, 1, &reader, &err), &err);
    while (!same && imrec_reader_next(reader, &o, &err) == IMREC_OK)
        same = o.size == r->size && memcmp(o.data, r->data, r->size) == 0;
    imrec_reader_close(reader);
    return same;
}

static uint64_t count_originals(const char *uri, bool all)
{
    struct imrec_error err;
    struct imrec_reader *reader;
    struct imrec_record r;
    uint64_t n = 0;
    must(imrec_reader_open(uri, 0, 1, &reader, &err), &err);
    while (imrec_reader_next(reader, &r, &err) == IMREC_OK) {
        const bool original = is_original(&r);
        ck_assert(original || !all);
        n += original;
    }
    imrec_reader_close(reader);
    return n;
}

static void copy_side(enum set_file what)
{
    struct imrec_error err;
    char from[SMALL_NAME_BYTES], to[SMALL_NAME_BYTES];
    uint8_t *p;
    size_t n;
    set_name("mem://whole.rec", what, from);
    set_name("mem://damaged.rec", what, to);
    must(source_load(from, SIZE_MAX / 2, &p, &n, &err), &err);
    small_file(to, p, n);
    imrec_free(p);
}

CASE(.timeout = 120)

LOOP_TEST(findings_do_not_depend_on_threads_and_repair_keeps_what_is_intact, 0, ROUNDS)
{
    static struct findings one, many;
    struct imrec_error err;
    struct imrec_repair_options o;
    struct imrec_repair_result repaired;
    uint8_t *whole;
    size_t n;
    g_state = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);
    small_shard("mem://whole.rec", 0, RECORDS);
    ck_assert_uint_eq(small_checksums("mem://whole.rec"), RECORDS);
    must(source_load("mem://whole.rec", SIZE_MAX / 2, &whole, &n, &err), &err);
    damage(whole, n);
    copy_side(SET_INDEX);
    copy_side(SET_CHECKSUMS);
    const struct imrec_verify_result a = verify(1, &one), b = verify(5, &many);
    ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
    ck_assert_int_eq(memcmp(&one, &many, sizeof(one)), 0);
    ck_assert_uint_eq((uint64_t)one.n, a.findings < MAX_FINDINGS ? a.findings : MAX_FINDINGS);

    imrec_repair_options_init(&o);
    o.force = true;
    must(imrec_dataset_repair("mem://damaged.rec", "mem://mended.rec", &o, &repaired, &err), &err);
    ck_assert_uint_eq(repaired.damaged_ranges, a.found[IMREC_FOUND_DAMAGE]);
    ck_assert_uint_eq(repaired.kept + repaired.dropped, a.records);
    ck_assert_uint_eq(count_originals("mem://mended.rec", true), repaired.kept);
    ck_assert_uint_eq(a.decoded, repaired.kept);
    imrec_free(whole);
}

TEST(nothing_is_wrong_with_a_whole_shard)
{
    static struct findings found;
    struct imrec_error err;
    uint8_t *whole;
    size_t n;
    small_shard("mem://whole.rec", 0, RECORDS);
    ck_assert_uint_eq(small_checksums("mem://whole.rec"), RECORDS);
    must(source_load("mem://whole.rec", SIZE_MAX / 2, &whole, &n, &err), &err);
    small_file("mem://damaged.rec", whole, n);
    imrec_free(whole);
    copy_side(SET_INDEX);
    copy_side(SET_CHECKSUMS);
    const struct imrec_verify_result r = verify(3, &found);
    ck_assert_uint_eq(r.findings, 0);
    ck_assert_uint_eq(r.decoded, RECORDS);
    ck_assert_uint_eq(r.checksums, RECORDS);
    ck_assert_uint_eq(r.indexed, RECORDS);
    ck_assert_uint_eq(r.bytes, n);
}

/* A set that is more than what is read ahead; no record of it is an image. */
static uint64_t write_large(uint64_t records, size_t n)
{
    struct imrec_error err;
    struct imrec_writer *w;
    uint8_t *p = malloc(n);
    memset(p, 0xff, n);
    must(imrec_writer_open("mem://damaged.rec", NULL, true, &w, &err), &err);
    for (uint64_t i = 0; i < records; i++) {
        p[100 + i] = 0;
        must(imrec_writer_append(w, i, p, n / (1 + i % 3), &err), &err);
    }
    must(imrec_writer_commit(w, &err), &err);
    free(p);
    return records;
}

static atomic_int g_inside; /* a callback */

static void note_alone(void *user, const struct imrec_finding *f)
{
    ck_assert_int_eq(atomic_fetch_add(&g_inside, 1), 0);
    note(user, f);
    atomic_fetch_sub(&g_inside, 1);
}

static bool show_alone(void *user, const struct imrec_progress *p)
{
    (void)user;
    (void)p;
    ck_assert_int_eq(atomic_fetch_add(&g_inside, 1), 0);
    return atomic_fetch_sub(&g_inside, 1) == 1;
}

LOOP_TEST(a_set_larger_than_what_is_held_is_read_to_its_end, 1, 5) /* _i: threads */
{
    static struct findings found;
    struct imrec_error err;
    struct imrec_verify_options o;
    struct imrec_verify_result r;
    const uint64_t records = write_large(400, (size_t)300 << 10);
    imrec_verify_options_init(&o);
    o.threads = _i;
    o.finding = note_alone;
    o.progress = show_alone;
    o.user = &found;
    found.n = 0;
    must(imrec_dataset_verify("mem://damaged.rec", &o, &r, &err), &err);
    ck_assert_uint_eq(r.records, records);
    ck_assert_uint_eq(r.found[IMREC_FOUND_RECORD], records);
    for (int i = 1; i < found.n; i++)
        ck_assert_uint_eq(found.f[i].begin, found.f[i - 1].end);
}

LOOP_TEST(the_limit_decodes_as_many_as_asked_for_on_any_number_of_threads, 1, 5)
{
    struct imrec_error err;
    struct bench_limit *b;
    struct bench_limit_result run;
    small_shard("mem://whole.rec", 0, 10);
    must(bench_limit_open("mem://whole.rec", NULL, 7, 0, &b, &err), &err);
    ck_assert_uint_eq(bench_limit_images(b), 7);
    must(bench_limit_run(b, (uint32_t)_i, 50, &run, &err), &err);
    ck_assert_uint_eq(run.threads, (uint32_t)_i);
    ck_assert_uint_eq(run.images, 50);
    ck_assert_uint_eq(run.failed, 0);
    ck_assert_uint_gt(run.bytes, 7 * bench_limit_bytes(b));
    ck_assert_uint_lt(run.bytes, 8 * bench_limit_bytes(b));
    bench_limit_close(b);
    ck_assert_int_eq(bench_limit_open("mem://nothing.rec", NULL, 0, 0, &b, &err),
                     IMREC_ERR_ARGUMENT);
}
