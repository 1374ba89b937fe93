/* tests/container/test_cbf_sets.c - CBF files as sets of images: which files are one set, their
 * labels, and where a message says that an image is. */
#include "base/alloc.h"
#include "container/cbf.h"
#include "container/container.h"
#include "storage/mem.h"
#include "tests/support/cbf_support.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

enum { STREAMS = 3, IMAGES = 3 };

static struct imrec_error g_err;
static uint32_t g_samples[IMAGES] = {1, 1, 1}; /* of each sequence: more than one is no image */

static void teardown(void)
{
    mem_clear();
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static void put_u32(struct buf *b, uint32_t v)
{
    uint8_t le[4];
    store_le32(le, v);
    ck_assert_int_eq(buf_append(b, le, sizeof(le), NULL), IMREC_OK);
}

static void put_value(struct buf *b, enum stream_element element, double d)
{
    const float f = (float)d;
    ck_assert_int_eq(element == STREAM_FLOAT ? buf_append(b, &f, 4, NULL)
                                             : buf_append(b, &d, 8, NULL),
                     IMREC_OK);
}

/* A sequence: dense `value` again and again, sparse one sample at the index `value`. */
static void
put_sequence(struct buf *b, const struct stream_info *info, uint32_t samples, uint32_t value)
{
    put_u32(b, samples);
    if (info->storage == STREAM_DENSE) {
        for (uint32_t i = 0; i < samples * info->dim; i++)
            put_value(b, info->element, value);
        return;
    }
    put_u32(b, 1);
    put_value(b, info->element, 1);
    put_u32(b, value);
    put_u32(b, 1);
}

/* A file of IMAGES sequences, whose values are first, first + 1 ... */
static void put_file(const char *name, const struct stream_info *info, uint32_t first)
{
    struct buf body[STREAMS], out = BUF_INIT(1 << 20);
    uint64_t offset[STREAMS][IMAGES + 1];
    struct chunk_stream stream[STREAMS];
    struct cbf_writer *w;
    uint32_t n = 0;
    for (; n < STREAMS && info[n].name != NULL; n++) {
        body[n] = BUF_INIT(1 << 20);
        for (uint32_t k = 0; k < IMAGES; k++) {
            offset[n][k] = body[n].n;
            put_sequence(&body[n], &info[n], g_samples[k], first + k);
        }
        offset[n][IMAGES] = body[n].n;
        stream[n] = (struct chunk_stream){body[n].p, offset[n]};
    }
    const struct sequence_chunk c = {
        .sequences = IMAGES, .streams = n, .length = g_samples, .stream = stream};
    ck_assert_int_eq(cbf_writer_new(info, n, 0, cbf_to_buf, &out, &w, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_add(w, &c, NULL), IMREC_OK);
    ck_assert_int_eq(cbf_writer_finish(w, NULL), IMREC_OK);
    ck_assert_int_eq(mem_put(name, out.p, out.n, NULL), IMREC_OK);
    cbf_writer_free(w);
    buf_free(&out);
    for (uint32_t i = 0; i < n; i++)
        buf_free(&body[i]);
}

#define DENSE(name, dim)                                                                           \
    {                                                                                              \
        name, name, STREAM_DENSE, STREAM_FLOAT, dim, false                                         \
    }
#define DOUBLE(name, dim)                                                                          \
    {                                                                                              \
        name, name, STREAM_DENSE, STREAM_DOUBLE, dim, false                                        \
    }
#define SPARSE(name, dim)                                                                          \
    {                                                                                              \
        name, name, STREAM_SPARSE, STREAM_FLOAT, dim, false                                        \
    }

static const struct stream_info usual[] = {DENSE("features", 12), DENSE("labels", 1), {0}};

static enum imrec_status
open_both(const struct stream_info *a, const struct stream_info *b, struct container *c)
{
    const struct container_options o = {
        .path_imgrec = "mem://a.cbf;mem://b.cbf", .num_parts = 1, .cell_bytes = 4096};
    put_file("a.cbf", a, 0);
    put_file("b.cbf", b, IMAGES);
    return container_open(&o, c, &g_err);
}

CASE(.teardown = teardown)

static const struct {
    struct stream_info a[STREAMS], b[STREAMS];
    uint32_t labels; /* of an image; UINT32_MAX: they are no set */
} pairs[] = {
    {{DENSE("features", 12), DENSE("labels", 1)}, {DENSE("features", 12), DENSE("labels", 1)}, 1},
    {{DENSE("features", 12)}, {DENSE("features", 12)}, 0},
    {{DENSE("features", 12), DENSE("label", 2)}, {DENSE("label", 2), DENSE("features", 12)}, 2},
    {{DENSE("features", 12), SPARSE("labels", 9)}, {DENSE("features", 12), SPARSE("labels", 9)}, 1},
    {{DENSE("features", 12), DENSE("labels", 1)}, {DENSE("features", 12)}, UINT32_MAX},
    {{DENSE("features", 12)}, {DENSE("features", 12), DENSE("labels", 1)}, UINT32_MAX},
    {{DENSE("features", 12), DENSE("labels", 1)},
     {DENSE("features", 12), DENSE("labels", 2)},
     UINT32_MAX},
    {{DENSE("features", 12), DENSE("labels", 9)},
     {DENSE("features", 12), SPARSE("labels", 9)},
     UINT32_MAX},
    {{DENSE("features", 12), DENSE("id", 4)}, {DENSE("features", 12)}, UINT32_MAX},
    {{DENSE("features", 12)}, {DENSE("features", 13)}, UINT32_MAX},
    {{DENSE("features", 12)}, {DOUBLE("features", 12)}, UINT32_MAX},
    {{DENSE("features", 1)}, {DENSE("image", 1), DENSE("image_bytes", 2)}, UINT32_MAX},
};

LOOP_TEST(files_of_one_kind_are_a_set, 0, COUNT(pairs))
{
    struct container c;
    const enum imrec_status st = open_both(pairs[_i].a, pairs[_i].b, &c);
    if (pairs[_i].labels == UINT32_MAX) {
        ck_assert_int_eq(st, IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(g_err.message, "mem://a.cbf and mem://b.cbf cannot be one set: their "
                                            "streams of images, labels or ids differ") != NULL,
                      "%s", g_err.message);
        return;
    }
    ck_assert_msg(st == IMREC_OK, "%s", g_err.message);
    ck_assert_ptr_eq(c.kind, &cbf_kind);
    ck_assert_uint_eq(c.unit_count, 2 * IMAGES);
    ck_assert_uint_eq(c.label_count, pairs[_i].labels);
    for (uint64_t i = 0; i < c.unit_count; i++) {
        struct parse_room room = {0};
        struct record x;
        const struct record_ref r = {.unit = i, .shard = c.records[i].shard};
        ck_assert_int_eq(c.kind->parse(&c, &r, RECORD_LABELS, &room, &x, &g_err), IMREC_OK);
        ck_assert_uint_eq(x.label_count, pairs[_i].labels);
        for (uint32_t k = 0; k < x.label_count; k++)
            ck_assert(record_label(&x, k) == (float)i);
    }
    container_close(&c);
}

/* Of a lost image the place of what is wrong, of others their own. */
TEST(a_place_is_a_sequence_of_its_file_and_a_byte)
{
    static const struct {
        bool lost;
        uint64_t offset, at;
    } rows[] = {{true, 5, 5}, {true, IMREC_NO_OFFSET, 77}, {false, 5, 77}};
    struct container c;
    char text[96], want[96];
    ck_assert_msg(open_both(usual, usual, &c) == IMREC_OK, "%s", g_err.message);
    for (uint64_t i = 0; i < 2 * IMAGES; i++)
        for (int k = 0; k < COUNT(rows); k++) {
            const struct record_ref r = {
                .unit = i, .offset = 77, .lost = rows[k].lost, .shard = c.records[i].shard};
            const struct imrec_error why = {.offset = rows[k].offset};
            ck_assert_uint_eq(container_describe(&c, &r, &why, text), rows[k].at);
            (void)snprintf(want, sizeof(want), "sequence %u, byte %u", (unsigned)i % IMAGES,
                           (unsigned)rows[k].at);
            ck_assert_str_eq(text, want);
        }
    container_close(&c);
}

TEST(each_lost_image_has_its_own_reason)
{
    struct container c;
    g_samples[0] = 2;
    g_samples[1] = 3;
    ck_assert_msg(open_both(usual, usual, &c) == IMREC_OK, "%s", g_err.message);
    ck_assert_uint_eq(c.unit_count, 2 * IMAGES);
    for (uint64_t i = 0; i < c.unit_count; i++) {
        const struct imrec_error *why = c.kind->lost(&c, i);
        if (i % IMAGES == 2) {
            ck_assert_ptr_null(why);
            continue;
        }
        ck_assert_ptr_nonnull(why);
        ck_assert_msg(strstr(why->message, i % IMAGES == 0 ? " 2 samples" : " 3 samples") != NULL,
                      "%s", why->message);
    }
    container_close(&c);
}
