/* tests/iter/test_source_faults.c - sources that fail, or say what is not so: each is told of with
 * the file and the record, and nothing outside the record is read. */
#include "tests/support/iter_pair.h"
#include "tests/support/suite.h"

enum { RECORDS = 8, SIDE = 12, BYTES = SIDE * SIDE * 3 };

/* The file: RECORDS images of SIDE x SIDE RGB, one behind the other. "how" is the source's
 * params: what the third record (or its listing) does. */
static bool is(const char *params, const char *how)
{
    return strcmp(params, how) == 0;
}

static enum imrec_status say(struct imrec_error *err, const char *why, enum imrec_status st)
{
    snprintf(err->message, sizeof(err->message), "%s", why);
    return st;
}

static enum imrec_status list(struct imrec_source_file *f, struct imrec_error *err)
{
    uint8_t byte;
    f->state = f->user;
    if (is(f->params, "no list"))
        return say(err, "the list is torn", IMREC_ERR_CORRUPT);
    if (is(f->params, "silent"))
        return IMREC_ERR_CORRUPT;
    if (is(f->params, "end"))
        return IMREC_END;
    if (is(f->params, "read behind"))
        return f->read(f, f->size - 3, &byte, 4, err);
    if (is(f->params, "read far"))
        return f->read(f, UINT64_MAX, &byte, 1, err);
    if (is(f->params, "nothing"))
        return IMREC_OK;
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint64_t at = i * BYTES, n = BYTES;
        if (i == 2 && is(f->params, "empty"))
            n = 0;
        if (i == 2 && is(f->params, "back"))
            at -= 1;
        if (i == 2 && is(f->params, "twice"))
            at = BYTES;
        if (i == RECORDS - 1 && (is(f->params, "long") || is(f->params, "long, hidden")))
            n++;
        if (is(f->params, "shorter"))
            n--;
        if (i == 2 && is(f->params, "huge"))
            n = UINT64_MAX - 100;
        if (i == 2 && is(f->params, "far"))
            at = UINT64_MAX - 10;
        const enum imrec_status st = f->add(f, at, n, 100 + i, err);
        if (st != IMREC_OK && !is(f->params, "long, hidden"))
            return st;
    }
    return IMREC_OK;
}

static void misdescribe(const struct imrec_source_call *c, struct imrec_image *p)
{
    if (is(c->params, "tall"))
        p->height++;
    if (is(c->params, "wide"))
        p->width++;
    if (is(c->params, "flat"))
        p->height = 0;
    if (is(c->params, "two channels"))
        p->channels = 2;
    if (is(c->params, "giant"))
        p->width = p->height = UINT32_MAX;
    if (is(c->params, "giant stride"))
        p->stride = SIZE_MAX - 1;
    if (is(c->params, "narrow stride"))
        p->stride = 1;
    if (is(c->params, "before"))
        p->pixels -= 1;
    if (is(c->params, "behind"))
        p->pixels += 1;
    if (is(c->params, "elsewhere"))
        p->pixels = c->user;
}

static enum imrec_status
parse(const struct imrec_source_call *c, struct imrec_source_sample *out, struct imrec_error *err)
{
    out->label_count = 1;
    c->labels[0] = (float)(c->id - 100);
    out->image = (struct imrec_image){(uint8_t *)(uintptr_t)c->bytes, 3 * SIDE, SIDE, SIDE, 3};
    if (is(c->params, "boxes")) {
        const float label[] = {2, 5, 1, 0.25f, 0.25f, 0.75f, 0.5f};
        out->label_count = 7;
        memcpy(c->labels, label, sizeof(label) < 4 * c->label_room ? sizeof(label) : 0);
    }
    if (is(c->params, "room")) { /* the image is made in it */
        uint8_t *room = c->room(c, 10);
        if (room == NULL || (room = c->room(c, c->n)) == NULL)
            return IMREC_ERR_NO_MEMORY;
        out->image.pixels = memcpy(room, c->bytes, c->n);
    }
    if (c->id != 102)
        return IMREC_OK;
    misdescribe(c, &out->image);
    if (is(c->params, "fails"))
        return say(err, "no luck", IMREC_ERR_CORRUPT);
    if (is(c->params, "fails as END"))
        return IMREC_END;
    if (is(c->params, "none"))
        out->image.pixels = NULL;
    if (is(c->params, "many labels"))
        out->label_count = UINT32_MAX;
    if (is(c->params, "much room") && c->room(c, SIZE_MAX) == NULL)
        return say(err, "no room", IMREC_ERR_LIMIT);
    out->encoded = is(c->params, "no image") || is(c->params, "encoded long") ? c->bytes : NULL;
    out->encoded_bytes = c->n + is(c->params, "encoded long");
    return IMREC_OK;
}

static int closed;

static void count_close(void *state, void *user)
{
    ck_assert_ptr_eq(state, user);
    closed++;
}

static struct tmpdir dir;
static uint8_t file[RECORDS * BYTES];

static void setup(void)
{
    static const struct imrec_source toy = {0, 0, NULL, list, parse, count_close};
    dir = tmpdir_make();
    for (size_t i = 0; i < sizeof(file); i++)
        file[i] = (uint8_t)(i * 2654435761u >> 24);
    ck_assert_int_eq(imrec_source_register("toy", &toy, file, NULL), IMREC_OK);
}

static void teardown(void)
{
    tmpdir_remove(&dir);
}

static enum imrec_status
try(const char *params, const char *uri, struct imrec_iter **it, struct imrec_error *err)
{
    char source[64];
    struct imrec_iter_options o;
    imrec_iter_options_init(&o);
    snprintf(source, sizeof(source), "toy(%s)", params);
    o.source = source;
    o.path_imgrec = uri;
    o.data_shape = (struct imrec_shape){3, SIDE, SIDE};
    o.batch_size = RECORDS;
    o.max_pixels = 1 << 20;
    o.preprocess_threads = 3;
    o.dtype = IMREC_UINT8;
    o.layout = IMREC_NHWC;
    o.verbose = false;
    return imrec_iter_open(&o, it, err);
}

static const char *write_file(void)
{
    return tmp_write(&dir, "toy", file, sizeof(file));
}

static const struct {
    const char *how, *why;
} not_listed[] = {
    {"no list", "toy: source toy: the list is torn"},
    {"silent", "source toy: failed and does not say why"},
    {"end", "source toy: failed and does not say why"},
    {"read behind", "bytes 3453 to 3457 are asked for, of 3456"},
    {"read far", "are asked for, of 3456"},
    {"empty", "the record at byte 864 has 0 bytes, it may have 1 to 2^31"},
    {"back", "the record at byte 863 begins before the one that was added last ends, at 864"},
    {"twice", "the record at byte 432 begins before"},
    {"long", "the record at byte 3024 has 433 bytes, the file ends at 3456"},
    {"long, hidden", "the record at byte 3024 has 433 bytes, the file ends at 3456"},
    {"huge", "it may have 1 to 2^31"},
    {"far", "the file ends at 3456"},
};
enum { NOT_LISTED = sizeof(not_listed) / sizeof(*not_listed) };

CASE(.setup = setup, .teardown = teardown)

LOOP_TEST(a_list_that_cannot_be_is_refused_at_opening, 0, NOT_LISTED)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    ck_assert_int_ne(try(not_listed[_i].how, write_file(), &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, not_listed[_i].why) != NULL, "%s", err.message);
    ck_assert_ptr_null(it);
    ck_assert_int_eq(closed, 1);
}

static const struct {
    const char *how, *why;
} not_parsed[] = {
    {"fails", "record at byte 864, id 102: source toy: no luck"},
    {"fails as END", "source toy: failed and does not say why"},
    {"none", "it gave neither a compressed image nor pixels"},
    {"tall", "an image of 468 bytes is neither within the record's 432 bytes nor in the room"},
    {"wide", "stride is 36, its rows have 39 bytes"},
    {"flat", "no image has 3 channels, height 0, width 12"},
    {"two channels", "no image has 2 channels"},
    {"giant", "max_pixels is 1048576"},
    {"giant stride", "stride is"},
    {"narrow stride", "stride is 1, its rows have 36 bytes"},
    {"before", "is neither within the record"},
    {"behind", "an image of 432 bytes is neither within the record"},
    {"elsewhere", "is neither within the record"},
    {"many labels", "the record has 4294967295 labels, but label_width is 1"},
    {"much room", "source toy: no room"},
    {"no image", "record at byte 864, id 102"},
    {"encoded long", "a compressed image of 433 bytes is neither"},
};
enum { NOT_PARSED = sizeof(not_parsed) / sizeof(*not_parsed) };

LOOP_TEST(a_record_that_cannot_be_fails_alone, 0, NOT_PARSED)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    struct imrec_batch b;
    ck_assert_msg(try(not_parsed[_i].how, write_file(), &it, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_msg(strstr(err.message, not_parsed[_i].why) != NULL, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(err.message, "/toy: record at byte 864, id 102: "));
    ck_assert_uint_eq(err.offset, 2 * BYTES);
    for (uint32_t i = 0; i < RECORDS; i++) {
        const uint8_t *slot = (const uint8_t *)b.data + (size_t)i * BYTES;
        ck_assert_int_eq(b.valid[i], i != 2);
        ck_assert(i == 2 || memcmp(slot, file + (size_t)i * BYTES, BYTES) == 0);
    }
    imrec_iter_close(it);
    ck_assert_int_eq(closed, 1);
}

LOOP_TEST(pixels_of_the_record_or_the_room_reach_the_batch, 0, 2) /* _i: which */
{
    struct imrec_iter *it;
    struct imrec_batch b;
    ck_assert_int_eq(try(_i ? "room" : "", write_file(), &it, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_mem_eq(b.data, file, sizeof(file));
    for (uint32_t i = 0; i < RECORDS; i++)
        ck_assert(b.labels[i] == (float)i && b.ids[i] == 100 + i);
    imrec_iter_close(it);
}

TEST(bytes_that_cannot_be_read_fail_their_records) /* storage's fault, not the source's */
{
    char uri[600];
    struct imrec_iter *it;
    struct imrec_batch b;
    struct imrec_error err = {0};
    snprintf(uri, sizeof(uri), "fault://bad_begin=900,bad_end=901:%s", write_file());
    ck_assert_msg(try("", uri, &it, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_ERR_DATA);
    ck_assert_uint_eq(b.failed, RECORDS); /* a page is lost, and they all stand in it */
    ck_assert_msg(strstr(err.message, "toy: record at byte 0, id 100: ") != NULL, "%s",
                  err.message);
    imrec_iter_close(it);
}

TEST(a_position_names_the_records_lengths_too)
{
    struct imrec_iter *a, *b;
    const char *json;
    ck_assert_int_eq(try("", write_file(), &a, NULL), IMREC_OK);
    ck_assert_int_eq(try("shorter", write_file(), &b, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(a, &json, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_seek(b, json, NULL), IMREC_ERR_ARGUMENT);
    imrec_iter_close(a);
    imrec_iter_close(b);
}

TEST(labels_with_boxes_come_from_a_source_too)
{
    const float wanted[] = {3, SIDE, SIDE, 7, 2, 5, 1, 0.25f, 0.25f, 0.75f, 0.5f, -1, -1};
    struct imrec_batch b;
    struct imrec_iter *it = pair_open(write_file(), "source=toy(boxes) preset=ImageDetRecordIter "
                                                    "label_pad_width=9 resize_mode=force");
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_OK);
    ck_assert_uint_eq(b.label_width, 13);
    for (uint32_t i = 0; i < b.slots; i++)
        ck_assert_mem_eq(b.labels + (size_t)i * 13, wanted, sizeof(wanted));
    imrec_iter_close(it);
}

TEST(an_empty_list_is_an_empty_set)
{
    struct imrec_iter *it;
    struct imrec_batch b;
    ck_assert_int_eq(try("nothing", write_file(), &it, NULL), IMREC_OK);
    ck_assert_int_eq(imrec_iter_next(it, &b, NULL), IMREC_END);
    imrec_iter_close(it);
}

static const struct {
    const char *words, *why;
} refused[] = {
    {"source=" SOURCES ":older", "was built for version 2 of imrec/source.h, this is version 1"},
    {"source=" SOURCES ":emptied", "has no functions index and parse"},
    {"source=" SOURCES ":words",
     "is not a source: IMREC_SOURCE(words, suffix, index, parse, close)"},
    {"source=" SOURCES ":missing", "has no symbol 'missing'"},
    {"source=strange", "source: 'strange' is not registered"},
    {"source=toy(1", "has no ) at its end"},
    {"source=toy path_imgidx=a.idx", "source=toy lists its records itself"},
    {"source=toy preset=ImageDetRecordIter", "label_pad_width must be given"},
};
enum { REFUSED = sizeof(refused) / sizeof(*refused) };

LOOP_TEST(what_cannot_be_a_source_is_refused, 0, REFUSED)
{
    struct imrec_iter *it;
    struct imrec_error err = {0};
    ck_assert_int_ne(pair_try_open(write_file(), refused[_i].words, &it, &err), IMREC_OK);
    ck_assert_msg(strstr(err.message, refused[_i].why) != NULL, "%s", err.message);
}

TEST(names_are_given_once)
{
    const struct imrec_source s = {0, 0, NULL, list, parse, NULL},
                              half = {0, 0, NULL, list, NULL, NULL};
    ck_assert_int_eq(imrec_source_register("toy", &s, NULL, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_source_register("a b", &s, NULL, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_source_register("half", &half, NULL, NULL), IMREC_ERR_ARGUMENT);
    ck_assert_int_eq(imrec_source_register(NULL, &s, NULL, NULL), IMREC_ERR_ARGUMENT);
}
