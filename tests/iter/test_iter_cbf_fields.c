/* tests/iter/test_iter_cbf_fields.c - fields=, images= and masks= of CBF files give what they give
 * of records; who asks for none reads none of their bytes; what is wrong with them costs the slot
 * of their image alone, and is named. */
#include "storage/fault.h"
#include "tests/support/built.h"
#include "tests/support/cbf_support.h"
#include "tests/support/iter_pair.h"
#include "tests/support/packing_fields.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

enum { FLOATS = 12 * 12 * 3 * 4, PLACES = 12 * 12 };
enum { LENGTHS, FIELDS, FEATURES }; /* streams, in their order */

#define ALL "fields=txt,meta.json? images=image,two masks=uint8 "

static struct packing p;
static char masks[300];
static struct bytes file; /* of a.cbf, where a test wants it */
static struct cbf_header h;

static bool begin(void)
{
    return built_with("png");
}

static void setup(void)
{
    packing_make(&p, false);
    packing_add_fields(&p);
    snprintf(masks, sizeof(masks), "%s/masks", p.dir.path);
    p.o.fields = PACKED_FIELDS;
    p.o.masks = masks;
    p.o.cbf_chunk = 20000; /* a few images each */
}

static void teardown(void)
{
    cbf_header_free(&h);
    free((void *)(uintptr_t)file.p);
    file = (struct bytes){NULL, 0};
    fault_forget("cbf");
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static const char *pack(const char *name, enum imrec_pack_format format)
{
    p.o.format = format;
    const char *path = kept_path(&p, name);
    ck_assert_msg(packing_run(&p, path) == IMREC_OK, "%s", p.err.message);
    return path;
}

/* ---- batches -------------------------------------------------------------------------------- */

static void fields_must_equal(const struct imrec_batch_field *a, const struct imrec_batch_field *b,
                              uint32_t slots, const char *what)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_msg(memcmp(a->kinds, b->kinds, slots) == 0, "%s: kinds of %s", what, a->name);
    const size_t places = (slots + 1) * sizeof(*a->offsets);
    ck_assert_msg(memcmp(a->offsets, b->offsets, places) == 0, "%s: places of %s", what, a->name);
    const size_t n = a->offsets[slots];
    ck_assert_msg(n == 0 || memcmp(a->bytes, b->bytes, n) == 0, "%s: bytes of %s", what, a->name);
}

static void
all_must_equal(const struct imrec_batch *a, const struct imrec_batch *b, const char *what)
{
    batches_must_equal(a, b, FLOATS, what);
    ck_assert_uint_eq(a->field_count, b->field_count);
    for (uint32_t f = 0; f < a->field_count; f++)
        fields_must_equal(&a->fields[f], &b->fields[f], a->slots, what);
    ck_assert_uint_eq(a->image_count, b->image_count);
    for (uint32_t i = 0; i < a->image_count; i++) {
        ck_assert_msg(memcmp(a->images[i].present, b->images[i].present, a->slots) == 0, "%s",
                      what);
        const struct imrec_shape *s = &a->images[i].shape;
        const size_t bytes = (size_t)a->slots * s->height * s->width;
        ck_assert_msg(memcmp(a->images[i].data, b->images[i].data, bytes) == 0, "%s: image %u",
                      what, i);
    }
    ck_assert_msg((a->masks == NULL) == (b->masks == NULL), "%s", what);
    ck_assert_msg(a->masks == NULL || memcmp(a->masks, b->masks, a->slots * PLACES) == 0,
                  "%s: masks", what);
}

/* Both give the same for `calls` calls of next(); returns the bytes of fields that came. */
static uint64_t must_agree(struct imrec_iter *a, struct imrec_iter *b, int calls, const char *what)
{
    uint64_t bytes = 0;
    for (int i = 0; i < calls; i++) {
        struct imrec_batch x, y;
        struct imrec_error e = {0}, f = {0};
        const enum imrec_status st = imrec_iter_next(a, &x, &e), other = imrec_iter_next(b, &y, &f);
        ck_assert_msg(st == other, "%s: call %d: %s; %s", what, i, e.message, f.message);
        ck_assert_msg(st == IMREC_OK || st == IMREC_END, "%s: call %d: %s", what, i, e.message);
        if (st == IMREC_END)
            continue;
        all_must_equal(&x, &y, what);
        for (uint32_t k = 0; k < x.field_count; k++)
            bytes += x.fields[k].offsets[x.slots];
    }
    imrec_iter_close(a);
    imrec_iter_close(b);
    return bytes;
}

static const char *const ways[] = {
    ALL,
    ALL "shuffle=1 seed=7",
    ALL "shuffle=1 batch_size=7 last_batch=partial preprocess_threads=5",
    ALL "shuffle=1 batch_size=9 round_batch=1 preprocess_threads=1 prefetch_buffer=1",
    ALL "num_parts=3 part_index=1 batch_size=3",
    ALL "num_parts=5 part_index=4 shuffle=1 seed=3 equal_batches=1",
    ALL "resize=14 mirror=1 dtype=float32",
    ALL "keep_in_memory=1 shuffle=1 drop_behind=1",
    ALL "num_views=3 batch_size=9 shuffle=1",
    "fields=txt,meta.json?,two",
    "masks=uint8",
    "images=image,two",
    "shuffle=1",
};

/* ---- the file ------------------------------------------------------------------------------- */

static void look_at_file(const char *path)
{
    file = read_whole(path);
    ck_assert_int_eq(cbf_open(file, &h, NULL), IMREC_OK);
    ck_assert_uint_gt(h.chunks, 3);
    ck_assert_uint_gt(h.chunk[1].sequences, 2);
}

/* Byte of the file where a sequence of a stream begins; *bytes: of it. */
static size_t where(uint32_t chunk, uint32_t stream, uint32_t sequence, size_t *bytes)
{
    struct cbf_chunk c = {0};
    ck_assert_int_eq(
        cbf_chunk_parse(&h, chunk, cbf_chunk_bytes(file, &h, chunk), 0, NULL, &c, NULL), IMREC_OK);
    const struct chunk_stream *s = &c.view.stream[stream];
    const size_t at = (size_t)(s->bytes - file.p) + s->offset[sequence];
    *bytes = s->offset[sequence + 1] - s->offset[sequence];
    cbf_chunk_free(&c);
    return at;
}

/* The file again with its streams in another order. */
static const char *reordered(const uint32_t *order, const char *name)
{
    struct cbf_writer *w;
    struct stream_info info[6];
    struct buf out = BUF_INIT(SIZE_MAX);
    ck_assert_uint_eq(h.streams, 6);
    for (uint32_t i = 0; i < 6; i++)
        info[i] = h.stream[order[i]];
    ck_assert_int_eq(cbf_writer_new(info, 6, 20000, cbf_to_buf, &out, &w, NULL), IMREC_OK);
    for (uint32_t k = 0; k < h.chunks; k++) {
        struct cbf_chunk c = {0};
        struct chunk_stream stream[6];
        ck_assert_int_eq(cbf_chunk_parse(&h, k, cbf_chunk_bytes(file, &h, k), 0, NULL, &c, NULL),
                         IMREC_OK);
        for (uint32_t i = 0; i < 6; i++)
            stream[i] = c.view.stream[order[i]];
        struct sequence_chunk all = c.view;
        all.stream = stream;
        ck_assert_int_eq(cbf_writer_add(w, &all, NULL), IMREC_OK);
        cbf_chunk_free(&c);
    }
    ck_assert_int_eq(cbf_writer_finish(w, NULL), IMREC_OK);
    cbf_writer_free(w);
    const char *path = kept_path(&p, name);
    tmp_write(&p.dir, name, out.p, out.n);
    buf_free(&out);
    return path;
}

CASE(.begin = begin, .timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(batches_are_those_of_records, 0, COUNT(ways)) /* _i: way */
{
    char with_index[600];
    const char *rec = pack("a.rec", IMREC_PACK_REC), *cbf = pack("b.cbf", IMREC_PACK_CBF);
    snprintf(with_index, sizeof(with_index), "path_imgidx=%s %s", tmp_path(&p.dir, "a.idx"),
             ways[_i]);
    const uint64_t bytes =
        must_agree(pair_open(cbf, ways[_i]), pair_open(rec, with_index), 25, ways[_i]);
    ck_assert_int_eq(bytes != 0, strstr(ways[_i], "fields=") != NULL);
}

TEST(shards_and_partitions_are_those_of_an_index)
{
    char words[600], with_index[1200];
    p.o.shards = 3;
    pack("a.rec", IMREC_PACK_REC);
    pack("b.cbf", IMREC_PACK_CBF);
    const char *rec = kept_path(&p, "a-*.rec"), *idx = kept_path(&p, "a-*.idx");
    const char *cbf = kept_path(&p, "b-*.cbf");
    for (int parts = 1; parts < 10; parts += 2)
        for (int part = 0; part < parts; part += 1 + parts / 4) {
            snprintf(words, sizeof(words), "%s shuffle=%d num_parts=%d part_index=%d seed=%d", ALL,
                     part % 2, parts, part, part);
            snprintf(with_index, sizeof(with_index), "%s path_imgidx=%s", words, idx);
            must_agree(pair_open(cbf, words), pair_open(rec, with_index), 14, words);
        }
}

TEST(fields_come_without_images)
{
    struct imrec_batch b;
    char text[300];
    p.o.shuffle = false;
    struct imrec_iter *it =
        pair_open(pack("a.cbf", IMREC_PACK_CBF), "fields=txt images=none batch_size=24");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < MADE_GOOD; i++) {
        const struct imrec_batch_field *f = &b.fields[0];
        packed_caption(i / MADE_EACH, i % MADE_EACH, text);
        ck_assert_uint_eq(f->offsets[i + 1] - f->offsets[i], strlen(text));
        ck_assert(text[0] == '\0' || memcmp(f->bytes + f->offsets[i], text, strlen(text)) == 0);
    }
    imrec_iter_close(it);
}

TEST(pixels_have_fields_and_masks_too)
{
    char with_index[600];
    p.o.center_crop = true;
    p.o.encoding = IMREC_ENCODE_PNG; /* loses nothing */
    p.o.quality = 1;
    const char *rec = pack("a.rec", IMREC_PACK_REC);
    p.o.pixels = true;
    const char *cbf = pack("b.cbf", IMREC_PACK_CBF);
    static const char *const words[] = {
        "fields=txt,meta.json? masks=uint8 shuffle=1",
        "masks=uint8 mirror=1 resize=20 num_views=2 batch_size=6",
    };
    for (int i = 0; i < COUNT(words); i++) {
        snprintf(with_index, sizeof(with_index), "path_imgidx=%s %s", tmp_path(&p.dir, "a.idx"),
                 words[i]);
        must_agree(pair_open(cbf, words[i]), pair_open(rec, with_index), 25, words[i]);
    }
}

TEST(a_file_without_the_streams_can_be_of_one_set_with_others)
{
    struct imrec_batch b;
    char both[1100];
    uint32_t with = 0;
    const char *path = pack("a.cbf", IMREC_PACK_CBF);
    p.o.fields = p.o.masks = "";
    const char *plain = pack("plain.cbf", IMREC_PACK_CBF);
    snprintf(both, sizeof(both), "%s;%s", plain, path);
    struct imrec_iter *it = pair_open(both, "fields=two? shuffle=1 batch_size=48");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    for (uint32_t i = 0; i < 48; i++)
        with += b.fields[0].kinds[i] == IMREC_FIELD_BYTES;
    ck_assert_uint_eq(with, MADE_GOOD);
    imrec_iter_close(it);
    it = pair_open(plain, "masks=uint8");
    ck_assert_int_eq(imrec_iter_next(it, &b, &p.err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(p.err.message, "the record has no mask") != NULL, "%s", p.err.message);
    imrec_iter_close(it);
}

/* Lengths behind fields, fields behind images, both last: chunks are walked. */
static const uint32_t orders[][6] = {
    {1, 0, 2, 3, 4, 5}, {2, 1, 3, 0, 4, 5}, {2, 3, 4, 5, 0, 1}, {5, 4, 3, 2, 1, 0}};

LOOP_TEST(the_order_of_streams_does_not_matter, 0, COUNT(orders)) /* _i: order */
{
    const char *path = pack("a.cbf", IMREC_PACK_CBF);
    look_at_file(path);
    const char *other = reordered(orders[_i], "b.cbf");
    must_agree(pair_open(other, ways[1]), pair_open(path, ways[1]), 12, ways[1]);
}

/* ---- damage --------------------------------------------------------------------------------- */

static void put_float(uint8_t *to, size_t at, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    store_le32(to + at, bits);
}

enum edit { BYTE, MAGIC, COUNT_OF, HALF, LONG, SHORT, NOTHING, EDITS };
static const struct {
    const char *says;
    bool always; /* also for who asks for no fields: places depend on it */
} edits[EDITS] = {
    [BYTE] = {"have the CRC-32C", false},
    [MAGIC] = {"belong neither to fields nor to a mask", false},
    [COUNT_OF] = {"number of samples", false},
    [HALF] = {"stream 'fields_bytes': 0 and 0.5, no length of fields", true},
    [LONG] = {"stream 'fields' and fields_bytes disagree", true},
    [SHORT] = {"belong neither to fields nor to a mask", false},
    [NOTHING] = {"stream 'fields' and fields_bytes disagree", true},
};

/* Damages the fields of sequence 2 of chunk 1. */
static void damage(uint8_t *to, enum edit edit)
{
    size_t n, ignored;
    const size_t fields = where(1, FIELDS, 2, &n), length = where(1, LENGTHS, 2, &ignored);
    float bytes;
    memcpy(&bytes, to + length + 8, sizeof(bytes));
    switch (edit) {
    case BYTE:
        to[fields + 20] ^= 1;
        break;
    case MAGIC:
        to[fields + 4 + (size_t)bytes - 1] ^= 1;
        break;
    case COUNT_OF:
        store_le32(to + fields, load_le32(to + fields) + 1);
        break;
    case HALF:
        put_float(to, length + 8, 0.5F);
        break;
    case LONG:
        put_float(to, length + 4, 8191);
        break;
    case SHORT: /* as many elements hold it */
        put_float(to, length + 8, bytes - (float)((uint32_t)bytes % 4 != 1 ? 1 : -1));
        break;
    case NOTHING:
        put_float(to, length + 8, 0);
        break;
    case EDITS:
        break;
    }
}

struct told {
    uint32_t failed, last; /* slots; the number of the last one in its sweep */
    struct imrec_error first;
};

static struct told read_sweep(const char *path, const char *words)
{
    struct told t = {.failed = 0};
    struct imrec_batch b;
    struct imrec_iter *it = pair_open(path, words);
    uint32_t seen = 0;
    for (;;) {
        struct imrec_error err = {0};
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        if (st == IMREC_END)
            break;
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_DATA, "%s", err.message);
        if (st == IMREC_ERR_DATA && t.first.status == IMREC_OK)
            t.first = err;
        for (uint32_t i = 0; i < b.count; i++, seen++)
            if (b.status[i] != IMREC_OK) {
                t.failed++;
                t.last = seen;
            }
    }
    imrec_iter_close(it);
    ck_assert_uint_eq(seen, MADE_GOOD);
    return t;
}

LOOP_TEST(damage_costs_the_slot_of_its_image_and_is_named, 0, EDITS) /* _i: edit */
{
    static const char *const asked[] = {ALL "preprocess_threads=1", "fields=txt", "masks=uint8"};
    look_at_file(pack("a.cbf", IMREC_PACK_CBF));
    uint8_t *to = malloc(file.n);
    memcpy(to, file.p, file.n);
    damage(to, (enum edit)_i);
    const char *bad = kept_path(&p, "bad.cbf");
    tmp_write(&p.dir, "bad.cbf", to, file.n);
    free(to);
    for (int i = 0; i < COUNT(asked); i++) {
        const struct told t = read_sweep(bad, asked[i]);
        ck_assert_uint_eq(t.failed, 1);
        ck_assert_uint_eq(t.last, h.chunk[0].sequences + 2);
        ck_assert_msg(strstr(t.first.message, "bad.cbf: sequence ") != NULL &&
                          strstr(t.first.message, edits[_i].says) != NULL,
                      "%s", t.first.message);
    }
    ck_assert_uint_eq(read_sweep(bad, "").failed, edits[_i].always ? 1 : 0);
    struct imrec_reader *r;
    struct imrec_record x;
    uint32_t lost = 0;
    enum imrec_status st;
    ck_assert_int_eq(imrec_reader_open(bad, 0, 1, &r, &p.err), IMREC_OK);
    while ((st = imrec_reader_next(r, &x, &p.err)) != IMREC_END)
        if (st == IMREC_ERR_DATA) {
            ck_assert_msg(strstr(p.err.message, edits[_i].says) != NULL, "%s", p.err.message);
            lost++;
        }
    ck_assert_uint_eq(lost, 1);
    imrec_reader_close(r);
}

LOOP_TEST(no_flipped_byte_does_more_than_lose_samples, 0, 2)
{
    look_at_file(pack("a.cbf", IMREC_PACK_CBF));
    uint8_t *to = malloc(file.n);
    struct imrec_batch b;
    memcpy(to, file.p, file.n);
    const char *bad = kept_path(&p, "bad.cbf");
    for (size_t at = (size_t)_i * 31; at < file.n; at += 211) {
        struct imrec_iter *it;
        to[at] ^= (uint8_t)(1 + at % 255);
        tmp_write(&p.dir, "bad.cbf", to, file.n);
        to[at] = file.p[at];
        if (pair_try_open(bad, ALL "preprocess_threads=1", &it, &p.err) != IMREC_OK) {
            ck_assert_msg(strstr(p.err.message, "bad.cbf") != NULL, "%s", p.err.message);
            continue;
        }
        enum imrec_status st;
        while ((st = imrec_iter_next(it, &b, &p.err)) != IMREC_END)
            ck_assert(st == IMREC_OK || st == IMREC_ERR_DATA);
        imrec_iter_close(it);
    }
    free(to);
}

static const char *scripted(const char *path, const struct fault_script *s)
{
    static char uri[600];
    ck_assert_int_eq(fault_set("cbf", s, NULL), IMREC_OK);
    snprintf(uri, sizeof(uri), "fault://script=cbf:%s", path);
    return uri;
}

/* Nobody but who asks for them reads a byte of fields: here they cannot be read. */
TEST(fields_that_cannot_be_read_cost_their_images_for_who_asks_for_them)
{
    size_t n;
    const char *path = pack("a.cbf", IMREC_PACK_CBF);
    look_at_file(path);
    const uint32_t last = h.chunk[2].sequences - 1;
    const uint64_t first = where(2, FIELDS, 0, &n), end = where(2, FIELDS, last, &n) + n;
    const uint64_t page = (first / 4096 + 1) * 4096; /* and all whole ones after it */
    ck_assert_uint_gt(end / 4096 * 4096, page);
    const char *uri =
        scripted(path, &(struct fault_script){.bad_begin = page, .bad_end = end / 4096 * 4096});
    const struct told t = read_sweep(uri, ALL "shuffle=1");
    ck_assert(t.failed != 0 && t.failed <= last + 1);
    ck_assert_msg(strstr(t.first.message, "Input/output error") != NULL, "%s", t.first.message);
    ck_assert_uint_eq(read_sweep(uri, "shuffle=1").failed, 0);
}

TEST(opening_fails_cleanly_when_the_nth_allocation_fails)
{
    const char *path = pack("a.cbf", IMREC_PACK_CBF);
    STARVING_SOME(memory)
    {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        memory.st = pair_try_open(path, ALL "shuffle=1", &it, &err);
        ck_assert(memory.st == IMREC_OK || (it == NULL && err.message[0] != '\0'));
        imrec_iter_close(it);
    }
}

TEST(reading_fails_cleanly_when_the_nth_allocation_fails)
{
    const char *path = pack("a.cbf", IMREC_PACK_CBF);
    STARVING_SOME(memory)
    {
        struct imrec_reader *r = NULL;
        struct imrec_record x;
        struct imrec_error err = {0};
        uint32_t n = 0;
        memory.st = imrec_reader_open(path, 0, 1, &r, &err);
        while (memory.st == IMREC_OK && (memory.st = imrec_reader_next(r, &x, &err)) == IMREC_OK) {
            ck_assert(x.mask != NULL && x.field_count >= 3);
            n++;
        }
        memory.st = memory.st == IMREC_END ? IMREC_OK : memory.st;
        ck_assert(memory.st != IMREC_OK || n == MADE_GOOD);
        imrec_reader_close(r);
    }
}

TEST(the_steady_state_allocates_nothing)
{
    struct imrec_batch b;
    struct imrec_iter *it = pair_open(pack("a.cbf", IMREC_PACK_CBF),
                                      "images=image,two shuffle=1 rand_crop=1 resize=13");
    for (int i = 0; i < 600; i++)
        ck_assert_int_le(imrec_iter_next(it, &b, NULL), IMREC_END);
    must_ask_for_no_memory(it, 300);
    imrec_iter_close(it);
}
