/* Repair of shards that gained or lost bytes anywhere, by any number: every record that is whole is
 * kept, with the checksum it had, and what is kept is what was packed or says by decoding that it
 * is. */
#include "imrec/records.h"
#include "storage/mem.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"

enum { RECORDS = 40 };

static struct imrec_error err;
static struct imrec_repair_result result;
static uint8_t *whole; /* of mem://a.rec */
static size_t whole_bytes;
static size_t begins[RECORDS + 1];
static uint32_t ids_lost[RECORDS + 8];
static int lost;

/* Every fifth record is the one before it again, bytes and all. */
static void setup(void)
{
    uint8_t *p;
    size_t n;
    struct recordio_span span;
    char line[64];
    struct buf twice = BUF_INIT(1 << 24), idx = BUF_INIT(1 << 16);
    small_shard("mem://made.rec", 0, RECORDS);
    must(source_load("mem://made.rec", SIZE_MAX / 2, &p, &n, &err), &err);
    for (size_t at = 0, i = 0; at < n; at += span.bytes, i++) {
        static size_t last, last_bytes;
        must(recordio_measure(p + at, n - at, at, &span, &err), &err);
        const bool again = i % 5 == 4;
        begins[i] = twice.n;
        const int width = snprintf(line, sizeof(line), "%zu\t%zu\n", 100 + i, twice.n);
        must(buf_append(&idx, line, (size_t)width, &err), &err);
        must(buf_append(&twice, p + (again ? last : at), again ? last_bytes : span.bytes, &err),
             &err);
        last = at;
        last_bytes = span.bytes;
    }
    begins[RECORDS] = twice.n;
    small_file("mem://a.rec", twice.p, twice.n);
    small_file("mem://a.idx", idx.p, idx.n);
    buf_free(&idx);
    ck_assert_uint_eq(small_checksums("mem://a.rec"), RECORDS);
    buf_free(&twice);
    imrec_free(p);
    must(source_load("mem://a.rec", SIZE_MAX / 2, &whole, &whole_bytes, &err), &err);
}

static void teardown(void)
{
    imrec_free(whole);
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void note(void *user, const struct imrec_finding *f)
{
    (void)user;
    ck_assert(f->begin <= f->end && f->reason[0] != '\0');
    if (lost < RECORDS)
        ids_lost[lost] = (uint32_t)f->id;
    lost++;
}

static void repair(const char *uri, bool drop_unmatched)
{
    struct imrec_repair_options o;
    imrec_repair_options_init(&o);
    o.force = true;
    o.drop_unmatched = drop_unmatched;
    o.finding = note;
    lost = 0;
    ck_assert_msg(imrec_dataset_repair(uri, "mem://mended.rec", &o, &result, &err) == IMREC_OK,
                  "%s", err.message);
}

/* The record at p[0..n) of the mended shard is the whole one's number `i`. */
static bool is_whole(const uint8_t *p, size_t n, int i)
{
    return begins[i + 1] - begins[i] == n && memcmp(p, whole + begins[i], n) == 0;
}

/* What was kept: packed records in order, all but those for which `touched` says so. `more`: any
 * number of others between them. */
static void expect_kept(bool (*touched)(int i, size_t at, size_t n), size_t at, size_t n, bool more)
{
    uint8_t *p;
    size_t bytes;
    struct recordio_span span;
    struct imrec_verify_options o;
    struct imrec_verify_result v;
    int i = 0;
    must(source_load("mem://mended.rec", SIZE_MAX / 2, &p, &bytes, &err), &err);
    for (size_t from = 0; from < bytes; from += span.bytes) {
        must(recordio_measure(p + from, bytes - from, from, &span, &err), &err);
        int k = i;
        while (k < RECORDS && (!is_whole(p + from, span.bytes, k) || touched(k, at, n)))
            k++;
        for (int t = i; t < RECORDS && t < k; t++) /* zeros among zeros leave it whole */
            if (is_whole(p + from, span.bytes, t) && !(k < RECORDS && t % 5 == 3))
                k = t;
        ck_assert_msg(k < RECORDS || more, "the record at %zu was never packed", from);
        for (; k < RECORDS && i < k; i++)
            ck_assert_msg(touched(i, at, n), "record %d is whole and was not kept", i);
        i += k < RECORDS;
    }
    for (; i < RECORDS; i++)
        ck_assert_msg(touched(i, at, n), "record %d is whole and was not kept", i);
    imrec_free(p);
    imrec_verify_options_init(&o);
    o.threads = 1;
    o.structure_only = true;
    ck_assert_int_eq(imrec_dataset_verify("mem://mended.rec", &o, &v, &err), IMREC_OK);
    ck_assert_uint_eq(v.findings, 0);
    ck_assert_uint_eq(v.checksums, result.kept);
}

static bool inside(int i, size_t at, size_t n) /* n bytes came in at `at` */
{
    (void)n;
    return begins[i] < at && at < begins[i + 1];
}

static bool overlaps(int i, size_t at, size_t n) /* n bytes went missing from `at` on */
{
    return begins[i] < at + n && at < begins[i + 1];
}

static bool nothing(int i, size_t at, size_t n)
{
    (void)i, (void)at, (void)n;
    return false;
}

/* mem://b.rec: the whole shard with n bytes more at `at`, the same checksums beside it. */
static void copy_checksums(const char *to)
{
    uint8_t *crc;
    size_t n;
    must(source_load("mem://a.crc", SIZE_MAX / 2, &crc, &n, &err), &err);
    small_file(to, crc, n);
    imrec_free(crc);
    must(source_load("mem://a.idx", SIZE_MAX / 2, &crc, &n, &err), &err);
    small_file("mem://b.idx", crc, n);
    imrec_free(crc);
}

static void insert(size_t at, const uint8_t *bytes, size_t n)
{
    uint8_t *p = malloc(whole_bytes + n);
    memcpy(p, whole, at);
    memcpy(p + at, bytes, n);
    memcpy(p + at + n, whole + at, whole_bytes - at);
    small_file("mem://b.rec", p, whole_bytes + n);
    copy_checksums("mem://b.crc");
    free(p);
}

static void cut(size_t at, size_t n)
{
    uint8_t *p = malloc(whole_bytes);
    memcpy(p, whole, at);
    memcpy(p + at, whole + at + n, whole_bytes - at - n);
    small_file("mem://b.rec", p, whole_bytes - n);
    copy_checksums("mem://b.crc");
    free(p);
}

static const size_t amounts[] = {1, 2, 3, 4, 5, 7, 8, 11, 12, 100, 4097};
enum { AMOUNTS = sizeof(amounts) / sizeof(amounts[0]) };

/* Borders of records, and places inside: a head, a header, an image's bytes, padding. */
static size_t place(int k)
{
    static const int inside_by[] = {0, 0, 4, 6, 8, 20, 200, -1};
    const int i = k * 7 % RECORDS, by = inside_by[k % 8];
    return by < 0 ? begins[i + 1] - 1 : begins[i] + (size_t)by;
}

START_TEST(no_whole_record_is_lost_where_bytes_came_in) /* loop over amounts */
{
    static uint8_t junk[4097];
    for (size_t i = 0; i < sizeof(junk); i++) /* zeros, noise, or words of the magic */
        junk[i] = _i % 3 == 0   ? 0
                  : _i % 3 == 1 ? (uint8_t)(i * 167 + 13)
                                : "\x0a\x23\xd7\xce"[i % 4];
    for (int k = 0; k < 16; k++) {
        insert(place(k), junk, amounts[_i]);
        repair("mem://b.rec", false);
        expect_kept(inside, place(k), amounts[_i], false);
        ck_assert_uint_ge(result.kept, RECORDS - 1);
        ck_assert_uint_eq(result.unmatched, 0);
        ck_assert_uint_eq(result.kept + result.missing, RECORDS);
        ck_assert_int_ge(lost, 1);
    }
}
END_TEST

START_TEST(no_whole_record_is_lost_where_bytes_went_missing) /* loop over amounts */
{
    for (int k = 0; k < 16; k++) {
        const size_t at = place(k), most = whole_bytes - at;
        const size_t n = amounts[_i] < most ? amounts[_i] : most;
        cut(at, n);
        repair("mem://b.rec", false);
        expect_kept(overlaps, at, n, false);
        ck_assert_uint_eq(result.unmatched, 0);
        ck_assert_uint_eq(result.kept + result.missing, RECORDS);
    }
}
END_TEST

START_TEST(whole_records_that_went_missing_are_counted)
{
    cut(begins[3], begins[6] - begins[3]);
    repair("mem://b.rec", false);
    expect_kept(overlaps, begins[3], begins[6] - begins[3], false);
    ck_assert_uint_eq(result.kept, RECORDS - 3);
    ck_assert_uint_eq(result.missing, 3);
    ck_assert_int_eq(lost, 3); /* by the index, since nothing of them is there */
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(ids_lost[i], 103u + (uint32_t)i);
}
END_TEST

START_TEST(shards_of_a_set_are_matched_each_with_its_own_checksums)
{
    for (int k = 0; k < 8; k++) {
        insert(begins[5] + (size_t)k, (const uint8_t *)"abc", 3);
        repair("mem://a.rec;mem://b.rec;mem://a.rec", false);
        ck_assert_uint_eq(result.kept + result.missing, 3 * RECORDS);
        ck_assert_uint_ge(result.kept, 3 * RECORDS - 1);
    }
}
END_TEST

/* A well-formed record that no checksum is of: one of another length, with a whole image. */
static size_t foreign(uint8_t *room)
{
    uint8_t *p;
    size_t n;
    struct recordio_span span;
    small_shard("mem://other.rec", 500, 502);
    must(source_load("mem://other.rec", SIZE_MAX / 2, &p, &n, &err), &err);
    must(recordio_measure(p, n, 0, &span, &err), &err);
    memcpy(room, p, span.bytes);
    imrec_free(p);
    return span.bytes;
}

START_TEST(a_record_that_no_checksum_is_of_is_kept_where_it_decodes_and_counted)
{
    static uint8_t other[1 << 16];
    const size_t n = foreign(other);
    for (int k = 0; k < RECORDS; k += 3) {
        insert(begins[k], other, n);
        repair("mem://b.rec", false);
        expect_kept(nothing, 0, 0, true);
        ck_assert_uint_eq(result.kept, RECORDS + 1);
        ck_assert_uint_eq(result.unmatched, 1);
        ck_assert_uint_eq(result.missing, 0);
        ck_assert_int_eq(lost, 0);
        repair("mem://b.rec", true);
        expect_kept(nothing, 0, 0, false);
        ck_assert_uint_eq(result.dropped, 1);
        ck_assert_int_eq(lost, 1);
        ck_assert_uint_eq(ids_lost[0], 600);
    }
    other[n - 40] ^= 0x10; /* in the image: it may decode, but not without a warning or at all */
    memset(other + n - 200, 0xff, 150);
    insert(begins[7], other, n);
    repair("mem://b.rec", false);
    expect_kept(nothing, 0, 0, false);
    ck_assert_uint_eq(result.dropped, 1);
}
END_TEST

START_TEST(one_more_of_equal_records_is_counted_as_one_that_no_checksum_is_of)
{
    insert(begins[4], whole + begins[3], begins[4] - begins[3]); /* a third time */
    repair("mem://b.rec", false);
    ck_assert_uint_eq(result.kept, RECORDS + 1);
    ck_assert_uint_eq(result.unmatched, 1);
    ck_assert_uint_eq(result.missing, 0);
}
END_TEST

START_TEST(a_record_with_other_bytes_is_dropped_also_where_it_has_moved)
{
    uint8_t *p;
    size_t n;
    for (int k = 0; k < RECORDS; k += 3) {
        insert(begins[2], (const uint8_t *)"12345", 5);
        must(source_load("mem://b.rec", SIZE_MAX / 2, &p, &n, &err), &err);
        p[begins[k] + (k >= 2 ? 5 : 0) + 300] ^= 1; /* in the image's bytes: it decodes */
        small_file("mem://b.rec", p, n);
        imrec_free(p);
        repair("mem://b.rec", false);
        expect_kept(inside, begins[k] + 1, 0, false);
        ck_assert_uint_eq(result.kept, RECORDS - 1);
        ck_assert_uint_eq(result.dropped, 1);
        ck_assert_uint_eq(result.unmatched, 0);
        ck_assert_int_eq(lost, 2); /* the bytes that came in, and it */
    }
}
END_TEST

START_TEST(damaged_checksums_cost_no_record) /* loop: every bit of a byte, many bytes */
{
    uint8_t *crc;
    size_t n;
    must(source_load("mem://a.crc", SIZE_MAX / 2, &crc, &n, &err), &err);
    for (size_t at = 0; at < n; at += 1 + at % 3) {
        crc[at] ^= (uint8_t)(1 << _i);
        small_file("mem://b.rec", whole, whole_bytes);
        small_file("mem://b.crc", crc, n);
        crc[at] ^= (uint8_t)(1 << _i);
        repair("mem://b.rec", false);
        ck_assert_uint_eq(result.kept, RECORDS);
        ck_assert_uint_le(result.unmatched, 1);
    }
    for (size_t cut_to = 0; cut_to < n; cut_to += 5) {
        small_file("mem://b.crc", crc, cut_to);
        repair("mem://b.rec", false);
        ck_assert_uint_eq(result.kept, RECORDS);
    }
    imrec_free(crc);
}
END_TEST

START_TEST(a_shard_without_checksums_gets_some)
{
    small_file("mem://c.rec", whole, whole_bytes);
    repair("mem://c.rec", false);
    expect_kept(nothing, 0, 0, false);
    ck_assert_uint_eq(result.kept, RECORDS);
    ck_assert_uint_eq(result.unmatched + result.missing, 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("repair_shifts");
    TCase *t = tcase_create("repair_shifts");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, no_whole_record_is_lost_where_bytes_came_in, 0, AMOUNTS);
    tcase_add_loop_test(t, no_whole_record_is_lost_where_bytes_went_missing, 0, AMOUNTS);
    tcase_add_test(t, whole_records_that_went_missing_are_counted);
    tcase_add_test(t, shards_of_a_set_are_matched_each_with_its_own_checksums);
    tcase_add_test(t, a_record_that_no_checksum_is_of_is_kept_where_it_decodes_and_counted);
    tcase_add_test(t, one_more_of_equal_records_is_counted_as_one_that_no_checksum_is_of);
    tcase_add_test(t, a_record_with_other_bytes_is_dropped_also_where_it_has_moved);
    tcase_add_loop_test(t, damaged_checksums_cost_no_record, 0, 8);
    tcase_add_test(t, a_shard_without_checksums_gets_some);
    suite_add_tcase(s, t);
    return suite_run(s);
}
