/* Order, partitions and fingerprints of a fixed set, as numbers: what a saved position and the
 * batches of a run that is resumed with another version of the library stand on. The set is made of
 * bytes that no encoder has a say in: bitmaps, and records with two labels and no image, which are
 * samples that fail. */
#include "base/alloc.h"
#include "formats/recordio/image_record.h"
#include "formats/recordio/record_index.h"
#include "formats/recordio/recordio.h"
#include "imrec/imrec.h"
#include "storage/mem.h"
#include "tests/support/bitmaps.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS = 400, SHARDS = 2, EMPTY_EVERY = 37 };

static struct imrec_error err;

static void make_shard(uint32_t shard)
{
    struct buf file = BUF_INIT(1 << 24), idx = BUF_INIT(1 << 20), record = BUF_INIT(1 << 16);
    char name[16];
    for (uint32_t i = shard; i < RECORDS; i += SHARDS) {
        const float labels[] = {0, 1 + (float)(i % 9)}; /* a range, to who takes it for one */
        record.n = 0;
        ck_assert_int_eq(image_record_head(&record, labels, 2, false, i, 0, &err), IMREC_OK);
        if (i % EMPTY_EVERY != 0)
            add_bitmap(&record, i);
        ck_assert_int_eq(record_index_write(&idx, i, file.n, &err), IMREC_OK);
        ck_assert_int_eq(recordio_frame((struct bytes){record.p, record.n}, &file, &err), IMREC_OK);
    }
    snprintf(name, sizeof(name), "g%u.rec", shard);
    ck_assert_int_eq(mem_put(name, file.p, file.n, &err), IMREC_OK);
    snprintf(name, sizeof(name), "g%u.idx", shard);
    ck_assert_int_eq(mem_put(name, idx.p, idx.n, &err), IMREC_OK);
    buf_free(&file);
    buf_free(&idx);
    buf_free(&record);
}

static void setup(void)
{
    for (uint32_t s = 0; s < SHARDS; s++)
        make_shard(s);
}

static void teardown(void)
{
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
    return (hash ^ v) * 0x100000001b3u;
}

static const struct {
    const char *words;
    const char *data;     /* of the position: the fingerprint */
    uint64_t order;       /* of ids, status and ends of two sweeps */
    uint64_t samples;     /* imrec_iter_samples() */
    uint32_t seen, empty; /* in two sweeps */
} golden[] = {
    {"", "fa33ff8c7e14294a", 0xe5dab42518adef45, 400, 800, 22},
    {"shuffle=1 seed=5", "fa33ff8c7e14294a", 0x719289e33a4c1aab, 400, 800, 22},
    {"shuffle=1 seed=5 shuffle_window=32768 shuffle_chunk=4096", "fa33ff8c7e14294a",
     0xbe3406f2b3450a57, 400, 800, 22},
    {"path_imgidx=mem://g0.idx;mem://g1.idx", "2c9394d5525ad13f", 0xe5dab42518adef45, 400, 800, 22},
    {"path_imgidx=mem://g0.idx;mem://g1.idx shuffle=1 seed=5", "2c9394d5525ad13f",
     0x431aa0bbe5cd0daf, 400, 800, 22},
    {"num_parts=3 part_index=1", "fa33ff8c7e14294a", 0xaeaeebb505e61b2b, 134, 268, 8},
    {"path_imgidx=mem://g0.idx;mem://g1.idx shuffle=1 num_parts=3 part_index=2", "2c9394d5525ad13f",
     0xe4e60d8c826bec91, 132, 264, 6},
};
enum { GOLDEN = sizeof(golden) / sizeof(golden[0]) };

static struct imrec_iter *open_with(const char *words)
{
    static char text[512];
    struct imrec_iter_options o;
    struct imrec_iter *it;
    imrec_iter_options_init(&o);
    o.path_imgrec = "mem://g0.rec;mem://g1.rec";
    o.data_shape = (struct imrec_shape){3, 3, 3};
    o.batch_size = 7;
    o.label_width = 2;
    o.on_error = IMREC_ON_ERROR_SKIP;
    o.verbose = false;
    o.last_batch = IMREC_LAST_PARTIAL;
    snprintf(text, sizeof(text), "%s", words);
    for (char *word = text; *word != '\0';) {
        char *end = word + strcspn(word, " ");
        const bool last = *end == '\0';
        *end = '\0';
        ck_assert_msg(imrec_iter_options_set(&o, word, &err) == IMREC_OK, "%s", err.message);
        word = last ? end : end + 1;
    }
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s", err.message);
    return it;
}

START_TEST(a_set_keeps_its_order_partitions_and_fingerprint) /* loop over golden */
{
    struct imrec_iter *it = open_with(golden[_i].words);
    struct imrec_batch b;
    const char *position;
    uint64_t hash = 0xcbf29ce484222325u, samples;
    uint32_t seen = 0, empty = 0, sweeps = 0;
    ck_assert_int_eq(imrec_iter_samples(it, &samples, &err), IMREC_OK);
    while (sweeps < 2) {
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        hash = mix(hash, (uint64_t)st);
        sweeps += st == IMREC_END;
        for (uint32_t i = 0; st == IMREC_OK && i < b.slots; i++) {
            hash = mix(mix(hash, b.ids[i]), (uint64_t)b.status[i]);
            seen++;
            empty += b.status[i] != IMREC_OK;
        }
    }
    ck_assert_int_eq(imrec_iter_position(it, &position, &err), IMREC_OK);
    const char *data = strstr(position, "\"data\": \"");
    ck_assert_ptr_nonnull(data);
    ck_assert_msg(strncmp(data + 9, golden[_i].data, 16) == 0 && hash == golden[_i].order &&
                      samples == golden[_i].samples && seen == golden[_i].seen &&
                      empty == golden[_i].empty,
                  "{\"%s\", \"%.16s\", 0x%016llx, %llu, %u, %u},", golden[_i].words, data + 9,
                  (unsigned long long)hash, (unsigned long long)samples, seen, empty);
    imrec_iter_close(it);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("iter_golden");
    TCase *tc = tcase_create("iter_golden");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_set_keeps_its_order_partitions_and_fingerprint, 0, GOLDEN);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
