/* tests/im2rec/test_pack_cbf_fields.c - fields and masks in CNTK's binary format: two streams more,
 * by CNTK's rules; the same bytes from any number of workers, by a plan, and after an interruption;
 * and records that are made of them are those that im2rec packs itself. */
#include "formats/recordio/record_fields.h"
#include "imrec/plan.h"
#include "imrec/reshape.h"
#include "tests/support/built.h"
#include "tests/support/cbf_support.h"
#include "tests/support/minibatches.h"
#include "tests/support/packing_faults.h"
#include "tests/support/packing_fields.h"
#include "tests/support/suite.h"

static struct packing p;
static char masks[300];

static bool begin(void)
{
    return built_with("png");
}

static void setup(void)
{
    packing_make(&p, true);
    packing_add_fields(&p);
    snprintf(masks, sizeof(masks), "%s/masks", p.dir.path);
    p.o.cbf_chunk = 9000;
}

static void teardown(void)
{
    packing_end(&p);
}

static void pack(const char *name, enum imrec_pack_format format)
{
    p.o.format = format;
    ck_assert_msg(packing_run(&p, tmp_path(&p.dir, name)) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, MADE_GOOD);
}

enum { FIELDS, MASKS, BOTH, KINDS };

static void choose(int kind)
{
    p.o.fields = kind != MASKS ? PACKED_FIELDS : "";
    p.o.masks = kind != FIELDS ? masks : "";
}

/* A file in memory, with the one chunk that it has. */
struct whole {
    struct bytes file;
    struct cbf_header h;
    struct cbf_chunk c;
};

static struct whole open_whole(const char *name)
{
    struct imrec_error err = {0};
    struct whole w = {.file = read_whole(tmp_path(&p.dir, name))};
    ck_assert_ptr_nonnull(w.file.p);
    ck_assert_msg(cbf_open(w.file, &w.h, &err) == IMREC_OK, "%s", err.message);
    ck_assert_uint_eq(w.h.chunks, 1);
    ck_assert_msg(cbf_chunk_parse(&w.h, 0, cbf_chunk_bytes(w.file, &w.h, 0), 0, NULL, &w.c, &err) ==
                      IMREC_OK,
                  "%s", err.message);
    return w;
}

static void close_whole(struct whole *w)
{
    cbf_chunk_free(&w->c);
    cbf_header_free(&w->h);
    free((void *)(uintptr_t)w->file.p);
}

static struct sequence_view stream(const struct whole *w, uint32_t i, uint32_t k)
{
    return sequence_view(&w->c.view, i, k, &w->h.stream[i]);
}

static uint32_t word(const uint8_t *values, size_t i)
{
    float f;
    memcpy(&f, values + 4 * i, 4);
    return (uint32_t)f;
}

static void
expect_equal_streams(const struct whole *a, uint32_t i, const struct whole *b, uint32_t k)
{
    const struct stream_info *x = &a->h.stream[i], *y = &b->h.stream[k];
    ck_assert_str_eq(x->name, y->name);
    ck_assert(x->storage == y->storage && x->element == y->element && x->dim == y->dim);
    const uint32_t n = a->c.view.sequences;
    const uint64_t bytes = a->c.view.stream[i].offset[n];
    ck_assert_uint_eq(bytes, b->c.view.stream[k].offset[n]);
    ck_assert_mem_eq(a->c.view.stream[i].bytes, b->c.view.stream[k].bytes, bytes);
}

CASE(.begin = begin, .setup = setup, .teardown = teardown, .timeout = 60)

LOOP_TEST(the_other_streams_are_what_they_are_without_fields, 0, 2) /* _i: with pixels */
{
    p.o.cbf_chunk = 1 << 26;
    p.o.pixels = p.o.center_crop = _i != 0;
    pack("plain.cbf", IMREC_PACK_CBF);
    choose(BOTH);
    pack("a.cbf", IMREC_PACK_CBF);
    struct whole plain = open_whole("plain.cbf"), a = open_whole("a.cbf");
    ck_assert_uint_eq(plain.h.streams, _i != 0 ? 2 : 4);
    ck_assert_uint_eq(a.h.streams, plain.h.streams + 2);
    ck_assert_str_eq(a.h.stream[0].name, "fields_bytes");
    ck_assert_str_eq(a.h.stream[1].name, "fields");
    for (uint32_t i = 0; i < plain.h.streams; i++)
        expect_equal_streams(&a, i + 2, &plain, i);
    for (uint32_t k = 0; k < MADE_GOOD; k++)
        ck_assert_uint_eq(a.c.view.length[k], 1);
    close_whole(&plain);
    close_whole(&a);
}

TEST(a_sequence_holds_what_follows_the_image_in_a_record)
{
    uint64_t captions = 0, whole_words = 0;
    choose(BOTH);
    p.o.cbf_chunk = 1 << 26;
    pack("a.cbf", IMREC_PACK_CBF);
    struct whole a = open_whole("a.cbf");
    for (uint32_t k = 0; k < MADE_GOOD; k++) {
        const struct sequence_view length = stream(&a, 0, k), fields = stream(&a, 1, k);
        struct record_payload payload;
        struct record_field f;
        const size_t n = (size_t)word(length.values, 0) * 65536 + word(length.values, 1);
        ck_assert_uint_eq(length.samples, 1);
        ck_assert_uint_eq(fields.samples, (n + 3) / 4);
        ck_assert_int_eq(record_payload_split((struct bytes){fields.values, n}, &payload, NULL),
                         IMREC_OK);
        ck_assert(payload.image.n == 0 && payload.mask.n != 0);
        for (size_t i = n; i < 4 * (size_t)fields.samples; i++)
            ck_assert_uint_eq(fields.values[i], 0);
        whole_words += n % 4 == 0;
        while (record_fields_next(&payload.fields, &f))
            captions += f.name.n == 3 && memcmp(f.name.p, "txt", 3) == 0 ? f.value.n : 0;
    }
    ck_assert_uint_eq(captions, 11 * (MADE_GOOD - 1) * MADE_GOOD / 2);
    ck_assert_uint_lt(whole_words, MADE_GOOD);
    close_whole(&a);
}

TEST(an_image_without_fields_has_one_element_of_zero)
{
    p.o.fields = "meta.json?";
    p.o.cbf_chunk = 1 << 26;
    pack("a.cbf", IMREC_PACK_CBF);
    struct whole a = open_whole("a.cbf");
    uint32_t none = 0;
    for (uint32_t k = 0; k < MADE_GOOD; k++) {
        const struct sequence_view length = stream(&a, 0, k), fields = stream(&a, 1, k);
        ck_assert_uint_ge(fields.samples, 1);
        if (word(length.values, 0) != 0 || word(length.values, 1) != 0)
            continue;
        none++;
        ck_assert_uint_eq(fields.samples, 1);
        ck_assert_uint_eq(load_le32(fields.values), 0);
    }
    ck_assert_uint_eq(none, MADE_GOOD / 2);
    close_whole(&a);
}

LOOP_TEST(records_that_are_made_of_them_are_those_that_are_packed, 0, KINDS) /* _i: kind */
{
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    char uri[400], out[400];
    const char *uris[] = {uri};
    choose(_i);
    pack("a.rec", IMREC_PACK_REC);
    pack("source/b.cbf", IMREC_PACK_CBF);
    imrec_reshape_options_init(&o);
    snprintf(uri, sizeof(uri), "%s", tmp_path(&p.dir, "source/b.cbf"));
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "b.rec"));
    ck_assert_msg(imrec_reshape(uris, 1, out, "merge", &o, &r, &p.err) == IMREC_OK, "%s",
                  p.err.message);
    ck_assert_uint_eq(r.written, MADE_GOOD);
    expect_same_file(&p, "a", "b", ".rec");
    ck_assert_msg(packing_verifies(&p, uri), "%s", p.err.message);
}

LOOP_TEST(any_number_of_workers_and_a_plan_pack_the_same_bytes, 0, 2) /* _i: with pixels */
{
    char plan[400], out[400];
    struct imrec_plan_status status;
    p.o.pixels = p.o.center_crop = _i != 0;
    p.o.shards = 2;
    p.o.threads = 1;
    choose(BOTH);
    pack("a.cbf", IMREC_PACK_CBF);
    p.o.threads = 5;
    pack("b.cbf", IMREC_PACK_CBF);
    expect_same_file(&p, "a", "b", "-00000-of-00002.cbf");
    expect_same_file(&p, "a", "b", "-00001-of-00002.cbf");
    snprintf(plan, sizeof(plan), "%s/plan", p.dir.path);
    snprintf(out, sizeof(out), "%s/c.cbf", p.dir.path);
    const struct imrec_pack_task task = {.root = p.source, .out = out};
    ck_assert_msg(imrec_plan_make(plan, &task, &p.o, 3, &status, &p.err) == IMREC_OK, "%s",
                  p.err.message);
    for (uint64_t k = 3; k > 0; k--)
        ck_assert_msg(imrec_plan_work(plan, k - 1, NULL, &p.result, &p.err) == IMREC_OK, "%s",
                      p.err.message);
    ck_assert_msg(imrec_plan_finish(plan, NULL, &p.result, &p.err) == IMREC_OK, "%s",
                  p.err.message);
    expect_same_file(&p, "a", "c", "-00000-of-00002.cbf");
    expect_same_file(&p, "a", "c", "-00001-of-00002.cbf");
}

/* Fields of half a million bytes: marks are made every 8 MiB. */
static void make_large(void)
{
    enum { LARGE = 500003 };
    static const char *const classes[MADE_CLASSES] = {"ant", "bee", "cow"};
    char name[64];
    uint8_t *bytes = malloc(LARGE);
    for (uint32_t i = 0; i < MADE_GOOD; i++) {
        for (size_t k = 0; k < LARGE; k++)
            bytes[k] = (uint8_t)(k * 2654435761u >> 13 ^ i);
        snprintf(name, sizeof(name), "source/%s/%02u.txt", classes[i / MADE_EACH], i % MADE_EACH);
        tmp_write(&p.dir, name, bytes, LARGE - i);
    }
    free(bytes);
}

TEST(a_run_that_was_told_to_stop_ends_the_same_when_it_is_resumed)
{
    uint64_t stop = 5, resumed = 0;
    char out[400];
    snprintf(out, sizeof(out), "%s/b.cbf", p.dir.path);
    const struct imrec_pack_task task = {
        .root = p.source, .out = out, .progress = stop_at_done, .user = &stop};
    choose(BOTH);
    make_large();
    p.o.cbf_chunk = 1 << 20;
    pack("a.cbf", IMREC_PACK_CBF);
    p.o.resume = true;
    for (;; stop += 5) {
        const enum imrec_status st = imrec_pack(&task, &p.o, &p.result, &p.err);
        resumed = p.result.resumed > resumed ? p.result.resumed : resumed;
        if (st == IMREC_OK)
            break;
        ck_assert_msg(st == IMREC_ERR_CANCELLED, "%s", p.err.message);
    }
    ck_assert_uint_gt(resumed, 0);
    expect_same_file(&p, "a", "b", ".cbf");
}

static const struct imrec_minibatch_stream *named(const struct imrec_minibatch *m, const char *name)
{
    for (uint32_t i = 0; i < m->streams; i++)
        if (strcmp(m->stream[i].name, name) == 0)
            return &m->stream[i];
    ck_abort_msg("no stream %s", name);
    return NULL;
}

static struct imrec_minibatch_source *open_source(const char *name)
{
    char file[400];
    snprintf(file, sizeof(file), "file=%s", tmp_path(&p.dir, name));
    return mb_open(MB_KEYS(file, "randomizationSeed=3", "max_sweeps=2"));
}

TEST(minibatches_have_the_images_and_labels_that_they_have_without_fields)
{
    struct imrec_minibatch x, y;
    uint64_t minibatches = 0;
    enum imrec_status st;
    p.o.pixels = p.o.center_crop = true;
    pack("plain.cbf", IMREC_PACK_CBF);
    choose(BOTH);
    pack("a.cbf", IMREC_PACK_CBF);
    struct imrec_minibatch_source *plain = open_source("plain.cbf"), *a = open_source("a.cbf");
    while ((st = imrec_minibatch_next(plain, 7, NULL, 0, &x, &p.err)) == IMREC_OK) {
        ck_assert_int_eq(imrec_minibatch_next(a, 7, NULL, 0, &y, &p.err), IMREC_OK);
        ck_assert(x.streams == 2 && y.streams == 4);
        const struct imrec_minibatch_stream *f = named(&x, "features"), *g = named(&y, "features");
        const struct imrec_minibatch_stream *l = named(&x, "labels"), *m = named(&y, "labels");
        ck_assert(f->samples == g->samples && f->samples <= 7 && f->dim == g->dim);
        ck_assert_mem_eq(f->values, g->values, f->samples * f->dim * sizeof(float));
        ck_assert(l->nnz == m->nnz && l->nnz == l->samples);
        ck_assert_mem_eq(l->indices, m->indices, l->nnz * sizeof(*l->indices));
        minibatches++;
    }
    ck_assert_int_eq(st, IMREC_END);
    ck_assert_uint_eq(minibatches, (2 * MADE_GOOD + 6) / 7); /* across sweeps */
    imrec_minibatch_source_close(plain);
    imrec_minibatch_source_close(a);
}

TEST(columns_of_a_list_are_fields)
{
    static const char text[] = "7\t1\tant/00.jpg\tone\t\n9\t0\tbee/01.jpg\t\tu\n";
    static const char *const files[] = {"a.rec", "b.cbf"};
    char list[400], out[400], uri[400];
    struct imrec_reshape_options o;
    struct imrec_reshape_result r;
    const char *uris[] = {uri};
    snprintf(list, sizeof(list), "%s", tmp_write(&p.dir, "in.lst", text, sizeof(text) - 1));
    p.o.columns = "cap,url?";
    for (int i = 0; i < 2; i++) {
        snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, files[i]));
        const struct imrec_pack_task task = {.list = list, .root = p.source, .out = out};
        p.o.format = i == 0 ? IMREC_PACK_REC : IMREC_PACK_CBF;
        ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    }
    imrec_reshape_options_init(&o);
    snprintf(uri, sizeof(uri), "%s", tmp_path(&p.dir, "b.cbf"));
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, "c.rec"));
    ck_assert_msg(imrec_reshape(uris, 1, out, "merge", &o, &r, &p.err) == IMREC_OK, "%s",
                  p.err.message);
    expect_same_file(&p, "a", "c", ".rec");
}
