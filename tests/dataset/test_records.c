#include "base/alloc.h"
#include "imrec/records.h"
#include "storage/fault.h"
#include "tests/support/shards.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

static struct tmpdir dir;
static struct imrec_error err;

static void setup(void)
{
    dir = tmpdir_make();
}

static void teardown(void)
{
    fault_forget("test");
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static enum imrec_status write_set(const char *rec, const char *idx, bool force)
{
    static const float labels[3] = {1.5f, -2.0f, 7.0f};
    struct imrec_writer *w;
    enum imrec_status st = imrec_writer_open(rec, idx, force, &w, &err);
    for (uint64_t i = 0; st == IMREC_OK && i < 10; i++) {
        ck_assert_uint_eq(imrec_writer_size(w) % 4, 0);
        ck_assert(i == 0 || imrec_writer_size(w) > 0);
        if (i % 3 == 0)
            st = imrec_writer_append(w, 100 - i, "raw", 3, &err);
        else
            st = imrec_writer_append_image(w, 100 - i, labels, (uint32_t)i % 4, 1000 + i, "picture",
                                           i % 8, &err);
        if (st != IMREC_OK)
            imrec_writer_abort(w);
    }
    return st == IMREC_OK ? imrec_writer_commit(w, &err) : st;
}

static void check_set(const char *rec)
{
    struct imrec_reader *r;
    struct imrec_record x;
    ck_assert_msg(imrec_reader_open(rec, 0, 1, &r, &err) == IMREC_OK, "%s", err.message);
    for (uint64_t i = 0; i < 10; i++) {
        ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_OK);
        ck_assert_str_eq(x.uri, rec);
        ck_assert_int_eq(x.is_image, i % 3 != 0);
        if (i % 3 == 0) {
            ck_assert(x.size == 3 && memcmp(x.data, "raw", 3) == 0);
            continue;
        }
        ck_assert_uint_eq(x.id, 1000 + i);
        ck_assert_uint_eq(x.label_count, i % 4 == 0 ? 1 : i % 4);
        if (i % 4 != 0)
            ck_assert(x.labels[0] == 1.5f);
        ck_assert(x.image_size == i % 8 && memcmp(x.image, "picture", i % 8) == 0);
    }
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    imrec_reader_close(r);
}

START_TEST(what_is_written_is_read)
{
    const char *rec = tmp_path(&dir, "a.rec"), *idx = tmp_path(&dir, "a.idx");
    ck_assert_msg(write_set(rec, idx, false) == IMREC_OK, "%s", err.message);
    check_set(rec);
    ck_assert_int_gt(tmp_size(idx), 40);
    ck_assert_int_eq(write_set(rec, NULL, false), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "a.rec: exists already"));
    ck_assert_int_eq(write_set(tmp_path(&dir, "b.rec"), idx, false), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(tmp_size(tmp_path(&dir, "b.rec.part")), -1);
    ck_assert_int_eq(write_set(rec, idx, true), IMREC_OK);
    check_set(rec);
}
END_TEST

START_TEST(no_call_or_allocation_that_fails_leaves_anything)
{
    char rec[600], idx[600];
    snprintf(rec, sizeof(rec), "fault://script=test:%s", tmp_path(&dir, "a.rec"));
    snprintf(idx, sizeof(idx), "fault://script=test:%s", tmp_path(&dir, "a.idx"));
    for (uint64_t n = 1; n < 200; n++) {
        const bool memory = n % 2 == 0;
        const struct fault_script script = {.call_eio = memory ? 0 : n / 2 + 1};
        ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
        imrec_alloc_fail_after(memory ? (long)n / 2 - 1 : -1);
        const enum imrec_status st = write_set(rec, idx, false);
        imrec_alloc_fail_after(-1);
        const bool done = st == IMREC_OK;
        ck_assert(done || st == (memory ? IMREC_ERR_NO_MEMORY : IMREC_ERR_IO));
        ck_assert_int_eq(tmp_size(tmp_path(&dir, "a.rec")) != -1, done);
        ck_assert_int_eq(tmp_size(tmp_path(&dir, "a.idx")) != -1, done);
        ck_assert_int_eq(tmp_size(tmp_path(&dir, "a.rec.part")), -1);
        ck_assert_int_eq(tmp_size(tmp_path(&dir, "a.idx.part")), -1);
        remove(tmp_path(&dir, "a.rec"));
        remove(tmp_path(&dir, "a.idx"));
    }
}
END_TEST

START_TEST(damage_is_reported_with_its_range_and_reading_goes_on)
{
    struct dice d = {3};
    struct made_shard s = made_shard(&d, 12, 300);
    struct imrec_reader *r;
    struct imrec_record x;
    uint32_t shard;
    uint64_t begin, end;
    memset(s.file.p + s.records[4].begin, 0, 4);
    const char *path = tmp_write(&dir, "a.rec", s.file.p, s.file.n - 2); /* and a torn tail */
    ck_assert_int_eq(imrec_reader_open(path, 0, 1, &r, &err), IMREC_OK);
    for (size_t i = 0; i < 12; i++) {
        const enum imrec_status st = imrec_reader_next(r, &x, &err);
        if (i != 4 && i != 11) {
            ck_assert_int_eq(st, IMREC_OK);
            ck_assert_uint_eq(x.offset, s.records[i].begin);
            continue;
        }
        ck_assert_int_eq(st, IMREC_ERR_DATA);
        imrec_reader_damage(r, &shard, &begin, &end);
        ck_assert_uint_eq(begin, s.records[i].begin);
        ck_assert_uint_eq(end, i == 11 ? s.file.n - 2 : s.records[5].begin);
        ck_assert_ptr_nonnull(strstr(err.message, "a.rec: bytes "));
        ck_assert_ptr_nonnull(
            strstr(err.message, i == 4 ? "expected the magic" : "the shard ends after"));
    }
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    ck_assert_int_eq(imrec_reader_seek(r, 0, s.records[7].begin, &err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_OK);
    ck_assert(x.size == s.records[7].n && memcmp(x.data, s.records[7].bytes, x.size) == 0);
    ck_assert_int_eq(imrec_reader_seek(r, 0, s.records[4].begin, &err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_ERR_DATA);
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_OK);
    ck_assert_uint_eq(x.offset, s.records[5].begin);
    ck_assert_int_eq(imrec_reader_seek(r, 1, 0, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_reader_seek(r, 0, 2, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_reader_seek(r, 0, s.file.n, &err), IMREC_ERR_ARGUMENT);
    imrec_reader_close(r);
    made_free(&s);
}
END_TEST

START_TEST(records_larger_than_every_buffer_are_read_whole)
{
    struct made_shard s = {.file = BUF_INIT((size_t)1 << 30)};
    struct imrec_reader *r;
    struct imrec_record x;
    const size_t sizes[] = {10, 9 << 20, 3, 5 << 20, 0, 1 << 20};
    uint8_t *bytes = malloc(9 << 20);
    for (size_t i = 0; i < 9 << 20; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    for (size_t i = 8; i + 4 < 9 << 20; i += 400000) /* of many parts */
        memcpy(bytes + i / 4 * 4, "\x0a\x23\xd7\xce", 4);
    for (size_t i = 0; i < 6; i++)
        made_add(&s, bytes, sizes[i]);
    const char *path = tmp_write(&dir, "a.rec", s.file.p, s.file.n);
    ck_assert_int_eq(imrec_reader_open(path, 0, 1, &r, &err), IMREC_OK);
    for (size_t i = 0; i < 6; i++) {
        ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_OK);
        ck_assert(x.size == sizes[i] && memcmp(x.data, bytes, x.size) == 0);
    }
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_END);
    imrec_reader_close(r);
    made_free(&s);
    free(bytes);
}
END_TEST

START_TEST(
    any_record_is_got_by_its_number) /* _i: 0 without an index, 1 with it, 2 with a wrong one */
{
    const char *rec = tmp_path(&dir, "a.rec"), *idx = tmp_path(&dir, "a.idx");
    struct imrec_reader *r;
    struct imrec_record x;
    uint64_t count;
    ck_assert_int_eq(write_set(rec, _i != 0 ? idx : NULL, false), IMREC_OK);
    if (_i == 2)
        (void)tmp_write(&dir, "a.idx", "1\tx\n", 4);
    ck_assert_int_eq(imrec_reader_open(rec, 0, 1, &r, &err), IMREC_OK);
    ck_assert_msg(imrec_reader_count(r, &count, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(count, 10);
    for (uint64_t k = 0; k < 30; k++) {
        const uint64_t i = k * 7 % 10;
        ck_assert_msg(imrec_reader_get(r, i, &x, &err) == IMREC_OK, "%s", err.message);
        ck_assert_int_eq(x.is_image, i % 3 != 0);
        if (x.is_image)
            ck_assert_uint_eq(x.id, 1000 + i);
    }
    ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_OK);
    ck_assert_uint_eq(x.offset, 0);
    ck_assert_int_eq(imrec_reader_get(r, 10, &x, &err), IMREC_ERR_ARGUMENT);
    imrec_reader_close(r);
    ck_assert_int_eq(imrec_reader_open(rec, 0, 2, &r, &err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_count(r, &count, &err), IMREC_ERR_ARGUMENT);
    imrec_reader_close(r);
}
END_TEST

START_TEST(a_number_whose_record_is_damaged_is_an_error)
{
    const char *rec = tmp_path(&dir, "a.rec");
    struct imrec_reader *r;
    struct imrec_record x;
    ck_assert_int_eq(write_set(rec, tmp_path(&dir, "a.idx"), false), IMREC_OK);
    ck_assert_int_eq(imrec_reader_open(rec, 0, 1, &r, &err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_get(r, 4, &x, &err), IMREC_OK);
    FILE *f = fopen(rec, "r+b");
    ck_assert(fseek(f, (long)x.offset, SEEK_SET) == 0 && fwrite("xxxx", 1, 4, f) == 4);
    fclose(f);
    ck_assert_int_eq(imrec_reader_get(r, 4, &x, &err), IMREC_ERR_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "record 4"));
    ck_assert_int_eq(imrec_reader_get(r, 5, &x, &err), IMREC_OK);
    imrec_reader_close(r);
}
END_TEST

START_TEST(single_records_are_read_where_an_index_has_them)
{
    struct dice d = {5};
    struct made_shard s = made_shard(&d, 12, 60000);
    struct imrec_reader *r;
    struct imrec_record x;
    memset(s.file.p + s.records[4].begin, 0, 4);
    const char *path = tmp_write(&dir, "a.rec", s.file.p, s.file.n - 4);
    ck_assert_int_eq(imrec_reader_open(path, 0, 1, &r, &err), IMREC_OK);
    for (size_t i = 0; i < 24; i++) {
        const size_t k = i * 7 % 12;
        const uint64_t end = i < 12 && k < 11 ? s.records[k + 1].begin : UINT64_MAX;
        const enum imrec_status st = imrec_reader_at(r, 0, s.records[k].begin, end, &x, &err);
        ck_assert_int_eq(st, k == 4 || k == 11 ? IMREC_ERR_CORRUPT : IMREC_OK);
        if (st != IMREC_OK)
            continue;
        ck_assert_uint_eq(x.offset, s.records[k].begin);
        ck_assert(x.size == s.records[k].n && memcmp(x.data, s.records[k].bytes, x.size) == 0);
    }
    ck_assert_int_eq(imrec_reader_at(r, 1, 0, 8, &x, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_reader_at(r, 0, 2, 8, &x, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_reader_at(r, 0, 4, 0, &x, &err), IMREC_ERR_CORRUPT);
    ck_assert_int_eq(imrec_reader_at(r, 0, s.file.n, 8, &x, &err), IMREC_ERR_ARGUMENT);
    imrec_reader_close(r);
    made_free(&s);
}
END_TEST

enum { IMAGE = 100000 }; /* bytes of each image below */

/* Six records: one of another kind, one without labels, one whose image holds the magic. */
static void write_large(const char *rec, const char *idx)
{
    static const float labels[3] = {1.5f, -2.0f, 7.0f};
    static uint8_t image[IMAGE];
    struct imrec_writer *w;
    ck_assert_int_eq(imrec_writer_open(rec, idx, true, &w, &err), IMREC_OK);
    for (uint64_t i = 0; i < 6; i++) {
        memcpy(image + 40000, i == 4 ? "\x0a\x23\xd7\xce" : "none", 4);
        ck_assert_int_eq(i == 0 ? imrec_writer_append(w, i, "raw", 3, &err)
                                : imrec_writer_append_image(w, i, labels, (uint32_t)i % 4, 1000 + i,
                                                            image, sizeof(image), &err),
                         IMREC_OK);
    }
    ck_assert_int_eq(imrec_writer_commit(w, &err), IMREC_OK);
}

static void same_head(struct imrec_reader *r, uint64_t i)
{
    struct imrec_record x, head;
    float labels[4];
    ck_assert_int_eq(imrec_reader_get(r, i, &x, &err), IMREC_OK);
    const uint32_t n = x.label_count;
    if (n != 0) /* then there is something to copy from */
        memcpy(labels, x.labels, n * sizeof(float));
    ck_assert_msg(imrec_reader_head(r, i, &head, &err) == IMREC_OK, "%s", err.message);
    ck_assert(head.data == NULL && head.image == NULL && head.image_size == 0);
    ck_assert(head.id == x.id && head.offset == x.offset && head.is_image == x.is_image);
    ck_assert_uint_eq(head.label_count, n);
    ck_assert(n == 0 || memcmp(head.labels, labels, n * sizeof(float)) == 0);
}

START_TEST(a_head_is_that_of_the_whole_record) /* _i: 0 without an index, 1 with it */
{
    const char *rec = tmp_path(&dir, "a.rec");
    struct imrec_reader *r;
    struct imrec_record x;
    write_large(rec, _i != 0 ? tmp_path(&dir, "a.idx") : NULL);
    ck_assert_int_eq(imrec_reader_open(rec, 0, 1, &r, &err), IMREC_OK);
    for (uint64_t i = 0; i < 6; i++)
        same_head(r, i);
    ck_assert_int_eq(imrec_reader_head(r, 6, &x, &err), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_reader_head(r, 3, &x, &err), IMREC_OK);
    FILE *f = fopen(rec, "r+b");
    ck_assert(fseek(f, (long)x.offset, SEEK_SET) == 0 && fwrite("xxxx", 1, 4, f) == 4);
    fclose(f);
    ck_assert_int_eq(imrec_reader_head(r, 3, &x, &err), IMREC_ERR_CORRUPT);
    imrec_reader_close(r);
}
END_TEST

START_TEST(a_head_does_not_read_its_image)
{
    char rec[600];
    struct imrec_reader *r;
    struct imrec_record x;
    const struct fault_script script = {0};
    uint64_t count;
    write_large(tmp_path(&dir, "a.rec"), tmp_path(&dir, "a.idx"));
    snprintf(rec, sizeof(rec), "fault://script=test:%s", tmp_path(&dir, "a.rec"));
    ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_open(rec, 0, 1, &r, &err), IMREC_OK);
    ck_assert_int_eq(imrec_reader_count(r, &count, &err), IMREC_OK);
    const uint64_t before = fault_counts("test").bytes_read;
    for (uint64_t i = 0; i < count; i++)
        ck_assert(i == 4 || imrec_reader_head(r, i, &x, &err) == IMREC_OK); /* 4: in two parts */
    ck_assert_uint_le(fault_counts("test").bytes_read - before, 5 * 64);
    imrec_reader_close(r);
}
END_TEST

START_TEST(a_head_without_memory_or_bytes_is_an_error_and_leaks_nothing)
{
    char rec[600];
    write_large(tmp_path(&dir, "a.rec"), tmp_path(&dir, "a.idx"));
    snprintf(rec, sizeof(rec), "fault://script=test:%s", tmp_path(&dir, "a.rec"));
    for (uint64_t n = 0; n < 60; n++) {
        const bool memory = n % 2 == 0;
        const struct fault_script script = {.read_eio = memory ? 0 : n / 2 + 1};
        struct imrec_reader *r;
        struct imrec_record x;
        ck_assert_int_eq(fault_set("test", &script, &err), IMREC_OK);
        imrec_alloc_fail_after(memory ? (long)n / 2 : -1);
        enum imrec_status st = imrec_reader_open(rec, 0, 1, &r, &err);
        for (uint64_t i = 0; i < 6 && st == IMREC_OK; i++)
            st = imrec_reader_head(r, i, &x, &err);
        imrec_alloc_fail_after(-1);
        ck_assert(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY || st == IMREC_ERR_IO ||
                  st == IMREC_ERR_CORRUPT);
        imrec_reader_close(r);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("records");
    TCase *tc = tcase_create("records");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_written_is_read);
    tcase_add_test(tc, no_call_or_allocation_that_fails_leaves_anything);
    tcase_add_test(tc, damage_is_reported_with_its_range_and_reading_goes_on);
    tcase_add_test(tc, single_records_are_read_where_an_index_has_them);
    tcase_add_test(tc, records_larger_than_every_buffer_are_read_whole);
    tcase_add_loop_test(tc, any_record_is_got_by_its_number, 0, 3);
    tcase_add_test(tc, a_number_whose_record_is_damaged_is_an_error);
    tcase_add_loop_test(tc, a_head_is_that_of_the_whole_record, 0, 2);
    tcase_add_test(tc, a_head_does_not_read_its_image);
    tcase_add_test(tc, a_head_without_memory_or_bytes_is_an_error_and_leaks_nothing);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
