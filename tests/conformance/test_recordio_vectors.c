/* tests/conformance/test_recordio_vectors.c - shards that the original wrote: same records, same
 * parts, and the same bytes when we frame them again. */
#include "formats/recordio/image_record.h"
#include "formats/recordio/recordio.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

static const char *const sets[][3] = {
    {"magic.rec", "magic.json", "recordio:magic.rec"},
    {"pack.rec", "pack.json", "recordio:pack.rec"},
};

/* Reads the record at *pos, moves *pos behind it, and frames it again into `again`. */
static struct bytes
next_record(struct file_bytes shard, size_t *pos, struct buf *scratch, struct buf *again)
{
    struct recordio_span span;
    struct bytes record;
    ck_assert_int_eq(recordio_measure(shard.p + *pos, shard.n - *pos, *pos, &span, NULL), IMREC_OK);
    ck_assert_int_eq(recordio_copy(shard.p + *pos, &span, scratch, &record, NULL), IMREC_OK);
    ck_assert_int_eq(recordio_frame(record, again, NULL), IMREC_OK);
    *pos += span.bytes;
    return record;
}

START_TEST(records_equal_the_originals_and_frame_to_the_same_bytes) /* loop over sets */
{
    json_t *split = vectors_json("split.json"), *expected;
    struct file_bytes shard = vectors_file(sets[_i][0]);
    struct buf scratch = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
    size_t pos = 0, i;
    json_array_foreach(json_object_get(json_object_get(split, sets[_i][2]), "records"), i, expected)
    {
        const struct bytes record = next_record(shard, &pos, &scratch, &again);
        ck_assert_uint_eq(record.n, vectors_u64(expected, "size"));
        ck_assert_uint_eq(vectors_fnv1a64(record),
                          strtoull(vectors_text(expected, "fnv1a64"), NULL, 16));
    }
    ck_assert_uint_gt(i, 10);
    ck_assert_uint_eq(pos, shard.n);
    ck_assert_uint_eq(again.n, shard.n);
    ck_assert_mem_eq(again.p, shard.p, shard.n);
    buf_free(&again);
    buf_free(&scratch);
    free(shard.p);
    json_decref(split);
}
END_TEST

START_TEST(parts_of_each_record_are_where_the_original_put_them)
{
    json_t *root = vectors_json("magic.json"), *expected;
    struct file_bytes shard = vectors_file("magic.rec");
    size_t i;
    json_array_foreach(json_object_get(root, "records"), i, expected)
    {
        const json_t *parts = json_object_get(expected, "physical_parts");
        const uint64_t at = vectors_u64(json_array_get(parts, 0), "offset");
        struct recordio_span span;
        ck_assert_int_eq(recordio_measure(shard.p + at, shard.n - at, at, &span, NULL), IMREC_OK);
        ck_assert_uint_eq(span.parts, json_array_size(parts));
        ck_assert_uint_eq(span.size, vectors_u64(expected, "size"));
    }
    free(shard.p);
    json_decref(root);
}
END_TEST

/* Header and labels of `r` by our writer, then its image: the original's bytes. */
static void check_packing_again(const struct image_record *r, struct bytes packed)
{
    struct buf out = BUF_INIT(1 << 20);
    float labels[128];
    ck_assert_uint_le(r->label_count, 128);
    for (uint32_t i = 0; i < r->label_count; i++)
        labels[i] = image_record_label(r, i);
    ck_assert_int_eq(
        image_record_head(&out, labels, r->label_count, r->flag == 1, r->id, r->id2, NULL),
        IMREC_OK);
    ck_assert_int_eq(buf_append(&out, r->image.p, r->image.n, NULL), IMREC_OK);
    ck_assert_uint_eq(out.n, packed.n);
    ck_assert_mem_eq(out.p, packed.p, packed.n);
    buf_free(&out);
}

START_TEST(image_records_parse_as_the_original_unpacks_them)
{
    json_t *root = vectors_json("pack.json"), *expected, *bits;
    size_t i, k;
    json_array_foreach(json_object_get(root, "records"), i, expected)
    {
        static uint8_t packed[4096];
        const size_t n =
            vectors_unhex(vectors_text(expected, "packed_hex"), packed, sizeof(packed));
        const json_t *header = json_object_get(expected, "header");
        const json_t *labels = json_object_get(json_object_get(expected, "unpacked"), "label_bits");
        struct image_record r;
        ck_assert_int_eq(image_record_parse((struct bytes){packed, n}, &r, NULL), IMREC_OK);
        ck_assert_uint_eq(r.flag, vectors_u64(header, "flag"));
        ck_assert_uint_eq(r.id, strtoull(vectors_text(header, "id"), NULL, 10));
        ck_assert_uint_eq(r.id2, strtoull(vectors_text(header, "id2"), NULL, 10));
        ck_assert_uint_eq(r.label_count, json_array_size(labels));
        json_array_foreach(labels, k, bits)
        {
            const float label = image_record_label(&r, (uint32_t)k);
            uint32_t got;
            memcpy(&got, &label, sizeof(got));
            ck_assert_uint_eq(got, strtoul(json_string_value(bits), NULL, 16));
        }
        check_packing_again(&r, (struct bytes){packed, n});
    }
    ck_assert_uint_eq(i, 20);
    json_decref(root);
}
END_TEST

int main(void)
{
    shared_or_skip();
    Suite *s = suite_create("recordio vectors");
    TCase *tc = tcase_create("mxnet");
    tcase_add_loop_test(tc, records_equal_the_originals_and_frame_to_the_same_bytes, 0, 2);
    tcase_add_test(tc, parts_of_each_record_are_where_the_original_put_them);
    tcase_add_test(tc, image_records_parse_as_the_original_unpacks_them);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
