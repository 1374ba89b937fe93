/* fields=: named parts of samples, slot by slot, whatever the threads; missing and large ones;
 * views, padding, skipped and replaced samples. */
#include "imrec/records.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"

enum { SAMPLES = 23, NOBODY = 1000 };

static struct image_set s; /* its path_imgrec is a tar */
static struct imrec_error err;

/* Of sample i: its own length and letter. */
static void caption(uint32_t i, char out[256])
{
    const size_t n = 1 + i * 37 % 200;
    memset(out, 'a' + (int)(i % 26), n);
    out[n] = '\0';
}

static void put(struct buf *tar, uint32_t i, const char *extension, struct bytes content)
{
    char name[40];
    snprintf(name, sizeof(name), "%u.%s", i, extension);
    tar_put(tar, name, '0', content.p, content.n);
}

/* An image, a class and a caption; a third has no .json. The image of `broken` is none. */
static void put_sample(struct buf *tar, struct codec *c, uint32_t i, uint32_t broken)
{
    const struct image_set_options o = {.jpeg = true};
    const struct bytes x = {(const uint8_t *)"x", 1};
    char text[256];
    put(tar, i, "jpg", i == broken ? x : set_encode(c, &o, i));
    snprintf(text, sizeof(text), "%u", i);
    put(tar, i, "cls", (struct bytes){(const uint8_t *)text, strlen(text)});
    caption(i, text);
    put(tar, i, "txt", (struct bytes){(const uint8_t *)text, strlen(text)});
    if (i % 3 != 0)
        put(tar, i, "json", (struct bytes){(const uint8_t *)"{}", 2});
}

/* All samples in archives of so many. */
static void make_archives(uint32_t each, uint32_t broken)
{
    struct codec *c;
    s = (struct image_set){.dir = tmpdir_make(), .labels = 1};
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < SAMPLES; i += each) {
        struct buf tar = BUF_INIT((size_t)1 << 24);
        char name[40];
        for (uint32_t k = i; k < i + each && k < SAMPLES; k++)
            put_sample(&tar, c, k, broken);
        tar_end(&tar);
        snprintf(name, sizeof(name), "%03u.tar", i);
        (void)tmp_write(&s.dir, name, tar.p, tar.n);
        buf_free(&tar);
    }
    codec_free(c);
    snprintf(s.rec, sizeof(s.rec), "path_imgrec=%s", s.dir.path);
}

static void make_set(uint32_t broken)
{
    make_archives(SAMPLES, broken);
}

static void forget(void)
{
    image_set_free(&s);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct bytes value(const struct imrec_batch_field *f, uint32_t slot)
{
    return (struct bytes){f->bytes + f->offsets[slot], f->offsets[slot + 1] - f->offsets[slot]};
}

/* Slot `slot` has what sample i has of "txt,json?". */
static void expect_fields(const struct imrec_batch *b, uint32_t slot, uint32_t i)
{
    char text[256];
    caption(i, text);
    ck_assert_int_eq(b->fields[0].kinds[slot], IMREC_FIELD_BYTES);
    const struct bytes txt = value(&b->fields[0], slot), json = value(&b->fields[1], slot);
    ck_assert_uint_eq(txt.n, strlen(text));
    ck_assert_mem_eq(txt.p, text, txt.n);
    ck_assert_int_eq(b->fields[1].kinds[slot], i % 3 != 0 ? IMREC_FIELD_BYTES : IMREC_FIELD_NONE);
    ck_assert_uint_eq(json.n, i % 3 != 0 ? 2 : 0);
}

static void expect_nothing(const struct imrec_batch *b, uint32_t slot)
{
    for (uint32_t f = 0; f < b->field_count; f++)
        ck_assert(b->fields[f].kinds[slot] == IMREC_FIELD_NONE &&
                  b->fields[f].offsets[slot] == b->fields[f].offsets[slot + 1]);
}

CASE(.teardown = forget, .timeout = 60)

LOOP_TEST(fields_go_with_their_samples, 1, 5) /* _i workers */
{
    char words[200];
    uint32_t seen = 0;
    struct imrec_batch b;
    make_set(NOBODY);
    snprintf(words, sizeof(words),
             "fields=txt,json? shuffle=1 seed=3 rand_mirror=1 preprocess_threads=%d", _i);
    struct imrec_iter *it = set_open(&s, false, words);
    for (int sweep = 0; sweep < 3; sweep++) {
        while (imrec_iter_next(it, &b, &err) == IMREC_OK) {
            ck_assert_uint_eq(b.field_count, 2);
            ck_assert_str_eq(b.fields[0].name, "txt");
            ck_assert_str_eq(b.fields[1].name, "json");
            for (uint32_t k = 0; k < b.slots; k++) {
                if (b.valid[k])
                    expect_fields(&b, k, (uint32_t)b.ids[k]);
                else
                    expect_nothing(&b, k);
                seen += b.valid[k];
            }
        }
    }
    ck_assert_uint_eq(seen, 3 * SAMPLES);
    imrec_iter_close(it);
}

/* More archives than are listed one after the other. */
TEST(many_archives_are_one_set_in_their_order)
{
    uint32_t seen = 0;
    struct imrec_batch b;
    make_archives(1, NOBODY);
    struct imrec_iter *it = set_open(&s, false, "fields=txt,json?");
    while (imrec_iter_next(it, &b, &err) == IMREC_OK)
        for (uint32_t k = 0; k < b.slots; k++)
            if (b.valid[k]) {
                ck_assert_uint_eq(b.ids[k], seen);
                expect_fields(&b, k, seen++);
            }
    ck_assert_uint_eq(seen, SAMPLES);
    imrec_iter_close(it);
}

TEST(each_view_of_a_sample_has_its_fields)
{
    struct imrec_batch b;
    make_set(NOBODY);
    struct imrec_iter *it =
        set_open(&s, false, "fields=txt,json? batch_size=6 num_views=3 rand_mirror=1");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    for (uint32_t k = 0; k < 6; k++)
        expect_fields(&b, k, k / 3);
    imrec_iter_close(it);
}

TEST(a_missing_field_fails_its_sample_unless_it_may_be_missing)
{
    struct imrec_batch b;
    make_set(NOBODY);
    struct imrec_iter *it = set_open(&s, false, "fields=txt,json batch_size=4");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, "the sample has no field 'json', it has cls, txt") != NULL,
                  "%s", err.message);
    ck_assert_uint_eq(b.failed, 2);
    expect_nothing(&b, 0);
    ck_assert_uint_eq(value(&b.fields[1], 1).n, 2);
    expect_nothing(&b, 3);
    imrec_iter_close(it);
}

TEST(a_large_field_fails_its_sample)
{
    struct imrec_batch b;
    make_set(NOBODY);
    struct imrec_iter *it =
        set_open(&s, false, "fields=txt max_field_bytes=75 batch_size=4 on_error=skip");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    const uint8_t valid[] = {1, 1, 1, 0}; /* of 1, 38, 75 and 112 bytes */
    ck_assert_mem_eq(b.valid, valid, 4);
    expect_nothing(&b, 3);
    imrec_iter_close(it);
}

TEST(a_sample_that_replaces_another_brings_its_fields)
{
    struct imrec_batch b;
    make_set(2);
    struct imrec_iter *it =
        set_open(&s, false, "fields=txt,json? batch_size=4 on_error=replace label_width=1");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_uint_eq(b.replaced, 1);
    for (uint32_t k = 0; k < 4; k++)
        expect_fields(&b, k, (uint32_t)b.ids[k]);
    imrec_iter_close(it);
}

TEST(what_cannot_be_a_field_is_refused_at_opening)
{
    static const struct {
        const char *words, *says;
    } wrong[] = {{"fields=txt,,json", "one is empty"},
                 {"fields=?", "one is empty"},
                 {"fields=txt,txt?", "names 'txt' twice"},
                 {"fields=txt memory_limit=1000000", "memory_limit is 1000000 bytes, but these"}};
    make_set(NOBODY);
    for (int i = 0; i < COUNT(wrong); i++) {
        struct imrec_iter *it;
        ck_assert_int_ne(set_try_open(&s, false, wrong[i].words, &it, &err), IMREC_OK);
        ck_assert_msg(strstr(err.message, wrong[i].says) != NULL, "%s", err.message);
    }
}

/* ---- records -------------------------------------------------------------------------------- */

/* The set as records with an index: what a reader finds in the tar, written as it is. */
static void make_records(void)
{
    struct imrec_reader *r;
    struct imrec_writer *w;
    struct imrec_record x;
    char tar[300], rec[300], idx[300];
    make_set(NOBODY);
    snprintf(tar, sizeof(tar), "%s/000.tar", s.dir.path);
    snprintf(rec, sizeof(rec), "%s/a.rec", s.dir.path);
    snprintf(idx, sizeof(idx), "%s/a.idx", s.dir.path);
    ck_assert_int_eq(imrec_reader_open(tar, 0, 1, &r, &err), IMREC_OK);
    ck_assert_int_eq(imrec_writer_open(rec, idx, false, &w, &err), IMREC_OK);
    while (imrec_reader_next(r, &x, &err) == IMREC_OK) {
        ck_assert_uint_eq(x.field_count, x.id % 3 != 0 ? 3 : 2);
        ck_assert_int_eq(imrec_writer_append_fields(w, x.id, x.labels, x.label_count, x.id, x.image,
                                                    x.image_size, x.fields, x.field_count, &err),
                         IMREC_OK);
    }
    ck_assert_int_eq(imrec_writer_commit(w, &err), IMREC_OK);
    imrec_reader_close(r);
    snprintf(s.rec, sizeof(s.rec), "path_imgrec=%s", rec);
}

LOOP_TEST(records_have_fields, 0, 2) /* _i: with an index */
{
    uint32_t seen = 0;
    struct imrec_batch b;
    make_records();
    struct imrec_iter *it = set_open(
        &s, false, _i != 0 ? "fields=txt,json? shuffle=1 path_imgidx=auto" : "fields=txt,json?");
    while (imrec_iter_next(it, &b, &err) == IMREC_OK)
        for (uint32_t k = 0; k < b.slots; k++)
            if (b.valid[k]) {
                expect_fields(&b, k, (uint32_t)b.ids[k]);
                ck_assert(b.labels[k] == (float)b.ids[k]);
                seen++;
            }
    ck_assert_uint_eq(seen, SAMPLES);
    imrec_iter_close(it);
}

TEST(a_reader_gives_the_fields_of_records)
{
    struct imrec_reader *r;
    struct imrec_record x;
    char text[256];
    make_records();
    ck_assert_int_eq(imrec_reader_open(s.rec + strlen("path_imgrec="), 0, 1, &r, &err), IMREC_OK);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        ck_assert_int_eq(imrec_reader_next(r, &x, &err), IMREC_OK);
        ck_assert_uint_eq(x.field_count, i % 3 != 0 ? 3 : 2);
        caption(i, text);
        ck_assert(x.fields[1].size == strlen(text) && x.fields[1].kind == IMREC_FIELD_BYTES);
        ck_assert_mem_eq(x.fields[1].bytes, text, strlen(text));
        ck_assert(x.fields[1].name_bytes == 3 && memcmp(x.fields[1].name, "txt", 3) == 0);
    }
    imrec_reader_close(r);
}

TEST(what_is_no_field_is_not_written)
{
    struct imrec_writer *w;
    const float label = 1;
    const struct imrec_field odd = {"n", 1, "1234567", 7, IMREC_FIELD_INT64};
    const struct imrec_field none = {"n", 1, "", 0, IMREC_FIELD_NONE};
    make_set(NOBODY);
    ck_assert_int_eq(imrec_writer_open(tmp_path(&s.dir, "b.rec"), NULL, false, &w, &err), IMREC_OK);
    ck_assert_int_eq(imrec_writer_append_fields(w, 0, &label, 1, 0, "x", 1, &odd, 1, &err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_writer_append_fields(w, 0, &label, 1, 0, "x", 1, &none, 1, &err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_writer_append_fields(w, 0, &label, 1, 0, "x", 1, &odd, 0, &err),
                     IMREC_ERR_ARGUMENT);
    ck_assert_uint_eq(imrec_writer_size(w), 0);
    imrec_writer_abort(w);
}

TEST(opening_with_fields_fails_cleanly)
{
    make_set(NOBODY);
    opening_must_fail_cleanly(&s, false, "fields=txt,json? batch_size=4");
}

static uint64_t planned(const char *words)
{
    struct imrec_iter_stats stats;
    struct imrec_iter *it = set_open(&s, false, words);
    imrec_iter_get_stats(it, &stats);
    imrec_iter_close(it);
    return stats.memory_planned_bytes;
}

/* Of each slot of the 2 batches: twice the maximum, as slots are joined, and some bytes more. */
TEST(fields_count_in_the_plan_of_memory)
{
    make_archives(SAMPLES, NOBODY);
    const uint64_t without = planned("batch_size=8 prefetch_buffer=1"),
                   with = planned("batch_size=8 prefetch_buffer=1 fields=txt,json? "
                                  "max_field_bytes=100000");
    const uint64_t slots = 2 * 8 * 2;
    ck_assert_uint_ge(with - without, slots * 2 * 100000);
    ck_assert_uint_le(with - without, slots * (2 * 100000 + 100));
}
