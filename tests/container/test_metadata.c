/* Headers and identities of insightface's files: which records are metadata, and who passes over
 * them. */
#include "base/alloc.h"
#include "container/metadata.h"
#include "container/recordio_kind.h"
#include "imrec/records.h"
#include "storage/fault.h"
#include "tests/support/identities.h"
#include "tests/support/loading.h"
#include "tests/support/suite.h"

#include <unistd.h>

static struct imrec_error err;

static void teardown(void)
{
    mem_clear();
    fault_forget("test");
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static struct container_options options(const char *rec, const char *idx)
{
    return (struct container_options){
        .path_imgrec = rec, .path_imgidx = idx, .num_parts = 1, .cell_bytes = 64};
}

static void must_open(const struct container_options *o, struct container *s)
{
    ck_assert_msg(container_open(o, s, &err) == IMREC_OK, "%s", err.message);
}

CASE(.teardown = teardown)

/* ---- which -------------------------------------------------------------------------------- */

LOOP_TEST(the_header_and_all_identities_are_found_in_either_order, 0, 16) /* bits of _i */
{
    struct identity_set set = {.header_first = _i & 1, .two_labels = _i & 2};
    const bool beside = _i & 4, used = _i & 8;
    struct container s;
    identity_make(&set);
    identity_store(&set, "a", beside || used);
    const struct container_options o = options("mem://a.rec", used ? "mem://a.idx" : "");
    must_open(&o, &s);
    ck_assert_uint_eq(s.metadata_count, 1 + IDENTITIES);
    uint32_t headers = 0;
    for (uint64_t i = 0, identity = 0; i < s.metadata_count; i++) {
        const struct metadata_record *m = &s.metadata[i];
        ck_assert(i == 0 || m->offset > m[-1].offset);
        ck_assert_ptr_eq(metadata_at(&s, 0, m->offset), m);
        ck_assert_ptr_null(metadata_at(&s, 1, m->offset));
        headers += m->header;
        if (!m->header)
            ck_assert_uint_eq(m->images, identity_sizes[identity++]);
    }
    ck_assert_uint_eq(headers, 1);
    if (used) {
        ck_assert_uint_eq(s.record_total, IDENTITY_IMAGES);
        for (uint64_t i = 0; i < s.unit_count; i++)
            ck_assert_uint_eq(s.records[i].key, i + 1);
        if (!set.header_first) /* and what is read with the last image ends where it does */
            ck_assert_uint_eq(container_unit(&s, s.unit_count - 1).end, s.metadata[0].offset);
    }
    container_close(&s);
    identity_free(&set);
}

/* A set that is like one of insightface's, but for one thing. */
static const struct {
    const char *what;
    float header[2];
    uint64_t key; /* of one record more; 0: none */
    float range[2];
    bool image;
    uint64_t metadata; /* of the whole set */
} odd[] = {
    {"a header whose range has no key", {500, 600}, 0, {0}, false, 0},
    {"a header that names images", {1, 5}, 0, {0}, false, 0},
    {"a header that names itself", {0, 5}, 0, {0}, false, 0},
    {"a header that names everything", {0, 20}, 0, {0}, false, 0},
    {"a header that runs backwards", {20, 15}, 0, {0}, false, 0},
    {"a header that names nothing", {15, 15}, 0, {0}, false, 0},
    {"a header of broken numbers", {15.5f, 20}, 0, {0}, false, 0},
    {"a header of an endless range", {15, 1e30f}, 0, {0}, false, 0},
    {"a range behind the header's", {0}, 40, {1, 4}, false, 6},
    {"an identity of keys that are not there", {15, 50}, 40, {500, 501}, false, 6},
    {"an identity of identities", {15, 50}, 40, {15, 20}, false, 6},
    {"an identity of a single key that is not there", {15, 50}, 40, {60, 61}, false, 6},
    {"an identity of the header", {15, 50}, 40, {0, 3}, false, 6},
    {"an identity of everything", {15, 50}, 40, {1, 20}, false, 6},
    {"an identity of no whole numbers", {15, 50}, 40, {1, 3.5f}, false, 6},
    {"an image among the identities", {15, 50}, 40, {1, 4}, true, 6},
    {"one identity more", {15, 50}, 40, {1, 4}, false, 7},
};

LOOP_TEST(anything_else_stays_a_sample, 0, COUNT(odd))
{
    struct identity_set set = {.header = {odd[_i].header[0], odd[_i].header[1]},
                               .odd_key = odd[_i].key,
                               .odd = {odd[_i].range[0], odd[_i].range[1]},
                               .odd_image = odd[_i].image};
    struct container s;
    identity_make(&set);
    identity_store(&set, "a", true);
    for (int used = 0; used < 2; used++) {
        const struct container_options o = options("mem://a.rec", used ? "mem://a.idx" : "");
        must_open(&o, &s);
        ck_assert_msg(s.metadata_count == odd[_i].metadata, "%s: %llu", odd[_i].what,
                      (unsigned long long)s.metadata_count);
        if (used)
            ck_assert_uint_eq(s.record_total + s.metadata_count,
                              IDENTITY_IMAGES + 1 + IDENTITIES + (odd[_i].key != 0));
        container_close(&s);
    }
    identity_free(&set);
}

TEST(images_that_were_left_out_are_holes_in_a_range)
{
    struct identity_set set = {.rec = BUF_INIT(1 << 20), .idx = BUF_INIT(1 << 16)};
    static const float header[2] = {11, 13}, first[2] = {1, 6}, second[2] = {6, 11};
    struct container s;
    for (uint64_t key = 2; key < 10; key++) /* 1, 5 and 10 are not there */
        if (key != 5)
            identity_put(&set, key, 0, NULL, true);
    identity_put(&set, 0, 0, header, false);
    identity_put(&set, 11, 0, first, false);
    identity_put(&set, 12, 0, second, false);
    identity_store(&set, "a", false);
    const struct container_options o = options("mem://a.rec", "");
    must_open(&o, &s);
    ck_assert_uint_eq(s.metadata_count, 3);
    ck_assert_uint_eq(s.metadata[1].images, 3);
    ck_assert_uint_eq(s.metadata[2].images, 4);
    container_close(&s);
    identity_free(&set);
}

LOOP_TEST(identities_may_have_the_smaller_keys, 0, 2) /* _i: the header names itself, or not */
{
    struct identity_set set = {.rec = BUF_INIT(1 << 20), .idx = BUF_INIT(1 << 16)};
    const float header[2] = {_i ? 0 : 1, 3}, first[2] = {10, 13}, second[2] = {13, 16};
    struct container s;
    identity_put(&set, 0, 0, header, false);
    identity_put(&set, 1, 0, first, false);
    identity_put(&set, 2, 0, second, false);
    for (uint64_t key = 10; key < 16; key++)
        identity_put(&set, key, 0, NULL, true);
    identity_store(&set, "a", false);
    const struct container_options o = options("mem://a.rec", "");
    must_open(&o, &s);
    ck_assert_uint_eq(s.metadata_count, _i ? 0 : 3);
    container_close(&s);
    identity_free(&set);
}

TEST(keys_beyond_what_float32_holds_are_found_all_the_same)
{
    struct identity_set set = {.rec = BUF_INIT(1 << 20), .idx = BUF_INIT(1 << 16)};
    const uint64_t base = (1u << 25) + 3; /* floats step by 4 there */
    const float header[2] = {(float)(base + 6), (float)(base + 9)};
    struct container s;
    for (uint64_t i = 0; i < 6; i++)
        identity_put(&set, base + i, 0, NULL, true);
    identity_put(&set, 0, 0, header, false);
    for (uint64_t i = 0; i < 3; i++) {
        const float range[2] = {(float)(base + 2 * i), (float)(base + 2 * i + 2)};
        identity_put(&set, base + 6 + i, 0, range, false);
    }
    identity_store(&set, "a", true);
    const struct container_options o = options("mem://a.rec", "mem://a.idx");
    must_open(&o, &s);
    ck_assert_uint_eq(s.metadata_count, 4);
    ck_assert_uint_eq(s.record_total, 6);
    container_close(&s);
    identity_free(&set);
}

TEST(an_index_of_other_keys_does_not_hide_the_ids)
{
    struct identity_set set = {0};
    struct container s;
    char text[1024] = "", line[64];
    identity_make(&set);
    identity_store(&set, "a", true);
    struct container_options o = options("mem://a.rec", "mem://a.idx");
    must_open(&o, &s); /* for the offsets: every head of the shard */
    uint64_t offsets[IDENTITY_IMAGES + 1 + IDENTITIES], n = 0;
    for (uint64_t i = 0; i < s.record_total; i++)
        offsets[n++] = s.records[i].offset;
    for (uint64_t i = 0; i < s.metadata_count; i++)
        offsets[n++] = s.metadata[i].offset;
    container_close(&s);
    for (uint64_t i = 0; i < n; i++) { /* a counter, as MXNet's rec2idx.py writes */
        snprintf(line, sizeof(line), "%d\t%d\n", (int)i, (int)offsets[i]);
        strcat(text, line);
    }
    ck_assert_int_eq(mem_put("a.idx", text, strlen(text), &err), IMREC_OK);
    o.path_imgidx = "";
    must_open(&o, &s);
    ck_assert_uint_eq(s.metadata_count, 1 + IDENTITIES);
    container_close(&s);
    identity_free(&set);
}

TEST(a_header_in_front_is_enough_to_look)
{
    struct identity_set set = {.header_first = true};
    struct container s;
    identity_make(&set);
    identity_put(&set, 100, 0, NULL, true); /* an image is the last one */
    identity_store(&set, "a", false);
    const struct container_options o = options("mem://a.rec", "");
    must_open(&o, &s);
    ck_assert_uint_eq(s.metadata_count, 1 + IDENTITIES);
    container_close(&s);
    identity_free(&set);
}

LOOP_TEST(the_widest_label_is_that_of_an_image, 0, 2) /* _i: .idx beside or none */
{
    struct identity_set set = {0};
    struct container s;
    uint32_t widest;
    identity_make(&set);
    identity_store(&set, "a", _i);
    const struct container_options o = options("mem://a.rec", "");
    must_open(&o, &s);
    ck_assert_int_eq(recordio_widest_label(&s, true, &widest, &err), IMREC_OK);
    ck_assert_uint_eq(widest, 1);
    container_close(&s);
    identity_free(&set);
}

TEST(each_shard_has_a_header_of_its_own)
{
    struct identity_set set = {.header_first = true};
    struct container s;
    identity_make(&set);
    identity_store(&set, "a", true);
    identity_store(&set, "b", true);
    const struct container_options o =
        options("mem://a.rec;mem://b.rec", "mem://a.idx;mem://b.idx");
    must_open(&o, &s);
    ck_assert_uint_eq(s.metadata_count, 2 * (1 + IDENTITIES));
    ck_assert_uint_eq(s.record_total, 2 * IDENTITY_IMAGES);
    ck_assert_uint_eq(s.metadata[IDENTITIES + 1].shard, 1);
    container_close(&s);
    identity_free(&set);
}

/* ---- who passes over them ------------------------------------------------------------------ */

LOOP_TEST(windows_hold_the_images_and_nothing_else, 0, 4) /* _i: index or none, order */
{
    struct identity_set set = {.header_first = _i & 1};
    struct loading ld;
    uint64_t seen[IDENTITY_IMAGES + 1 + IDENTITIES] = {0};
    identity_make(&set);
    identity_store(&set, "a", true);
    const struct container_options o = options("mem://a.rec", _i & 2 ? "mem://a.idx" : "");
    loading_start(&ld, &o, 7, 3, 2);
    for (uint64_t i = 0; i < ld.o.windows; i++) {
        struct window *w = loading_take(&ld);
        ck_assert_uint_eq(w->damage_count, 0);
        for (uint64_t k = 0; k < w->count; k++) {
            struct image_record r;
            ck_assert(!w->records[k].lost);
            ck_assert_int_eq(image_record_parse(w->records[k].bytes, &r, &err), IMREC_OK);
            ck_assert_uint_gt(r.image.n, 0);
            seen[r.id]++;
        }
        loader_release(ld.loader, w);
    }
    for (uint64_t key = 0; key < sizeof(seen) / sizeof(seen[0]); key++)
        ck_assert_uint_eq(seen[key], key >= 1 && key <= IDENTITY_IMAGES);
    loading_stop(&ld);
    identity_free(&set);
}

LOOP_TEST(partitions_count_images_and_hold_as_many, 0, 4) /* _i: index or none, order */
{
    struct identity_set set = {.header_first = _i & 1};
    identity_make(&set);
    identity_store(&set, "a", true);
    for (uint64_t parts = 1; parts <= 8; parts++) {
        uint64_t sum = 0;
        for (uint64_t part = 0; part < parts; part++) {
            struct container_options o = options("mem://a.rec", _i & 2 ? "mem://a.idx" : "");
            struct loading ld;
            uint64_t counts[8], held = 0;
            o.num_parts = parts;
            o.part_index = part;
            loading_start(&ld, &o, 1000, 2, 1);
            ck_assert_int_eq(container_count(&ld.container, counts, &err), IMREC_OK);
            struct window *w = loading_take(&ld);
            held = w->count;
            loader_release(ld.loader, w);
            ck_assert_uint_eq(held, counts[part]);
            sum += held;
            loading_stop(&ld);
        }
        ck_assert_uint_eq(sum, IDENTITY_IMAGES);
    }
    identity_free(&set);
}

LOOP_TEST(a_reader_marks_them_in_a_row_and_numbers_only_images, 0, 4) /* _i: index or none, order */
{
    struct identity_set set = {.header_first = _i & 1};
    struct imrec_reader *r;
    struct imrec_record x;
    uint64_t count, headers = 0, identities = 0, images = 0;
    identity_make(&set);
    identity_store(&set, "a", _i & 2);
    ck_assert_msg(imrec_reader_open("mem://a.rec", 0, 1, &r, &err) == IMREC_OK, "%s", err.message);
    while (imrec_reader_next(r, &x, &err) == IMREC_OK) {
        ck_assert(x.is_image);
        headers += x.metadata == IMREC_HEADER;
        identities += x.metadata == IMREC_IDENTITY;
        images += x.metadata == IMREC_NO_METADATA;
        if (x.metadata == IMREC_HEADER)
            ck_assert(x.id == 0 && x.labels[0] == IDENTITY_IMAGES + 1 &&
                      x.labels[1] == IDENTITY_IMAGES + 1 + IDENTITIES);
    }
    ck_assert(headers == 1 && identities == IDENTITIES && images == IDENTITY_IMAGES);
    ck_assert_int_eq(imrec_reader_count(r, &count, &err), IMREC_OK);
    ck_assert_uint_eq(count, IDENTITY_IMAGES);
    for (uint64_t i = count; i-- > 0;) {
        ck_assert_msg(imrec_reader_get(r, i, &x, &err) == IMREC_OK, "%s", err.message);
        ck_assert(x.id == i + 1 && x.image_size != 0 && x.metadata == IMREC_NO_METADATA);
    }
    ck_assert_int_eq(imrec_reader_get(r, count, &x, &err), IMREC_ERR_ARGUMENT);
    imrec_reader_close(r);
    identity_free(&set);
}

/* ---- what it costs, and what can fail ------------------------------------------------------ */

static uint64_t reads_of_opening(const char *uri)
{
    struct imrec_reader *r;
    const struct fault_script none = {0};
    char faulty[64];
    snprintf(faulty, sizeof(faulty), "fault://script=test:%s", uri);
    ck_assert_int_eq(fault_set("test", &none, &err), IMREC_OK);
    ck_assert_msg(imrec_reader_open(faulty, 0, 1, &r, &err) == IMREC_OK, "%s", err.message);
    const uint64_t reads = fault_counts("test").reads;
    imrec_reader_close(r);
    return reads;
}

TEST(opening_an_ordinary_shard_reads_its_first_and_last_bytes_only)
{
    struct identity_set set = {.rec = BUF_INIT(1 << 20), .idx = BUF_INIT(1 << 16)};
    char file[] = "/tmp/imrec-metadata-XXXXXX.rec";
    const int fd = mkstemps(file, 4);
    for (uint64_t key = 0; key < 100; key++)
        identity_put(&set, key, 0, NULL, true);
    ck_assert(fd >= 0 && write(fd, set.rec.p, set.rec.n) == (ssize_t)set.rec.n);
    ck_assert_int_eq(close(fd), 0);
    ck_assert_uint_le(reads_of_opening(file), 3);
    (void)unlink(file);
    identity_free(&set);
}

/* The set is the same, or it is not opened. */
LOOP_TEST(a_read_that_fails_for_once_makes_no_other_set, 0, 2) /* _i: none or an index */
{
    char rec[] = "/tmp/imrec-metadata-XXXXXX.rec", idx[40], uri[80];
    struct identity_set set = {0};
    struct container s;
    uint64_t opened = 0;
    identity_make(&set);
    const int fd = mkstemps(rec, 4);
    ck_assert(fd >= 0 && write(fd, set.rec.p, set.rec.n) == (ssize_t)set.rec.n);
    ck_assert_int_eq(close(fd), 0);
    snprintf(idx, sizeof(idx), "%.*s.idx", (int)strlen(rec) - 4, rec);
    FILE *f = fopen(idx, "wb");
    ck_assert_uint_eq(fwrite(set.idx.p, 1, set.idx.n, f), set.idx.n);
    fclose(f);
    snprintf(uri, sizeof(uri), "fault://script=test:%s", rec);
    const struct container_options o = options(uri, _i ? idx : "");
    for (uint64_t n = 1; n == 1 || fault_counts("test").reads >= n - 1; n++) {
        ck_assert_int_eq(fault_set("test", &(struct fault_script){.read_eio = n}, &err), IMREC_OK);
        if (container_open(&o, &s, &err) != IMREC_OK) {
            ck_assert_int_eq(err.status, IMREC_ERR_IO);
            continue;
        }
        ck_assert_msg(s.metadata_count == 1 + IDENTITIES, "read %u: %u", (unsigned)n,
                      (unsigned)s.metadata_count);
        ck_assert(!_i || s.record_total == IDENTITY_IMAGES);
        container_close(&s);
        opened++;
    }
    ck_assert_uint_gt(opened, 3);
    (void)unlink(rec);
    (void)unlink(idx);
    identity_free(&set);
}

LOOP_TEST(no_allocation_that_fails_leaks, 0, 3) /* _i: index or none */
{
    struct identity_set set = {0};
    struct container s;
    identity_make(&set);
    identity_store(&set, "a", _i == 1);
    const struct container_options o = options("mem://a.rec", _i == 2 ? "mem://a.idx" : "");
    if (_i == 2)
        identity_store(&set, "a", true);
    const long before = imrec_alloc_live();
    for (long n = 0;; n++) {
        imrec_alloc_fail_after(n);
        const enum imrec_status st = container_open(&o, &s, &err);
        imrec_alloc_fail_after(-1);
        if (st == IMREC_OK)
            break;
        ck_assert_int_eq(imrec_alloc_live(), before);
        ck_assert_msg(st == IMREC_ERR_NO_MEMORY, "allocation %ld: %s", n, err.message);
    }
    ck_assert_uint_eq(s.metadata_count, 1 + IDENTITIES);
    container_close(&s);
    identity_free(&set);
}
