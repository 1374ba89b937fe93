/* imrec_checked_*: what differs from its checksum, is more, is less or cannot be read is told and
 * never given; the records of a draw do not depend on damage elsewhere. */
#include "dataset/checked_reader.h"
#include "imrec/records.h"
#include "imrec/reshape.h"
#include "storage/mem.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { RECORDS = 20, SPLIT = 7 }; /* SPLIT: a record of several parts */

static struct imrec_error err;
static size_t begins[RECORDS + 1];
static uint8_t *whole;
static size_t whole_bytes;

/* Records with ids 50, 51, ..., one with the magic in its image; checksums beside. */
static void setup(void)
{
    struct imrec_writer *w;
    uint8_t image[64];
    must(imrec_writer_open("mem://a.rec", "mem://a.idx", true, &w, &err), &err);
    for (uint32_t i = 0; i < RECORDS; i++) {
        const float label = (float)i;
        memset(image, (int)i, sizeof(image));
        if (i == SPLIT)
            memcpy(image + 8, "\x0a\x23\xd7\xce", 4);
        begins[i] = (size_t)imrec_writer_size(w);
        must(imrec_writer_append_image(w, 50 + i, &label, 1, 50 + i, image, 30 + i, &err), &err);
    }
    begins[RECORDS] = (size_t)imrec_writer_size(w);
    must(imrec_writer_commit(w, &err), &err);
    ck_assert_uint_eq(small_checksums("mem://a.rec"), RECORDS);
    must(source_load("mem://a.rec", SIZE_MAX / 2, &whole, &whole_bytes, &err), &err);
}

static void teardown(void)
{
    imrec_free(whole);
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

struct seen {
    int given, told;
    uint64_t ids[RECORDS], lost; /* of what was told; records that it stands for */
    enum imrec_finding_kind kinds[RECORDS];
    enum imrec_status end;
};

static struct seen read_all(const char *uri)
{
    struct seen s = {0};
    struct imrec_checked *c;
    struct imrec_record r;
    struct bytes framed;
    uint32_t crc;
    must(imrec_checked_open(uri, NULL, NULL, &c, &err), &err);
    while ((s.end = imrec_checked_next(c, &r, &err)) == IMREC_OK || s.end == IMREC_ERR_DATA)
        if (s.end == IMREC_OK) {
            s.given++;
            if (checked_framed(c, &framed, &crc))
                ck_assert(crc32c(0, framed.p, framed.n) == crc);
        } else if (s.told < RECORDS) {
            s.ids[s.told] = imrec_checked_found(c)->id;
            s.kinds[s.told++] = imrec_checked_found(c)->kind;
            s.lost += c->lost;
        }
    imrec_checked_close(c);
    return s;
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(every_flipped_bit_of_a_record_loses_that_record_and_no_other, 0,
          8) /* _i: bits of a byte */
{
    for (size_t at = 0; at < whole_bytes; at += 1 + at % 3) {
        uint32_t k = 0;
        while (begins[k + 1] <= at)
            k++;
        whole[at] ^= (uint8_t)(1 << _i);
        small_file("mem://a.rec", whole, whole_bytes);
        whole[at] ^= (uint8_t)(1 << _i);
        const struct seen s = read_all("mem://a.rec");
        ck_assert_int_eq(s.end, IMREC_END);
        ck_assert_msg(s.given == RECORDS - 1, "byte %zu of record %u: %d given", at, k, s.given);
        ck_assert_msg(s.told >= 1 && s.ids[0] == 50 + k, "byte %zu of record %u: id %d", at, k,
                      (int)s.ids[0]);
    }
}

TEST(records_that_are_gone_or_came_in_are_told)
{
    uint8_t *p = malloc(2 * whole_bytes);
    memcpy(p, whole, begins[18]); /* the last two are gone */
    small_file("mem://a.rec", p, begins[18]);
    struct seen s = read_all("mem://a.rec");
    ck_assert(s.given == 18 && s.told == 2 && s.ids[0] == 68 && s.ids[1] == 69 && s.lost == 2);
    ck_assert_int_eq(s.kinds[0], IMREC_FOUND_CHECKSUM);
    memcpy(p, whole, whole_bytes); /* the first one again, at the end */
    memcpy(p + whole_bytes, whole, begins[1]);
    small_file("mem://a.rec", p, whole_bytes + begins[1]);
    s = read_all("mem://a.rec");
    ck_assert(s.given == RECORDS && s.told == 1 && s.ids[0] == 50);
    memset(p + begins[3], 0, begins[6] - begins[3]); /* three of them: one finding */
    small_file("mem://a.rec", p, whole_bytes);
    s = read_all("mem://a.rec");
    ck_assert(s.given == RECORDS - 3 && s.told == 1 && s.ids[0] == 53 && s.lost == 3);
    ck_assert_int_eq(s.kinds[0], IMREC_FOUND_DAMAGE);
    free(p);
}

TEST(broken_checksums_end_the_reading)
{
    small_file("mem://a.crc", "IMRECCRC", 8);
    const struct seen s = read_all("mem://a.rec");
    ck_assert(s.given == 0 && s.end == IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "mem://a.crc"));
}

static int warnings;

static void count(void *user, enum imrec_log_level level, const char *line)
{
    (void)user, (void)level;
    warnings += strstr(line, "has no checksums next to it") != NULL;
}

TEST(records_without_checksums_are_given_and_one_warning_is_logged)
{
    struct imrec_checked *c;
    struct imrec_record r;
    small_file("mem://b.rec", whole, whole_bytes);
    small_file("mem://c.rec", whole, whole_bytes);
    warnings = 0;
    imrec_set_log(count, NULL, IMREC_LOG_WARNING);
    must(imrec_checked_open("mem://a.rec;mem://b.rec;mem://c.rec", NULL, NULL, &c, &err), &err);
    for (int i = 0; i < 3 * RECORDS; i++)
        must(imrec_checked_next(c, &r, &err), &err);
    ck_assert_int_eq(imrec_checked_next(c, &r, &err), IMREC_END);
    ck_assert_int_eq(imrec_checked_next(c, &r, &err), IMREC_END);
    ck_assert_uint_eq(imrec_checked_unchecked(c), 2 * RECORDS);
    imrec_checked_close(c);
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    ck_assert_int_eq(warnings, 1);
}

/* ---- copies ------------------------------------------------------------------------------- */

static uint64_t ids[RECORDS];

static int sample(const struct tmpdir *dir, bool skip)
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    struct imrec_checked *c;
    struct imrec_record record;
    int n = 0;
    const char *uris[] = {"mem://a.rec"};
    imrec_reshape_options_init(&o);
    o.fraction = 0.5;
    o.seed = 4;
    o.force = true;
    o.on_error = skip ? IMREC_ON_ERROR_SKIP : IMREC_ON_ERROR_STOP;
    if (imrec_reshape(uris, 1, tmp_path(dir, "b.rec"), "sample", &o, &r, &err) != IMREC_OK)
        return -1;
    must(imrec_checked_open(tmp_path(dir, "b.rec"), NULL, NULL, &c, &err), &err);
    while (imrec_checked_next(c, &record, &err) == IMREC_OK)
        ids[n++] = record.id;
    imrec_checked_close(c);
    return n;
}

LOOP_TEST(a_draw_takes_the_records_that_it_would_have_taken_but_for_damaged_ones, 0,
          RECORDS) /* _i: which */
{
    struct tmpdir dir = tmpdir_make();
    uint64_t drawn[RECORDS];
    int at = 0;
    ck_assert_int_eq(sample(&dir, false), RECORDS / 2);
    memcpy(drawn, ids, sizeof(drawn));
    whole[begins[_i] + 40] ^= 1;
    small_file("mem://a.rec", whole, whole_bytes);
    ck_assert_int_eq(sample(&dir, false), -1);
    ck_assert_int_eq(err.status, IMREC_ERR_DATA);
    ck_assert_uint_eq(err.offset, begins[_i]);
    const int n = sample(&dir, true);
    for (int i = 0; i < RECORDS / 2; i++)
        if (drawn[i] != 50 + (uint64_t)_i)
            ck_assert(at < n && ids[at++] == drawn[i]);
    ck_assert_int_eq(at, n);
    tmpdir_remove(&dir);
}

TEST(a_copied_record_keeps_the_checksum_that_it_had)
{
    struct tmpdir dir = tmpdir_make();
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    uint8_t *a, *b;
    size_t n, m;
    const char *uris[] = {"mem://a.rec"};
    imrec_reshape_options_init(&o);
    must(imrec_reshape(uris, 1, tmp_path(&dir, "b.rec"), "merge", &o, &r, &err), &err);
    must(source_load("mem://a.crc", SIZE_MAX / 2, &a, &n, &err), &err);
    must(source_load(tmp_path(&dir, "b.crc"), SIZE_MAX / 2, &b, &m, &err), &err);
    ck_assert(n == m && memcmp(a, b, n) == 0);
    imrec_free(a);
    imrec_free(b);
    must(source_load(tmp_path(&dir, "b.rec"), SIZE_MAX / 2, &b, &m, &err), &err);
    ck_assert(m == whole_bytes && memcmp(b, whole, m) == 0);
    imrec_free(b);
    tmpdir_remove(&dir);
}
