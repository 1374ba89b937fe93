/* tests/iter/test_fetch.c - records that a function fetches: they come as those of an index do;
 * what the function does wrong costs its records; what it gives is used until it is released. */
#include "base/threads.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"

#include <stdatomic.h>

enum { SAMPLE_BYTES = 12 * 12 * 3 * 4, RECORDS = 97 };

static const struct image_set_options made = {.records = RECORDS, .shards = 1, .labels = 1};

/* A table of the images of an image set. A call copies its images into memory of its own, which
 * ends with the call's hold: what is used later, the sanitizers see. */
static struct table {
    struct buf image[RECORDS];
    atomic_long holds, released, calls, cancels;
    void (*spoil)(uint64_t number, struct imrec_fetched *f);
    enum imrec_status status; /* of call `nth`, from 0; OK: of none */
    long nth;
    struct mutex lock;
    struct cond woken;
    bool waits, cancelled; /* waits: until it is cancelled */
} table;

struct hold {
    float label[16];
    uint8_t *image[16];
    uint32_t n;
};

static void fill(struct hold *h, uint32_t i, uint64_t number, struct imrec_fetched *f)
{
    const struct buf *b = &table.image[number];
    h->image[i] = memcpy(malloc(b->n), b->p, b->n);
    h->label[i] = (float)number;
    f->image = h->image[i];
    f->image_bytes = b->n;
    f->labels = &h->label[i];
    f->label_count = 1;
    f->id = set_id((uint32_t)number);
    if (table.spoil != NULL)
        table.spoil(number, f);
}

static enum imrec_status fetch(void *user, const uint64_t *numbers, uint32_t n,
                               struct imrec_fetched *out, void **hold, struct imrec_error *err)
{
    ck_assert_ptr_eq(user, &table);
    ck_assert_uint_le(n, 16);
    const long call = atomic_fetch_add(&table.calls, 1);
    struct hold *h = calloc(1, sizeof(*h));
    *hold = h;
    atomic_fetch_add(&table.holds, 1);
    h->n = n;
    mutex_lock(&table.lock);
    while (table.waits && !table.cancelled)
        cond_wait(&table.woken, &table.lock);
    mutex_unlock(&table.lock);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_uint_lt(numbers[i], RECORDS);
        ck_assert_uint_eq(out[i].id, numbers[i]);
        ck_assert(i == 0 || numbers[i] >= numbers[i - 1]);
        fill(h, i, numbers[i], &out[i]);
    }
    if (table.status == IMREC_OK || call != table.nth)
        return IMREC_OK;
    snprintf(err->message, sizeof(err->message), "the table is locked");
    return table.status;
}

static void release(void *user, void *hold)
{
    struct hold *h = hold;
    ck_assert_ptr_eq(user, &table);
    for (uint32_t i = 0; i < h->n; i++)
        free(h->image[i]);
    free(h);
    atomic_fetch_add(&table.released, 1);
}

static void cancel(void *user)
{
    ck_assert_ptr_eq(user, &table);
    mutex_lock(&table.lock);
    table.cancelled = true;
    cond_wake_all(&table.woken);
    mutex_unlock(&table.lock);
    atomic_fetch_add(&table.cancels, 1);
}

static struct image_set set;

static void setup(void)
{
    struct codec *c;
    set = image_set_make(&made);
    table = (struct table){.nth = 0};
    mutex_init(&table.lock);
    cond_init(&table.woken);
    ck_assert_int_eq(codec_new(&c, NULL), IMREC_OK);
    for (uint32_t i = 0; i < RECORDS; i++) {
        table.image[i] = (struct buf)BUF_INIT((size_t)1 << 24);
        const struct bytes b = set_encode(c, &made, i);
        ck_assert_int_eq(buf_append(&table.image[i], b.p, b.n, NULL), IMREC_OK);
    }
    codec_free(c);
}

static void teardown(void)
{
    ck_assert_int_eq(table.holds, table.released);
    for (uint32_t i = 0; i < RECORDS; i++)
        buf_free(&table.image[i]);
    cond_destroy(&table.woken);
    mutex_destroy(&table.lock);
    image_set_free(&set);
}

static struct imrec_fetch table_fetch(void)
{
    return (struct imrec_fetch){.struct_size = sizeof(struct imrec_fetch),
                                .name = "table",
                                .count = RECORDS,
                                .user = &table,
                                .fetch = fetch,
                                .release = release,
                                .cancel = cancel,
                                .record_bytes = 1000};
}

static enum imrec_status try_fetch(const struct imrec_fetch *f, const char *words,
                                   struct imrec_iter **out, struct imrec_error *err)
{
    struct imrec_iter_options o;
    char text[1024];
    imrec_iter_options_init(&o);
    o.data_shape = (struct imrec_shape){3, 12, 12};
    o.batch_size = 5;
    o.preprocess_threads = 2;
    *out = NULL;
    snprintf(text, sizeof(text), "%s", words);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL;)
        ck_assert_int_eq(imrec_iter_options_set(&o, word, err), IMREC_OK);
    return imrec_iter_open_fetch(&o, f, out, err);
}

static struct imrec_iter *open_fetch(const struct imrec_fetch *f, const char *words)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    if (try_fetch(f, words, &it, &err) != IMREC_OK)
        ck_abort_msg("%s: %s", words, err.message);
    return it;
}

/* ---- order ------------------------------------------------------------------------------------
 */

static const char *const ways[] = {
    "",
    "shuffle=1 seed=3",
    "shuffle=1 num_parts=4 part_index=1",
    "num_parts=7 part_index=6 equal_batches=1",
    "shuffle=1 order=global global_batch_size=10 num_parts=2 part_index=1",
    "shuffle=1 order=global repeats=5",
    "shuffle=1 last_batch=wrap max_samples=300 epoch_size=40",
};

CASE(.timeout = 60, .setup = setup, .teardown = teardown)

LOOP_TEST(records_come_in_the_order_of_an_index_of_as_many, 0, COUNT(ways) * 3) /* way, threads */
{
    const char *words = ways[_i / 3];
    struct imrec_fetch f = table_fetch();
    f.threads = _i % 3 == 0 ? 1 : 7;
    f.at_once = _i % 3 == 1 ? 1 : 0;
    f.record_bytes = _i % 3 == 2 ? 1 << 20 : 1000;
    struct stream a = {0}, b = {0};
    struct imrec_iter *it = open_fetch(&f, words), *rec = set_open(&set, true, words);
    stream_read(&a, rec, SAMPLE_BYTES, 2, 400);
    stream_read(&b, it, SAMPLE_BYTES, 2, 400);
    streams_must_equal(&a, &b, words);
    imrec_iter_close(it);
    imrec_iter_close(rec);
    stream_free(&a);
    stream_free(&b);
    ck_assert_int_gt(table.calls, 0);
    ck_assert_int_eq(table.cancels, 1);
}

LOOP_TEST(a_position_resumes_inside_a_sweep, 0, COUNT(ways) - 1) /* way */
{
    struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    struct stream a = {0}, b = {0}, skipped = {0};
    const char *position;
    char kept[4096];
    struct imrec_iter *it = open_fetch(&f, ways[_i]);
    stream_read(&skipped, it, SAMPLE_BYTES, 2, 8);
    ck_assert_int_eq(imrec_iter_position(it, &position, &err), IMREC_OK);
    snprintf(kept, sizeof(kept), "%s", position);
    stream_read(&a, it, SAMPLE_BYTES, 2, SIZE_MAX);
    imrec_iter_close(it);
    f.threads = 2;
    f.at_once = 3;
    it = open_fetch(&f, ways[_i]);
    ck_assert_int_eq(imrec_iter_seek(it, kept, &err), IMREC_OK);
    stream_read(&b, it, SAMPLE_BYTES, 2, SIZE_MAX);
    streams_must_equal(&a, &b, ways[_i]);
    imrec_iter_close(it);
    stream_free(&a);
    stream_free(&b);
    stream_free(&skipped);
}

LOOP_TEST(a_position_of_other_data_is_refused, 0, 3) /* what differs */
{
    struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    const char *position;
    char kept[4096];
    struct imrec_iter *it = open_fetch(&f, "shuffle=1");
    ck_assert_int_eq(imrec_iter_position(it, &position, &err), IMREC_OK);
    snprintf(kept, sizeof(kept), "%s", position);
    imrec_iter_close(it);
    f.count -= _i == 0;
    f.fingerprint = _i == 1;
    f.name = _i == 2 ? "other" : f.name;
    it = open_fetch(&f, "shuffle=1");
    ck_assert_int_eq(imrec_iter_seek(it, kept, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(err.message, "other data"));
    imrec_iter_close(it);
}

TEST(subset_chooses_by_number)
{
    const struct imrec_fetch f = table_fetch();
    struct stream a = {0};
    char words[400];
    const char *list = tmp_write(&set.dir, "some.txt", "3\n90\n41\n", 8);
    snprintf(words, sizeof(words), "order=global subset=%s", list);
    struct imrec_iter *it = open_fetch(&f, words);
    stream_read(&a, it, SAMPLE_BYTES, 1, SIZE_MAX);
    ck_assert_uint_eq(a.n, 4);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(a.seen[i].id, set_id((const uint32_t[]){3, 41, 90}[i]));
    imrec_iter_close(it);
    stream_free(&a);
}

static const int64_t large = ((int64_t)1 << 53) + 1;

static void label_large(uint64_t number, struct imrec_fetched *f)
{
    f->labels = number % 2 != 0 ? &large : f->labels;
    f->label_dtype = number % 2 != 0 ? IMREC_LABEL_INT64 : IMREC_LABEL_FLOAT32;
}

TEST(labels_of_64_bits_are_exact_where_they_are_asked_for)
{
    const struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    struct imrec_batch b;
    table.spoil = label_large;
    struct imrec_iter *it = open_fetch(&f, "dtype_label=int64");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_int_eq(((const int64_t *)b.typed_labels)[3], large);
    ck_assert_int_eq(((const int64_t *)b.typed_labels)[4], 4); /* of a float */
    imrec_iter_close(it);
    it = open_fetch(&f, "");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert(b.labels[3] == 0x1p53f && b.labels[4] == 4);
    imrec_iter_close(it);
}

/* ---- faults -----------------------------------------------------------------------------------
 */

static bool is_bad(uint64_t number)
{
    return number % 10 == 4;
}

static void lose(uint64_t number, struct imrec_fetched *f)
{
    if (is_bad(number)) {
        f->status = IMREC_ERR_IO;
        f->why = "row is gone";
    }
}

static void lose_silently(uint64_t number, struct imrec_fetched *f)
{
    f->status = is_bad(number) ? IMREC_ERR_CORRUPT : IMREC_OK;
}

static void end(uint64_t number, struct imrec_fetched *f)
{
    f->status = is_bad(number) ? IMREC_END : IMREC_OK;
}

static void give_no_image(uint64_t number, struct imrec_fetched *f)
{
    f->image = is_bad(number) ? NULL : f->image;
}

static void give_no_bytes(uint64_t number, struct imrec_fetched *f)
{
    f->image_bytes = is_bad(number) ? 0 : f->image_bytes;
}

static void give_too_many_bytes(uint64_t number, struct imrec_fetched *f)
{
    f->image_bytes = is_bad(number) ? SIZE_MAX : f->image_bytes;
}

static void give_no_mask(uint64_t number, struct imrec_fetched *f)
{
    f->mask_bytes = is_bad(number);
}

static void give_no_labels(uint64_t number, struct imrec_fetched *f)
{
    f->labels = is_bad(number) ? NULL : f->labels;
}

static void give_many_labels(uint64_t number, struct imrec_fetched *f)
{
    f->label_count = is_bad(number) ? UINT32_MAX : f->label_count;
}

static void give_odd_labels(uint64_t number, struct imrec_fetched *f)
{
    f->label_dtype = is_bad(number) ? 9 : f->label_dtype;
}

static const int64_t g_numbers[] = {7, -1};
static const struct imrec_field good_fields[] = {{"txt", 3, "a caption", 9, IMREC_FIELD_BYTES},
                                                 {"n", 1, g_numbers, 16, IMREC_FIELD_INT64},
                                                 {"none", 4, NULL, 0, IMREC_FIELD_BYTES}},
                                bad_fields[] = {
                                    {"txt", 3, NULL, 9, IMREC_FIELD_BYTES},
                                    {"txt", 3, "a caption", SIZE_MAX, IMREC_FIELD_BYTES},
                                    {"txt", 3, "12345", 5, IMREC_FIELD_INT64},
                                    {"txt", 3, "123456", 6, IMREC_FIELD_FLOAT32},
                                    {NULL, 3, "a caption", 9, IMREC_FIELD_BYTES},
                                    {"txt", 0, "a caption", 9, IMREC_FIELD_BYTES},
                                    {"txt", 3, "a caption", 9, IMREC_FIELD_NONE},
                                    {"txt", 3, "a caption", 9, 9}};

static void give_fields(uint64_t number, struct imrec_fetched *f)
{
    (void)number;
    f->fields = good_fields;
    f->field_count = COUNT(good_fields);
}

/* Another mistake for each of the first that are bad. */
static void give_wrong_fields(uint64_t number, struct imrec_fetched *f)
{
    if (is_bad(number)) {
        f->fields = &bad_fields[number / 10 % COUNT(bad_fields)];
        f->field_count = 1;
    }
}

static void give_too_many_fields(uint64_t number, struct imrec_fetched *f)
{
    f->fields = good_fields;
    f->field_count = is_bad(number) ? 65537 : 0;
}

static void give_no_fields(uint64_t number, struct imrec_fetched *f)
{
    f->field_count = is_bad(number) ? 1 : 0;
}

static const struct {
    void (*spoil)(uint64_t number, struct imrec_fetched *f);
    const char *words;
} faults[] = {
    {give_wrong_fields, "a field must have at most 2^31 bytes"},
    {give_too_many_fields, "at most 65536 fields"},
    {give_no_fields, "at most 65536 fields"},
    {lose, "table: record 4, id 4: row is gone"},
    {lose_silently, "could not be fetched"},
    {end, "no error"},
    {give_no_image, "1 to 2^31 bytes"},
    {give_no_bytes, "1 to 2^31 bytes"},
    {give_too_many_bytes, "1 to 2^31 bytes"},
    {give_no_mask, "mask"},
    {give_no_labels, "no labels"},
    {give_many_labels, "the record has 4294967295 labels, but label_width is 1"},
    {give_odd_labels, "label_dtype"},
};

LOOP_TEST(what_is_wrong_with_a_record_costs_that_record, 0, COUNT(faults)) /* fault */
{
    const struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    struct imrec_batch b;
    struct stream a = {0};
    table.spoil = faults[_i].spoil;
    struct imrec_iter *it = open_fetch(&f, "");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, faults[_i].words) != NULL, "%s", err.message);
    ck_assert_uint_eq(b.failed, 1);
    ck_assert(b.status[4] != IMREC_OK);
    imrec_iter_close(it);
    it = open_fetch(&f, "on_error=skip shuffle=1");
    stream_read(&a, it, SAMPLE_BYTES, 1, SIZE_MAX);
    size_t failed = 0;
    for (size_t i = 0; i + 1 < a.n; i++)
        failed += a.seen[i].status != IMREC_OK;
    ck_assert_uint_eq(a.n, RECORDS + 1);
    ck_assert_uint_eq(failed, 10);
    imrec_iter_close(it);
    stream_free(&a);
}

TEST(fields_are_delivered_as_they_were_given)
{
    const struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    struct imrec_batch b;
    table.spoil = give_fields;
    struct imrec_iter *it = open_fetch(&f, "fields=n,txt,none,gone?");
    ck_assert_msg(imrec_iter_next(it, &b, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(b.field_count, 4);
    for (uint32_t i = 0; i < b.slots; i++) {
        const struct imrec_batch_field *n = &b.fields[0], *txt = &b.fields[1];
        ck_assert(n->kinds[i] == IMREC_FIELD_INT64 && txt->kinds[i] == IMREC_FIELD_BYTES);
        ck_assert_uint_eq(n->offsets[i + 1] - n->offsets[i], sizeof(g_numbers));
        ck_assert_mem_eq(n->bytes + n->offsets[i], g_numbers, sizeof(g_numbers));
        ck_assert_uint_eq(txt->offsets[i + 1] - txt->offsets[i], 9);
        ck_assert_mem_eq(txt->bytes + txt->offsets[i], "a caption", 9);
        ck_assert_int_eq(b.fields[2].kinds[i], IMREC_FIELD_BYTES);
        ck_assert_int_eq(b.fields[3].kinds[i], IMREC_FIELD_NONE);
    }
    imrec_iter_close(it);
}

TEST(a_call_that_fails_costs_its_records_whichever_it_is)
{
    struct imrec_fetch f = table_fetch();
    f.threads = 1;
    table.status = IMREC_ERR_IO;
    for (table.nth = 0; table.nth < 7; table.nth++) {
        struct stream a = {0};
        size_t failed = 0;
        table.calls = 0;
        struct imrec_iter *it = open_fetch(&f, "on_error=skip");
        stream_read(&a, it, SAMPLE_BYTES, 1, SIZE_MAX);
        for (size_t i = 0; i + 1 < a.n; i++) {
            ck_assert_int_eq(a.seen[i].status != IMREC_OK, (long)i / 16 == table.nth);
            failed += a.seen[i].status != IMREC_OK;
        }
        ck_assert_uint_eq(failed, table.nth == 6 ? 1 : 16);
        imrec_iter_close(it);
        stream_free(&a);
    }
}

LOOP_TEST(what_is_not_about_records_ends_the_iterator, 0, 2) /* which */
{
    struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    struct imrec_batch b;
    enum imrec_status st;
    table.status = _i == 0 ? IMREC_ERR_CANCELLED : IMREC_ERR_NO_MEMORY;
    table.nth = 3;
    f.threads = 1;
    f.record_bytes = 1 << 20;
    struct imrec_iter *it = open_fetch(&f, "on_error=skip");
    while ((st = imrec_iter_next(it, &b, &err)) == IMREC_OK)
        ck_assert_uint_eq(b.failed, 0);
    ck_assert_int_eq(st, table.status);
    ck_assert_str_eq(err.message, "the table is locked");
    imrec_iter_close(it);
}

TEST(closing_ends_a_call_that_waits)
{
    const struct imrec_fetch f = table_fetch();
    table.waits = true;
    struct imrec_iter *it = open_fetch(&f, "shuffle=1");
    while (table.calls == 0)
        imrec_iter_wait(it, 1);
    ck_assert(!imrec_iter_wait(it, 20));
    imrec_iter_close(it);
    ck_assert_int_eq(table.cancels, 1);
}

LOOP_TEST(as_many_calls_wait_as_there_are_threads, 1, 10)
{
    struct imrec_fetch f = table_fetch();
    f.threads = (uint32_t)_i;
    f.at_once = 2;
    table.waits = true;
    struct imrec_iter *it = open_fetch(&f, _i % 2 != 0 ? "" : "shuffle=1");
    for (int n = 0; n < 1000 && table.calls < _i; n++)
        imrec_iter_wait(it, 10);
    ck_assert(!imrec_iter_wait(it, 20));
    ck_assert_int_eq(table.calls, _i);
    imrec_iter_close(it);
}

static const struct {
    const char *words, *said;
} refused[] = {
    {"path_imgrec=a.rec", "path_imgrec is about files"},
    {"path_imgidx=a.idx", "path_imgidx is about files"},
    {"source=mine", "source is about files"},
    {"mix=a.rec:1 order=global", "mix is about files"},
    {"image=jpg", "image is about files"},
    {"label=cls", "label is about files"},
    {"mask=seg.png", "mask is about files"},
    {"path_root=photos", "path_root is about files"},
    {"keep_in_memory=1", "keep_in_memory is about files"},
    {"verify_checksums=1", "verify_checksums is about files"},
    {"num_parts=2 part_index=2", "part_index"},
    {"order=global class_balanced=1 shuffle=1", "give the classes in path_imglist"},
};

LOOP_TEST(options_about_files_are_refused, 0, COUNT(refused)) /* option */
{
    const struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    struct imrec_iter *it;
    ck_assert_int_ge(try_fetch(&f, refused[_i].words, &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_null(it);
    ck_assert_msg(strstr(err.message, refused[_i].said) != NULL, "%s", err.message);
}

LOOP_TEST(a_bad_struct_is_refused, 0, 9) /* what is bad */
{
    static const uint64_t late[] = {1, 5}, falling[] = {0, 9, 5}, far[] = {0, RECORDS + 1};
    struct imrec_fetch f = table_fetch();
    struct imrec_error err = {0};
    struct imrec_iter *it;
    f.struct_size = _i == 0 ? 8 : f.struct_size;
    f.name = _i == 1 ? NULL : f.name;
    f.fetch = _i == 2 ? NULL : f.fetch;
    f.count = _i == 3 ? 0 : _i == 4 ? UINT64_MAX : f.count;
    f.threads = _i == 5 ? 257 : 0;
    f.block_begin = _i == 6 ? late : _i == 7 ? falling : far;
    f.blocks = _i < 6 ? 0 : _i == 7 ? 3 : 2;
    ck_assert_int_eq(try_fetch(&f, "", &it, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_null(it);
    ck_assert_str_ne(err.message, "");
}

TEST(no_memory_for_opening_leaves_nothing)
{
    const struct imrec_fetch f = table_fetch();
    long n = 0;
    STARVING_SOME(memory)
    {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        memory.st = try_fetch(&f, "shuffle=1", &it, &err);
        imrec_iter_close(it);
        n++;
    }
    ck_assert_int_gt(n, 10);
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

TEST(chunks_keep_blocks_together_and_permute_them)
{
    static const uint64_t begin[] = {0, 10, 10, 40, 60, 90};
    static const uint32_t block[] = {0, 2, 3, 4, 5};
    struct imrec_fetch f = table_fetch();
    struct stream a = {0};
    uint32_t changes = 0, back = 0, seen[6] = {0};
    f.block_begin = begin;
    f.blocks = COUNT(begin);
    f.record_bytes = 1 << 20; /* a window of 1 MiB is a batch */
    struct imrec_iter *it = open_fetch(&f, "shuffle=1 order=global locality=chunk batch_size=1 "
                                           "shuffle_window=2097152 shuffle_chunk=4096");
    stream_read(&a, it, SAMPLE_BYTES, 1, SIZE_MAX);
    ck_assert_uint_eq(a.n, RECORDS + 1);
    for (uint32_t i = 0, last = 9; i < RECORDS; i++) {
        uint32_t of = 5;
        while (begin[of] > set_record_of(a.seen[i].id))
            of--;
        changes += of != last;
        back += of < last && i != 0;
        last = of;
        seen[of]++;
    }
    ck_assert_uint_eq(changes, COUNT(block));
    ck_assert_uint_gt(back, 0);
    for (uint32_t i = 0; i < COUNT(block); i++)
        ck_assert_uint_gt(seen[block[i]], 0);
    imrec_iter_close(it);
    stream_free(&a);
}
