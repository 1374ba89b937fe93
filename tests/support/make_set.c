/*
 * tests/support/make_set.c - a small packed set, made in code: make_set OUT.rec RECORDS [SHARDS]
 *
 * Writes shards, indexes, checksums, list, class list and manifest. Image i is 40 + i % 7 by
 * 30 + i % 5 px, has id 100 + i and label i % 3 (ant, bee, cat).
 */
#include "formats/set/manifest.h"
#include "tests/support/small_set.h"

#include <inttypes.h>

static const char *const classes[] = {"ant", "bee", "cat"};
enum { MAX_SHARDS = 16, NAME_BYTES = SMALL_NAME_BYTES };

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
    s->records = small_checksums(path);
    set_name(path, SET_CHECKSUMS, side);
    s->checksums = describe(side, names[2]);
    s->rec = describe(path, names[0]);
    set_name(path, SET_INDEX, side);
    s->idx = describe(side, names[1]);
}

static void write_lists(const char *rec, uint32_t records)
{
    char path[NAME_BYTES];
    set_name(rec, SET_LIST, path);
    FILE *f = fopen(path, "w");
    for (uint32_t i = 0; f != NULL && i < records; i++)
        fprintf(f, "%" PRIu32 "\t%f\t%s/p%" PRIu32 ".jpg\n", 100 + i, (double)(i % SMALL_CLASSES),
                classes[i % SMALL_CLASSES], 100 + i);
    if (f == NULL || fclose(f) != 0)
        exit(1);
    set_name(rec, SET_CLASSES, path);
    small_file(path, "ant\nbee\ncat\n", 12);
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
    small_file(path, text.p, text.n);
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
        small_shard(path, records * s / count, records * (s + 1) / count);
        describe_shard(path, &shards[s], names[s]);
    }
    write_lists(argv[1], records);
    write_manifest(argv[1], &(struct manifest){.packer = "make_set 1",
                                               .shards = shards,
                                               .shard_count = count,
                                               .class_count = SMALL_CLASSES,
                                               .label_width = 1});
    return 0;
}
