/* A set with a header and identities, from opening to reshaping: its images are the samples. */
#include "base/alloc.h"
#include "imrec/imrec.h"
#include "tests/support/identities.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

static struct imrec_error err;
static struct tmpdir dir;
static char said[1024]; /* the last warning */

static void hear(void *user, enum imrec_log_level level, const char *line)
{
    (void)user, (void)level;
    snprintf(said, sizeof(said), "%s", line);
}

static void setup(void)
{
    struct identity_set set = {.two_labels = true};
    identity_make(&set);
    dir = tmpdir_make();
    tmp_write(&dir, "train.rec", set.rec.p, set.rec.n);
    tmp_write(&dir, "train.idx", set.idx.p, set.idx.n);
    tmp_write(&dir, "bare.rec", set.rec.p, set.rec.n);
    identity_free(&set);
    said[0] = '\0';
    imrec_set_log(hear, NULL, IMREC_LOG_WARNING);
}

static void teardown(void)
{
    imrec_set_log(NULL, NULL, IMREC_LOG_WARNING);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct imrec_iter *open_iter(const char *rec, const char *idx, bool shuffle)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    imrec_iter_options_init(&o);
    o.path_imgrec = rec;
    o.path_imgidx = idx;
    o.data_shape = (struct imrec_shape){3, 3, 3};
    o.batch_size = 4;
    o.label_width = 2;
    o.shuffle = shuffle;
    o.last_batch = IMREC_LAST_PARTIAL;
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s", err.message);
    return it;
}

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(batches_hold_every_image_once_and_nothing_else, 0, 8) /* bits of _i */
{
    const bool beside = _i & 1, used = _i & 2, shuffle = _i & 4;
    const char *rec = tmp_path(&dir, beside || used ? "train.rec" : "bare.rec");
    struct imrec_iter *it = open_iter(rec, used ? tmp_path(&dir, "train.idx") : "", shuffle);
    struct imrec_batch b;
    enum imrec_status st;
    uint32_t seen[IDENTITY_IMAGES + 1] = {0};
    uint64_t samples;
    while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK)
        for (uint32_t i = 0; i < b.slots; i++) {
            ck_assert(b.valid[i] && b.ids[i] >= 1 && b.ids[i] <= IDENTITY_IMAGES);
            ck_assert(b.labels[2 * i] < IDENTITIES && b.labels[2 * i + 1] == 1);
            seen[b.ids[i]]++;
        }
    ck_assert_msg(st == IMREC_END, "%s", err.message);
    for (uint32_t id = 1; id <= IDENTITY_IMAGES; id++)
        ck_assert_uint_eq(seen[id], 1);
    ck_assert_int_eq(imrec_iter_samples(it, &samples, &err), IMREC_OK);
    ck_assert_uint_eq(samples, IDENTITY_IMAGES);
    imrec_iter_close(it);
}

TEST(the_card_shows_identities)
{
    struct imrec_dataset_card c;
    ck_assert_int_eq(imrec_dataset_card(tmp_path(&dir, "bare.rec"), NULL, NULL, &c, &err),
                     IMREC_OK);
    ck_assert_uint_eq(c.records, IDENTITY_IMAGES + 1 + IDENTITIES);
    ck_assert_uint_eq(c.images, IDENTITY_IMAGES);
    ck_assert_uint_eq(c.metadata, 1 + IDENTITIES);
    ck_assert_uint_eq(c.unreadable + c.damaged_ranges, 0);
    ck_assert_uint_eq(c.identities, IDENTITIES);
    ck_assert(c.images_per_identity.min == 1 && c.images_per_identity.median == 3 &&
              c.images_per_identity.max == 4);
    ck_assert_uint_eq(c.label_count, IDENTITIES);
    imrec_dataset_card_free(&c);
}

static struct imrec_verify_result verify(const char *rec)
{
    struct imrec_verify_options o;
    struct imrec_verify_result r;
    imrec_verify_options_init(&o);
    ck_assert_msg(imrec_dataset_verify(rec, &o, &r, &err) == IMREC_OK, "%s", err.message);
    return r;
}

TEST(verifying_finds_nothing_wrong_with_them)
{
    const struct imrec_verify_result r = verify(tmp_path(&dir, "train.rec"));
    ck_assert_uint_eq(r.findings, 0);
    ck_assert(r.decoded == IDENTITY_IMAGES && r.images == IDENTITY_IMAGES);
    ck_assert(r.metadata == 1 + IDENTITIES && r.indexed == r.records);
}

TEST(a_repaired_shard_has_them_still)
{
    struct imrec_repair_options o;
    struct imrec_repair_result r;
    const char *whole = tmp_path(&dir, "whole.rec");
    imrec_repair_options_init(&o);
    o.decode = true;
    ck_assert_msg(imrec_dataset_repair(tmp_path(&dir, "bare.rec"), whole, &o, &r, &err) == IMREC_OK,
                  "%s", err.message);
    ck_assert(r.dropped == 0 && r.metadata == 1 + IDENTITIES);
    ck_assert_int_eq(tmp_size(whole), tmp_size(tmp_path(&dir, "bare.rec")));
    ck_assert_uint_eq(verify(whole).metadata, 1 + IDENTITIES);
}

TEST(sets_made_of_it_have_its_images_and_a_warning_says_so)
{
    const char *const uris[] = {tmp_path(&dir, "train.rec")};
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    imrec_reshape_options_init(&o);
    o.fraction = 0.5;
    for (int rest = 0; rest < 2; rest++) {
        const char *out = tmp_path(&dir, rest ? "rest.rec" : "half.rec");
        o.rest = rest;
        ck_assert_msg(imrec_reshape(uris, 1, out, "sample", &o, &r, &err) == IMREC_OK, "%s",
                      err.message);
        ck_assert(r.read == IDENTITY_IMAGES && r.written == IDENTITY_IMAGES / 2);
        ck_assert_uint_eq(r.metadata, 1 + IDENTITIES);
        ck_assert_msg(strstr(said, "6 header and identity records are not copied") != NULL, "%s",
                      said);
        ck_assert_uint_eq(verify(out).records, IDENTITY_IMAGES / 2);
    }
}

TEST(a_position_of_a_set_with_them_is_not_one_of_a_set_without)
{
    struct imrec_iter *it = open_iter(tmp_path(&dir, "bare.rec"), "", false);
    const char *position;
    char before[2048];
    FILE *f = fopen(tmp_path(&dir, "bare.rec"), "r+b");
    ck_assert_int_eq(imrec_iter_position(it, &position, &err), IMREC_OK);
    snprintf(before, sizeof(before), "%s", position);
    imrec_iter_close(it);
    fseek(f, -20, SEEK_END); /* the last identity's id: it is a sample now, and as long */
    ck_assert_int_ne(fputc(1, f), EOF);
    ck_assert_int_eq(fclose(f), 0);
    it = open_iter(tmp_path(&dir, "bare.rec"), "", false);
    ck_assert_int_eq(imrec_iter_seek(it, before, &err), IMREC_ERR_ARGUMENT);
    imrec_iter_close(it);
}
