/* tests/conformance/test_text_vectors.c - lists, indexes, partitions of texts and the mean image
 * that the originals made. */
#include "formats/recordio/record_index.h"
#include "formats/set/image_list.h"
#include "formats/set/mean_image.h"
#include "tests/support/suite.h"
#include "tests/support/vectors.h"

/* Every line of `text` read and written again. */
static void check_list(const char *name, struct bytes text, uint32_t label_width)
{
    struct image_list l;
    struct image_list_entry e;
    struct buf out = BUF_INIT(1 << 20);
    struct imrec_error err = {0};
    enum imrec_status st;
    image_list_begin(&l, name, label_width, text, 0, 0);
    while ((st = image_list_next(&l, &e, &err)) == IMREC_OK)
        ck_assert_int_eq(image_list_write(&out, &e, NULL), IMREC_OK);
    ck_assert_msg(st == IMREC_END, "%s", err.message);
    ck_assert_uint_eq(out.n, text.n);
    ck_assert_mem_eq(out.p, text.p, text.n);
    image_list_end(&l);
    buf_free(&out);
}

START_TEST(lists_of_the_original_are_written_again_byte_for_byte)
{
    json_t *root = vectors_json("im2rec_list.json"), *one, *text;
    const char *name, *file;
    size_t lists = 0;
    json_object_foreach(json_object_get(root, "cases"), name, one)
    {
        json_object_foreach(json_object_get(one, "files"), file, text)
        {
            const char *s = json_string_value(text);
            check_list(file, (struct bytes){(const uint8_t *)s, strlen(s)}, 0);
            lists++;
        }
    }
    ck_assert_uint_ge(lists, 9);
    json_decref(root);
}
END_TEST

static const struct {
    const char *stem;
    uint32_t labels;
} packed[] = {{"256", 1}, {"crop128", 1}, {"gray", 1}, {"multi", 3}, {"pass", 1}, {"png", 1}};

START_TEST(what_the_original_packed_is_listed_and_indexed_as_it_says) /* loop over packed */
{
    char name[64];
    snprintf(name, sizeof(name), "im2rec_im4_%s.json", packed[_i].stem);
    json_t *root = vectors_json(name), *record;
    const char *list = vectors_text(root, "lst"), *index = vectors_text(root, "idx");
    struct buf out = BUF_INIT(1 << 20);
    struct index_cursor c;
    size_t i;
    check_list("a.lst", (struct bytes){(const uint8_t *)list, strlen(list)}, 0);
    check_list("a.lst", (struct bytes){(const uint8_t *)list, strlen(list)}, packed[_i].labels);
    record_index_begin(&c, "a.idx", (struct bytes){(const uint8_t *)index, strlen(index)});
    json_array_foreach(json_object_get(root, "records"), i, record)
    {
        uint64_t key, offset;
        ck_assert_int_eq(record_index_next(&c, &key, &offset, NULL), IMREC_OK);
        ck_assert_uint_eq(key, vectors_u64(record, "id"));
        ck_assert_uint_eq(offset, vectors_u64(record, "offset"));
        ck_assert_int_eq(record_index_write(&out, key, offset, NULL), IMREC_OK);
    }
    ck_assert_uint_eq(out.n, strlen(index));
    ck_assert_mem_eq(out.p, index, out.n);
    buf_free(&out);
    json_decref(root);
}
END_TEST

/* ---- partitions of texts ----------------------------------------------------------------- */

enum { MAX_FILES = 4 };

struct files {
    struct file_bytes file[MAX_FILES];
    uint64_t begin[MAX_FILES + 1]; /* in the concatenation */
    size_t count;
};

static void open_files(const char *uri, struct files *out)
{
    *out = (struct files){0};
    for (const char *p = uri; *p != '\0';) {
        const size_t n = strcspn(p, ";");
        char name[64];
        snprintf(name, sizeof(name), "split/%.*s", (int)n, p);
        ck_assert_uint_lt(out->count, MAX_FILES);
        out->file[out->count] = vectors_file(name);
        out->begin[out->count + 1] = out->begin[out->count] + out->file[out->count].n;
        out->count++;
        p += n + (p[n] == ';');
    }
}

/* The original's rule: cuts at multiples of the step, moved to where a line begins. */
static uint64_t boundary(const struct files *f, uint64_t part, uint64_t parts)
{
    const uint64_t total = f->begin[f->count], step = (total + parts - 1) / parts;
    const uint64_t at = step * part < total ? step * part : total;
    for (size_t i = 0; i <= f->count; i++)
        if (at == f->begin[i])
            return at;
    size_t i = 0;
    while (at >= f->begin[i + 1])
        i++;
    enum text_sync_state state = TEXT_SYNC_LINE;
    const uint64_t in_file = at - f->begin[i];
    return at + text_sync(f->file[i].p + in_file, f->file[i].n - in_file, &state);
}

/* Checks the lines of [begin, end) against records *id, *id + 1, ...; ids of the part. */
static void check_part(const struct files *f, uint64_t begin, uint64_t end, const json_t *records,
                       const json_t *ids)
{
    size_t next = 0;
    for (size_t i = 0; i < f->count; i++) {
        const uint64_t from = begin > f->begin[i] ? begin : f->begin[i];
        const uint64_t to = end < f->begin[i + 1] ? end : f->begin[i + 1];
        struct text_lines t;
        struct bytes line;
        if (from >= to)
            continue;
        text_lines_begin(&t,
                         (struct bytes){f->file[i].p + (from - f->begin[i]), (size_t)(to - from)},
                         from - f->begin[i], 0);
        while (text_lines_next(&t, &line)) {
            const json_t *id = json_array_get(ids, next), *record;
            if (line.n == 0)
                continue;
            record = json_array_get(records, (size_t)json_integer_value(id));
            if (vectors_u64(record, "size") == 0) /* the original's empty record is none */
                record = json_array_get(records,
                                        (size_t)json_integer_value(json_array_get(ids, ++next)));
            ck_assert_uint_eq(line.n, vectors_u64(record, "size"));
            ck_assert_uint_eq(vectors_fnv1a64(line),
                              strtoull(vectors_text(record, "fnv1a64"), NULL, 16));
            next++;
        }
    }
    ck_assert_uint_eq(next, json_array_size(ids));
}

START_TEST(texts_are_partitioned_as_the_original_does)
{
    json_t *root = vectors_json("split.json"), *set, *split;
    const char *name, *count;
    size_t sets = 0, k;
    json_object_foreach(root, name, set)
    {
        if (strcmp(vectors_text(set, "type"), "text") != 0)
            continue;
        struct files f;
        open_files(vectors_text(set, "uri"), &f);
        json_object_foreach(json_object_get(set, "nsplit"), count, split)
        {
            const uint64_t parts = strtoull(count, NULL, 10);
            const json_t *ids = json_object_get(split, "ids_per_part");
            for (k = 0; k < parts; k++)
                check_part(&f, boundary(&f, k, parts), boundary(&f, k + 1, parts),
                           json_object_get(set, "records"), json_array_get(ids, k));
        }
        for (k = 0; k < f.count; k++)
            free(f.file[k].p);
        sets++;
    }
    ck_assert_uint_ge(sets, 8);
    json_decref(root);
}
END_TEST

START_TEST(the_mean_image_of_the_original_is_written_again_byte_for_byte)
{
    struct file_bytes file = vectors_file("pixels/mean_img.bin");
    struct file_bytes npy = vectors_file("pixels/mean_img.npy");
    struct mean_image m;
    struct buf out = BUF_INIT(1 << 20);
    ck_assert_int_eq(mean_image_read("mean", (struct bytes){file.p, file.n}, &m, NULL), IMREC_OK);
    ck_assert(m.channels == 3 && m.height == 112 && m.width == 112);
    float *values = malloc(m.values.n);
    mean_image_values(&m, values);
    ck_assert_mem_eq(values, npy.p + npy.n - m.values.n, m.values.n); /* header, then data */
    ck_assert_int_eq(mean_image_write(&out, values, 3, 112, 112, NULL), IMREC_OK);
    ck_assert_uint_eq(out.n, file.n);
    ck_assert_mem_eq(out.p, file.p, file.n);
    buf_free(&out);
    free(values);
    free(npy.p);
    free(file.p);
}
END_TEST

int main(void)
{
    shared_or_skip();
    Suite *s = suite_create("text vectors");
    TCase *tc = tcase_create("mxnet");
    tcase_add_test(tc, lists_of_the_original_are_written_again_byte_for_byte);
    tcase_add_loop_test(tc, what_the_original_packed_is_listed_and_indexed_as_it_says, 0,
                        sizeof(packed) / sizeof(packed[0]));
    tcase_add_test(tc, texts_are_partitioned_as_the_original_does);
    tcase_add_test(tc, the_mean_image_of_the_original_is_written_again_byte_for_byte);
    suite_add_tcase(s, tc);
    return suite_run(s);
}
