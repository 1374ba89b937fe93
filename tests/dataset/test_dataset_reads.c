/* tests/dataset/test_dataset_reads.c - the functions on whole data sets while storage refuses
 * reads: verify finds it, repair keeps what can be read, and nothing half-made gets a final name.
 */
#include "base/bytes.h"
#include "formats/crc32c.h"
#include "storage/fault.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { RECORDS = 60, PAGE = 4096 };

static struct tmpdir dir;
static char faulty[700], salvaged[600];

static void setup(void)
{
    dir = tmpdir_make();
    small_shard(tmp_path(&dir, "a.rec"), 0, RECORDS);
    snprintf(faulty, sizeof(faulty), "fault://script=reads:%s", tmp_path(&dir, "a.rec"));
    snprintf(salvaged, sizeof(salvaged), "%s", tmp_path(&dir, "out.rec"));
}

static void teardown(void)
{
    fault_forget("reads");
    tmpdir_remove(&dir);
}

static void script(struct fault_script s)
{
    ck_assert_int_eq(fault_set("reads", &s, NULL), IMREC_OK);
}

static enum imrec_status verify(struct imrec_verify_result *r, struct imrec_error *err)
{
    struct imrec_verify_options o;
    imrec_verify_options_init(&o);
    o.threads = 2;
    return imrec_dataset_verify(faulty, &o, r, err);
}

static enum imrec_status repair(struct imrec_repair_result *r, struct imrec_error *err)
{
    struct imrec_repair_options o;
    imrec_repair_options_init(&o);
    o.force = true;
    return imrec_dataset_repair(faulty, salvaged, &o, r, err);
}

/* Records of a shard that all can be read. */
static uint64_t count_whole(const char *uri)
{
    struct imrec_verify_options o;
    struct imrec_verify_result r;
    imrec_verify_options_init(&o);
    ck_assert_int_eq(imrec_dataset_verify(uri, &o, &r, NULL), IMREC_OK);
    ck_assert_uint_eq(r.findings, 0);
    ck_assert_uint_eq(r.decoded, r.records);
    return r.records;
}

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

TEST(short_and_interrupted_reads_change_nothing)
{
    struct imrec_verify_result v;
    struct imrec_repair_result r;
    script((struct fault_script){.short_bytes = 777, .interrupt = 3});
    ck_assert_int_eq(verify(&v, NULL), IMREC_OK);
    ck_assert_uint_eq(v.findings, 0);
    ck_assert_uint_eq(v.decoded, RECORDS);
    ck_assert_int_eq(repair(&r, NULL), IMREC_OK);
    ck_assert_uint_eq(r.kept, RECORDS);
    ck_assert_uint_eq(count_whole(salvaged), RECORDS);
}

LOOP_TEST(pages_that_cannot_be_read_are_found_and_the_rest_is_kept, 0, 12) /* _i: the page */
{
    struct imrec_verify_result v;
    struct imrec_repair_result r;
    struct imrec_error err;
    if (tmp_size(tmp_path(&dir, "a.rec")) <= (long)_i * PAGE)
        return; /* the file has fewer pages */
    script((struct fault_script){.bad_begin = (uint64_t)_i * PAGE,
                                 .bad_end = (uint64_t)_i * PAGE + 1});
    const enum imrec_status st = verify(&v, &err);
    if (st == IMREC_OK)
        ck_assert_uint_gt(v.findings, 0);
    else
        ck_assert_msg(strstr(err.message, "a.rec") != NULL, "%s", err.message);
    if (repair(&r, &err) != IMREC_OK) {
        ck_assert_msg(strstr(err.message, "a.rec") != NULL, "%s", err.message);
        ck_assert_int_eq(tmp_size(salvaged), -1);
        return;
    }
    ck_assert_uint_gt(r.damaged_ranges, 0);
    ck_assert_uint_lt(r.kept, RECORDS);
    ck_assert_uint_gt(r.kept, RECORDS - 20); /* a page holds some small records */
    ck_assert_uint_eq(count_whole(salvaged), r.kept);
}

TEST(every_read_that_fails_is_told) /* from the n-th on, or that one alone */
{
    for (int dead = 0; dead < 2; dead++)
        for (uint64_t n = 1; n < 40; n++) {
            struct imrec_verify_result v;
            struct imrec_repair_result r;
            struct imrec_error err = {0};
            script(dead ? (struct fault_script){.read_dead = n}
                        : (struct fault_script){.read_eio = n});
            if (verify(&v, &err) == IMREC_OK) {
                if (v.findings == 0) /* it was not reached, or what was read again came then */
                    ck_assert_uint_eq(v.decoded, RECORDS);
                if (dead && fault_counts("reads").reads >= n)
                    ck_assert_uint_gt(v.findings, 0);
            } else {
                ck_assert_ptr_nonnull(strstr(err.message, "a.rec"));
            }
            (void)remove(salvaged);
            script(dead ? (struct fault_script){.read_dead = n}
                        : (struct fault_script){.read_eio = n});
            if (repair(&r, &err) != IMREC_OK) {
                ck_assert_int_eq(tmp_size(salvaged), -1);
                continue;
            }
            if (r.damaged_ranges == 0)
                ck_assert_uint_eq(r.kept, RECORDS);
            ck_assert_uint_eq(count_whole(salvaged), r.kept);
        }
}

/* A header whose own checksum is right, with another byte at `at`: a reader of one partition would
 * believe it. */
static void lie(size_t at)
{
    uint8_t head[64];
    FILE *f = fopen(tmp_path(&dir, "a.idxb"), "r+b");
    ck_assert_uint_eq(fread(head, 1, sizeof(head), f), sizeof(head));
    head[at] ^= 2;
    store_le32(head + 60, crc32c(0, head, 60));
    rewind(f);
    ck_assert_uint_eq(fwrite(head, 1, sizeof(head), f), sizeof(head));
    ck_assert_int_eq(fclose(f), 0);
}

TEST(a_header_of_a_binary_index_that_lies_is_found)
{
    struct imrec_verify_options o;
    struct imrec_verify_result r;
    struct imrec_index_result x;
    const char *rec = tmp_path(&dir, "a.rec");
    imrec_verify_options_init(&o);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(imrec_dataset_index_binary(rec, NULL, IMREC_KEYS_ID, true, NULL, &x, NULL),
                         IMREC_OK);
        ck_assert_uint_eq(count_whole(rec), RECORDS);
        lie(i == 0 ? 40 : 48); /* the hash before, and that after */
        ck_assert_int_eq(imrec_dataset_verify(rec, &o, &r, NULL), IMREC_OK);
        ck_assert_uint_ne(r.findings, 0);
    }
}
