/* What is wrong with CBF files of images: named with file, sequence and byte, in its own slots,
 * whatever the threads; everything else is delivered as ever. */
#include "base/alloc.h"
#include "storage/fault.h"
#include "tests/support/cbf_support.h"
#include "tests/support/iter_pair.h"
#include "tests/support/replacing.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

enum { FLOATS = 12 * 12 * 3 * 4, MOST = MADE_GOOD };

static struct packing p;
static const char *path;
static struct bytes file;
static struct cbf_header h;

static void setup(void)
{
    packing_make(&p, false);
    p.o.format = IMREC_PACK_CBF;
    p.o.cbf_chunk = 6000;
    path = kept_path(&p, "a.cbf");
    ck_assert_msg(packing_run(&p, path) == IMREC_OK, "%s", p.err.message);
    file = read_whole(path);
    ck_assert_int_eq(cbf_open(file, &h, NULL), IMREC_OK);
    ck_assert_uint_gt(h.chunks, 3);
    ck_assert_uint_gt(h.chunk[1].sequences, 3);
}

static void teardown(void)
{
    cbf_header_free(&h);
    free((void *)(uintptr_t)file.p);
    packing_remove(&p);
}

/* ---- a sweep, sample by sample -------------------------------------------------------------- */

struct sample {
    uint64_t id, hash;
    enum imrec_status status;
};
struct sweep {
    struct sample sample[MOST]; /* in the order of delivery */
    uint32_t n, failed;
    struct imrec_error first; /* what next() said */
};

static uint64_t order[MOST]; /* of ids in the file */

static uint32_t sequence_of(uint64_t id)
{
    uint32_t i = 0;
    while (i < MOST && order[i] != id)
        i++;
    return i;
}

static void take_batch(struct sweep *s, const struct imrec_batch *b)
{
    for (uint32_t i = 0; i < b->slots; i++) {
        if (b->valid[i] == 0 && b->status[i] == IMREC_OK)
            continue; /* pad */
        ck_assert_uint_lt(s->n, MOST);
        struct sample *x = &s->sample[s->n++];
        *x = (struct sample){b->ids[i], 0xcbf29ce484222325u, b->status[i]};
        const uint8_t *data = (const uint8_t *)b->data + (size_t)i * FLOATS;
        for (size_t k = 0; k < FLOATS; k++)
            x->hash = (x->hash ^ data[k]) * 0x100000001b3u;
        x->hash ^= (uint64_t)b->labels[i];
        s->failed += b->status[i] != IMREC_OK;
    }
}

static struct sweep read_sweep(const char *uri, const char *words)
{
    struct sweep s = {.n = 0};
    struct imrec_batch b;
    struct imrec_iter *it = pair_open(uri, words);
    for (;;) {
        struct imrec_error err = {0};
        const enum imrec_status st = imrec_iter_next(it, &b, &err);
        if (st == IMREC_END)
            break;
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_DATA, "%s", err.message);
        ck_assert_int_eq(st == IMREC_ERR_DATA, b.failed != 0 && strstr(words, "skip") == NULL);
        if (st == IMREC_ERR_DATA && s.first.status == IMREC_OK)
            s.first = err;
        take_batch(&s, &b);
    }
    imrec_iter_close(it);
    ck_assert_uint_eq(s.n, MOST);
    return s;
}

/* Learns the order of ids in the file. */
static void learn(void)
{
    struct imrec_reader *r;
    struct imrec_record x;
    uint32_t n = 0;
    ck_assert_int_eq(imrec_reader_open(path, 0, 1, &r, NULL), IMREC_OK);
    while (imrec_reader_next(r, &x, NULL) == IMREC_OK)
        order[n++] = x.id;
    ck_assert_uint_eq(n, MOST);
    imrec_reader_close(r);
}

/* ---- damage --------------------------------------------------------------------------------- */

enum { IMAGE, BYTES, LABEL, ID };

/* Byte of the file where a sequence of a stream begins. */
static size_t where(uint32_t chunk, uint32_t stream, uint32_t sequence)
{
    struct cbf_chunk c = {0};
    ck_assert_int_eq(
        cbf_chunk_parse(&h, chunk, cbf_chunk_bytes(file, &h, chunk), 0, NULL, &c, NULL), IMREC_OK);
    const size_t at =
        (size_t)(c.view.stream[stream].bytes - file.p) + c.view.stream[stream].offset[sequence];
    cbf_chunk_free(&c);
    return at;
}

static void put_u32(uint8_t *to, size_t at, uint32_t v)
{
    store_le32(to + at, v);
}

static void put_float(uint8_t *to, size_t at, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    store_le32(to + at, bits);
}

enum edit {
    COUNT,
    HUGE_COUNT,
    HALF_LENGTH,
    NEGATIVE_LENGTH,
    LONG_LENGTH,
    LONGEST_LENGTH,
    WRONG_LENGTH,
    FAR_LABEL,
    TWO_VALUES,
    NO_LABEL,
    NO_VALUE,
    WRONG_ID,
    NO_IMAGE,
    ZEROS,
    EDITS
};
static const struct {
    const char *says;
    bool whole_chunk;
} edits[EDITS] = {
    [COUNT] = {"number of samples", false},
    [HUGE_COUNT] = {"number of samples 4294967295", false},
    [HALF_LENGTH] = {"image_bytes", false},
    [NEGATIVE_LENGTH] = {"image_bytes", false},
    [LONG_LENGTH] = {"image_bytes", false},
    [LONGEST_LENGTH] = {"no length of an image", false},
    [WRONG_LENGTH] = {"disagree", false},
    [FAR_LABEL] = {"index 3, it must be in [0, 3)", false},
    [TWO_VALUES] = {"NNZ", false},
    [NO_LABEL] = {"", true},
    [NO_VALUE] = {"", true},
    [WRONG_ID] = {"'id'", false},
    [NO_IMAGE] = {"", false},
    [ZEROS] = {"end here", true},
};

/* Damages sequence 2 of chunk 1, or all of the chunk, in `to`, a copy of the file. */
static void damage(uint8_t *to, enum edit edit)
{
    const size_t image = where(1, IMAGE, 2), bytes = where(1, BYTES, 2);
    const size_t label = where(1, LABEL, 2), id = where(1, ID, 2);
    float words[2];
    memcpy(words, to + bytes + 4, 8);
    switch (edit) {
    case COUNT:
        put_u32(to, image, load_le32(to + image) - 1);
        break;
    case HUGE_COUNT:
        put_u32(to, image, UINT32_MAX);
        break;
    case HALF_LENGTH:
        put_float(to, bytes + 8, 0.5f);
        break;
    case NEGATIVE_LENGTH:
        put_float(to, bytes + 4, -1);
        break;
    case LONG_LENGTH:
        put_float(to, bytes + 4, 65535);
        break;
    case LONGEST_LENGTH:
        put_float(to, bytes + 4, 65535);
        put_float(to, bytes + 8, 65535);
        break;
    case WRONG_LENGTH:
        put_float(to, bytes + 8, words[1] - 4);
        break;
    case FAR_LABEL:
        put_u32(to, label + 12, 3);
        break;
    case TWO_VALUES:
        put_u32(to, label + 16, 2);
        break;
    case NO_LABEL:
        put_u32(to, label, 0);
        break;
    case NO_VALUE:
        put_u32(to, label + 4, 0);
        break;
    case WRONG_ID:
        put_float(to, id + 8, 65536);
        break;
    case NO_IMAGE:
        memset(to + image + 4, 'x', 200);
        break;
    case ZEROS:
        memset(to + h.chunk[1].offset, 0, (size_t)h.chunk[1].bytes);
        break;
    case EDITS:
        break;
    }
}

/* Sequences [first, end) of the file take their slots and fail, all others are as they were. */
static void must_be_lost(const struct sweep *good, const struct sweep *bad, uint64_t first,
                         uint64_t end, const char *what)
{
    for (uint32_t i = 0; i < MOST; i++) {
        const struct sample *x = &good->sample[i], *y = &bad->sample[i];
        const uint32_t sequence = sequence_of(x->id);
        const bool lost = sequence >= first && sequence < end;
        ck_assert_msg((y->status != IMREC_OK) == lost, "%s: sequence %u has status %d", what,
                      sequence, y->status);
        ck_assert_msg(lost || (x->hash == y->hash && x->id == y->id), "%s: sequence %u differs",
                      what, sequence);
    }
}

static const char *const ways[] = {
    "preprocess_threads=1",
    "preprocess_threads=6 batch_size=3",
    "preprocess_threads=3 shuffle=1 seed=4",
    "preprocess_threads=4 on_error=skip",
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(damage_costs_a_slot_each_and_is_named, 0, EDITS) /* _i: edit */
{
    uint8_t *to = malloc(file.n);
    char what[100], says[64];
    memcpy(to, file.p, file.n);
    damage(to, (enum edit)_i);
    const char *bad = kept_path(&p, "bad.cbf");
    tmp_write(&p.dir, "bad.cbf", to, file.n);
    learn();
    const uint64_t first = h.chunk[0].sequences + (edits[_i].whole_chunk ? 0 : 2);
    const uint64_t end = edits[_i].whole_chunk ? first + h.chunk[1].sequences : first + 1;
    for (int w = 0; w < WAYS; w++) {
        const struct sweep good = read_sweep(path, ways[w]), other = read_sweep(bad, ways[w]);
        snprintf(what, sizeof(what), "edit %d, %s", _i, ways[w]);
        must_be_lost(&good, &other, first, end, what);
        if (strstr(ways[w], "skip") != NULL)
            continue;
        ck_assert_msg(strstr(other.first.message, "bad.cbf: sequence ") != NULL, "%s: %s", what,
                      other.first.message);
        ck_assert_msg(strstr(other.first.message, edits[_i].says) != NULL, "%s: %s", what,
                      other.first.message);
        snprintf(says, sizeof(says), "byte %llu", (unsigned long long)other.first.offset);
        ck_assert_msg(strstr(other.first.message, says) != NULL, "%s: %s", what,
                      other.first.message);
        ck_assert_uint_ge(other.first.offset, h.chunk[1].offset);
        ck_assert_uint_le(other.first.offset, h.chunk[1].offset + h.chunk[1].bytes);
    }
    free(to);
}

static const char *bad_now;
static bool shuffled;

static struct imrec_iter *open_bad(const char *words)
{
    char all[200];
    snprintf(all, sizeof(all), "%s rand_crop=1 %s", shuffled ? "shuffle=1 seed=4" : "", words);
    return pair_open(bad_now, all);
}

LOOP_TEST(lost_sequences_are_replaced, 0, EDITS) /* _i: edit */
{
    uint8_t *to = malloc(file.n);
    memcpy(to, file.p, file.n);
    damage(to, (enum edit)_i);
    bad_now = kept_path(&p, "bad.cbf");
    tmp_write(&p.dir, "bad.cbf", to, file.n);
    for (int i = 0; i < 2; i++) {
        shuffled = i != 0;
        ck_assert_uint_ne(replacing_must_hold(open_bad, 1, 2, edits[_i].says), 0);
    }
    free(to);
}

TEST(sequences_are_counted_in_their_own_file)
{
    uint8_t *to = malloc(file.n);
    struct imrec_batch b;
    struct imrec_error err = {0};
    char both[900], says[64];
    memcpy(to, file.p, file.n);
    damage(to, WRONG_ID);
    tmp_write(&p.dir, "bad.cbf", to, file.n);
    snprintf(both, sizeof(both), "%s;%s", path, tmp_path(&p.dir, "bad.cbf"));
    struct imrec_iter *it = pair_open(both, "num_parts=2 part_index=1 batch_size=24");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    snprintf(says, sizeof(says), "bad.cbf: sequence %u, byte ", h.chunk[0].sequences + 2);
    ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
    imrec_iter_close(it);
    free(to);
}

LOOP_TEST(no_flipped_byte_does_more_than_lose_samples, 0, 3)
{
    uint8_t *to = malloc(file.n);
    struct imrec_batch b;
    struct imrec_error err;
    memcpy(to, file.p, file.n);
    for (size_t at = (size_t)_i; at<file.n; at += at> h.table - 60 ? 1 : 97) {
        struct imrec_iter *it;
        to[at] ^= (uint8_t)(1 + at % 255);
        tmp_write(&p.dir, "bad.cbf", to, file.n);
        to[at] = file.p[at];
        char bad[400];
        snprintf(bad, sizeof(bad), "%s", tmp_path(&p.dir, "bad.cbf"));
        if (pair_try_open(bad, "preprocess_threads=1", &it, &err) != IMREC_OK) {
            ck_assert_msg(at < 12 || at >= h.table - 200, "byte %zu: %s", at, err.message);
            ck_assert_msg(strstr(err.message, "bad.cbf") != NULL, "%s", err.message);
            continue;
        }
        enum imrec_status st;
        while ((st = imrec_iter_next(it, &b, &err)) != IMREC_END)
            ck_assert(st == IMREC_OK || st == IMREC_ERR_DATA);
        imrec_iter_close(it);
    }
    free(to);
}

/* ---- storage -------------------------------------------------------------------------------- */

static const char *scripted(const struct fault_script *s)
{
    static char uri[500];
    ck_assert_int_eq(fault_set("cbf", s, NULL), IMREC_OK);
    snprintf(uri, sizeof(uri), "fault://script=cbf:%s", path);
    return uri;
}

TEST(short_and_interrupted_reads_change_nothing)
{
    learn();
    const struct sweep good = read_sweep(path, ways[2]);
    const struct sweep other =
        read_sweep(scripted(&(struct fault_script){.short_bytes = 7, .interrupt = 3}), ways[2]);
    must_be_lost(&good, &other, 0, 0, "short");
}

LOOP_TEST(unreadable_pages_lose_what_is_in_them, 0, 2) /* _i: of images; of the small streams */
{
    learn();
    const uint64_t page = where(2, _i == 0 ? IMAGE : LABEL, 1) / 4096 * 4096;
    const char *uri = scripted(&(struct fault_script){.bad_begin = page, .bad_end = page + 1});
    for (int w = 0; w < WAYS; w++) {
        const struct sweep good = read_sweep(path, ways[w]), other = read_sweep(uri, ways[w]);
        ck_assert_uint_gt(other.failed, 0);
        ck_assert_uint_lt(other.failed, MOST / 2);
        for (uint32_t i = 0; i < MOST; i++)
            ck_assert(other.sample[i].status != IMREC_OK ||
                      other.sample[i].hash == good.sample[i].hash);
        if (strstr(ways[w], "skip") == NULL)
            ck_assert_ptr_nonnull(strstr(other.first.message, "Input/output error"));
    }
}

TEST(a_read_that_fails_once_is_tried_again_or_told)
{
    learn();
    uint32_t refused = 0;
    const struct sweep good = read_sweep(path, ways[0]);
    for (uint64_t n = 1; n < 60; n++) {
        struct imrec_iter *it;
        struct imrec_error err;
        const char *uri = scripted(&(struct fault_script){.read_eio = n});
        if (pair_try_open(uri, ways[0], &it, &err) != IMREC_OK) {
            ck_assert_int_eq(err.status, IMREC_ERR_IO);
            refused++;
            continue;
        }
        imrec_iter_close(it);
        const struct sweep other =
            read_sweep(scripted(&(struct fault_script){.read_eio = n}), ways[0]);
        must_be_lost(&good, &other, 0, 0, "once");
    }
    ck_assert_uint_le(refused, 3); /* the header's */
}

TEST(a_file_that_ends_early_is_refused_by_name)
{
    for (uint64_t end = 0; end<file.n; end += end> file.n - 40 ? 1 : 1001) {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        tmp_write(&p.dir, "bad.cbf", file.p, (size_t)end);
        char bad[400];
        snprintf(bad, sizeof(bad), "%s", tmp_path(&p.dir, "bad.cbf"));
        ck_assert_int_ne(pair_try_open(bad, "", &it, &err), IMREC_OK);
        ck_assert_msg(strstr(err.message, "bad.cbf") != NULL, "%s", err.message);
    }
}

TEST(opening_fails_cleanly_when_the_nth_allocation_fails)
{
    STARVING_SOME(memory)
    {
        struct imrec_iter *it;
        struct imrec_error err = {0};
        memory.st = pair_try_open(path, "shuffle=1", &it, &err);
        ck_assert(memory.st == IMREC_OK || (it == NULL && err.message[0] != '\0'));
        imrec_iter_close(it);
    }
}

TEST(the_steady_state_allocates_nothing)
{
    struct imrec_batch b;
    struct imrec_iter *it = pair_open(path, "shuffle=1 rand_crop=1 resize=13");
    for (int i = 0; i < 600; i++)
        ck_assert_int_le(imrec_iter_next(it, &b, NULL), IMREC_END);
    must_ask_for_no_memory(it, 300);
    imrec_iter_close(it);
}
