/*
 * tests/support/make_set.c - a small packed set, made in code: make_set OUT.rec RECORDS [SHARDS]
 *
 * Writes shards, indexes, checksums, list, class list and manifest. Picture i is 40 + i % 7 by
 * 30 + i % 5 px, has id 100 + i and label i % 3 (ant, bee, cat).
 */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/checksums.h"
#include "formats/crc32c.h"
#include "formats/manifest.h"
#include "formats/recordio.h"
#include "formats/set_names.h"
#include "imrec/imrec.h"
#include "storage/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const classes[] = {"ant", "bee", "cat"};
enum { CLASSES = 3, MAX_SHARDS = 16, NAME_BYTES = 512 };

static void must(enum imrec_status st, const struct imrec_error *err)
{
    if (st != IMREC_OK) {
        fprintf(stderr, "make_set: %s\n", err->message);
        exit(1);
    }
}

static void paint(uint8_t *p, uint32_t width, uint32_t height, uint32_t i)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++, p += 3) {
            p[0] = (uint8_t)(x * 5 + i * 40);
            p[1] = (uint8_t)(y * 7 + i * 20);
            p[2] = (uint8_t)((x ^ y) * 3 + i * 10);
        }
}

static void write_shard(const char *path, uint32_t first, uint32_t end)
{
    struct imrec_error err;
    struct imrec_writer *w;
    struct imrec_decoder *d;
    char idx[NAME_BYTES];
    uint8_t pixels[46 * 34 * 3];
    set_name(path, SET_INDEX, idx);
    must(imrec_writer_open(path, idx, true, &w, &err), &err);
    must(imrec_decoder_new(&d, &err), &err);
    for (uint32_t i = first; i < end; i++) {
        const struct imrec_image image = {pixels, (40 + i % 7) * 3, 40 + i % 7, 30 + i % 5, 3};
        const float label = (float)(i % CLASSES);
        const void *jpeg;
        size_t n;
        paint(pixels, image.width, image.height, i);
        must(imrec_decoder_encode_jpeg(d, &image, 90, &jpeg, &n, &err), &err);
        must(imrec_writer_append_image(w, 100 + i, &label, 1, 100 + i, jpeg, n, &err), &err);
    }
    must(imrec_writer_commit(w, &err), &err);
    imrec_decoder_free(d);
}

static void write_file(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "w");
    if (f == NULL || fwrite(p, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* Records of a shard, and its checksums in *out. */
static uint64_t sum_shard(const char *path, struct buf *out)
{
    struct imrec_error err;
    struct checksums_writer w;
    struct recordio_span span;
    uint8_t *p;
    size_t n;
    must(source_load(path, SIZE_MAX / 2, &p, &n, &err), &err);
    must(checksums_begin(&w, out, &err), &err);
    for (size_t at = 0; at < n; at += span.bytes) {
        must(recordio_measure(p + at, n - at, at, &span, &err), &err);
        must(checksums_add(&w, span.bytes, crc32c(0, p + at, span.bytes), out, &err), &err);
    }
    must(checksums_finish(&w, out, &err), &err);
    imrec_free(p);
    return w.records;
}

static struct manifest_file describe(const char *path, char name[NAME_BYTES])
{
    struct imrec_error err;
    struct manifest_file f = {.name = strcpy(name, set_base_name(path))};
    uint8_t *p;
    size_t n;
    must(source_load(path, SIZE_MAX / 2, &p, &n, &err), &err);
    f.bytes = n;
    f.crc32c = crc32c(0, p, n);
    imrec_free(p);
    return f;
}

static void describe_shard(const char *path, struct manifest_shard *s, char names[3][NAME_BYTES])
{
    char side[NAME_BYTES];
    struct buf sums = BUF_INIT(1 << 20);
    set_name(path, SET_CHECKSUMS, side);
    s->records = sum_shard(path, &sums);
    write_file(side, sums.p, sums.n);
    s->checksums = describe(side, names[2]);
    s->rec = describe(path, names[0]);
    set_name(path, SET_INDEX, side);
    s->idx = describe(side, names[1]);
    buf_free(&sums);
}

static void write_lists(const char *rec, uint32_t records)
{
    char path[NAME_BYTES];
    set_name(rec, SET_LIST, path);
    FILE *f = fopen(path, "w");
    for (uint32_t i = 0; f != NULL && i < records; i++)
        fprintf(f, "%" PRIu32 "\t%f\t%s/p%" PRIu32 ".jpg\n", 100 + i, (double)(i % CLASSES),
                classes[i % CLASSES], 100 + i);
    if (f == NULL || fclose(f) != 0)
        exit(1);
    set_name(rec, SET_CLASSES, path);
    write_file(path, "ant\nbee\ncat\n", 12);
}

static void write_manifest(const char *rec, struct manifest *m)
{
    static char list[NAME_BYTES], names[NAME_BYTES];
    char path[NAME_BYTES];
    struct imrec_error err;
    struct buf text = BUF_INIT(1 << 20);
    set_name(rec, SET_LIST, path);
    m->list = describe(path, list);
    set_name(rec, SET_CLASSES, path);
    m->classes = describe(path, names);
    for (size_t i = 0; i < m->shard_count; i++) {
        m->records += m->shards[i].records;
        m->bytes += m->shards[i].rec.bytes;
    }
    must(manifest_write(m, &text, &err), &err);
    set_name(rec, SET_MANIFEST, path);
    write_file(path, text.p, text.n);
    buf_free(&text);
}

int main(int argc, char **argv)
{
    static char names[MAX_SHARDS][3][NAME_BYTES];
    static struct manifest_shard shards[MAX_SHARDS];
    const uint32_t records = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
    const uint32_t count = argc > 3 ? (uint32_t)atoi(argv[3]) : 1;
    if (argc < 3 || count < 1 || count > MAX_SHARDS || strlen(argv[1]) > 256)
        return 2;
    for (uint32_t s = 0; s < count; s++) {
        char path[NAME_BYTES];
        set_shard_name(argv[1], s, count, false, path);
        write_shard(path, records * s / count, records * (s + 1) / count);
        describe_shard(path, &shards[s], names[s]);
    }
    write_lists(argv[1], records);
    write_manifest(argv[1], &(struct manifest){.packer = "make_set 1",
                                               .shards = shards,
                                               .shard_count = count,
                                               .class_count = CLASSES,
                                               .label_width = 1});
    return 0;
}
