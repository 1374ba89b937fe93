/* tests/support/packing.h - a folder of small images made in code, packing it, and comparing
 * what came of it. */
#ifndef IMREC_TESTS_PACKING_H
#define IMREC_TESTS_PACKING_H

#include "codec/codec.h"
#include "imrec/packer.h"
#include "tests/support/tmpdir.h"

#include <check.h>
#include <sys/stat.h>

enum { MADE_CLASSES = 3, MADE_EACH = 8, MADE_GOOD = MADE_CLASSES * MADE_EACH, MADE_BAD = 3 };

struct packing {
    struct tmpdir dir;
    char source[300];
    struct imrec_pack_options o;
    struct imrec_pack_result result;
    struct imrec_error err;
    char kept[16][512];
    int kept_count;
};

/* "folder/name", as long as the packing lives. */
static inline const char *kept_path(struct packing *p, const char *name)
{
    char *path = p->kept[p->kept_count++];
    if (p->kept_count > 16)
        _exit(99);
    snprintf(path, sizeof(p->kept[0]), "%s", tmp_path(&p->dir, name));
    return path;
}

/* As a task's progress: says no once *user images are done. */
static inline bool stop_at_done(void *user, const struct imrec_progress *progress)
{
    return progress->total == 0 || progress->done < *(const uint64_t *)user;
}

static inline void make_folder(const struct tmpdir *d, const char *name)
{
    if (mkdir(tmp_path(d, name), 0777) != 0)
        _exit(99);
}

/* A JPEG of width x height px whose pixels depend on `seed`. */
static inline void
make_image(const struct tmpdir *d, const char *name, uint32_t width, uint32_t height, uint32_t seed)
{
    struct codec *c;
    struct bytes jpeg;
    uint8_t *pixels = malloc((size_t)width * height * 3);
    for (uint32_t i = 0; i < width * height * 3; i++)
        pixels[i] = (uint8_t)((i / 3 % width) * 3 + i / 3 / width * 2 + seed * (i % 3 + 17) +
                              (i * 2654435761u + seed) % 23);
    const struct imrec_image image = {pixels, (size_t)width * 3, width, height, 3};
    if (codec_new(&c, NULL) != IMREC_OK ||
        codec_encode_jpeg(c, &image, (struct codec_jpeg_how){.quality = 90}, &jpeg, NULL) !=
            IMREC_OK)
        _exit(99);
    tmp_write(d, name, jpeg.p, jpeg.n);
    codec_free(c);
    free(pixels);
}

/* source/{ant,bee,cow}/00.jpg ... 07.jpg, and in bee three that cannot be packed. */
static inline void packing_make(struct packing *p, bool with_bad)
{
    static const char *const classes[MADE_CLASSES] = {"ant", "bee", "cow"};
    char name[64];
    memset(p, 0, sizeof(*p));
    p->dir = tmpdir_make();
    make_folder(&p->dir, "source");
    for (uint32_t c = 0; c < MADE_CLASSES; c++) {
        snprintf(name, sizeof(name), "source/%s", classes[c]);
        make_folder(&p->dir, name);
        for (uint32_t i = 0; i < MADE_EACH; i++) {
            snprintf(name, sizeof(name), "source/%s/%02u.jpg", classes[c], i);
            make_image(&p->dir, name, 40 + 7 * i, 90 - 5 * i - c, c * 100 + i);
        }
    }
    if (with_bad) {
        tmp_write(&p->dir, "source/bee/empty.jpg", "", 0);
        tmp_write(&p->dir, "source/bee/text.jpg", "no image", 8);
        tmp_write(&p->dir, "source/bee/torn.jpg", "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0",
                  20);
    }
    snprintf(p->source, sizeof(p->source), "%s/source", p->dir.path);
    imrec_pack_options_init(&p->o);
    p->o.resize = 32;
}

static inline void packing_remove(struct packing *p)
{
    tmpdir_remove(&p->dir);
}

/* Packs the folder into OUT, a path or URI. */
static inline enum imrec_status packing_run(struct packing *p, const char *out)
{
    char kept[512];
    const struct imrec_pack_task task = {.root = p->source, .out = kept};
    snprintf(kept, sizeof(kept), "%s", out);
    return imrec_pack(&task, &p->o, &p->result, &p->err);
}

/* All bytes of the file; the caller frees p. p is NULL where it does not exist. */
static inline struct bytes read_whole(const char *path)
{
    const long n = tmp_size(path);
    uint8_t *p = n >= 0 ? malloc((size_t)n + 1) : NULL;
    FILE *f = n >= 0 ? fopen(path, "rb") : NULL;
    if (f == NULL)
        return (struct bytes){NULL, 0};
    if (fread(p, 1, (size_t)n, f) != (size_t)n)
        _exit(99);
    fclose(f);
    p[n] = '\0';
    return (struct bytes){p, (size_t)n};
}

/* DIR/a.SUFFIX and DIR/b.SUFFIX exist and hold the same. */
static inline void
expect_same_file(const struct packing *p, const char *a, const char *b, const char *suffix)
{
    char left[128], right[128];
    snprintf(left, sizeof(left), "%s%s", a, suffix);
    snprintf(right, sizeof(right), "%s%s", b, suffix);
    const struct bytes x = read_whole(tmp_path(&p->dir, left));
    const struct bytes y = read_whole(tmp_path(&p->dir, right));
    ck_assert_msg(x.p != NULL, "%s is missing", left);
    ck_assert_msg(y.p != NULL, "%s is missing", right);
    ck_assert_msg(x.n == y.n && memcmp(x.p, y.p, x.n) == 0, "%s differs from %s", left, right);
    free((void *)(uintptr_t)x.p);
    free((void *)(uintptr_t)y.p);
}

/* DIR/a.manifest.json says of a what DIR/b.manifest.json says of b: both names one letter. */
static inline void expect_same_manifest(const struct packing *p, const char *a, const char *b)
{
    char left[64], right[64];
    snprintf(left, sizeof(left), "%s.manifest.json", a);
    snprintf(right, sizeof(right), "%s.manifest.json", b);
    const struct bytes x = read_whole(tmp_path(&p->dir, left));
    const struct bytes y = read_whole(tmp_path(&p->dir, right));
    ck_assert(x.p != NULL && y.p != NULL);
    ck_assert_uint_eq(x.n, y.n);
    for (size_t i = 0; i < x.n; i++)
        ck_assert_msg(x.p[i] == y.p[i] || (x.p[i] == (uint8_t)a[0] && y.p[i] == (uint8_t)b[0]),
                      "byte %zu of %s: %.40s", i, left, (const char *)x.p + i);
    free((void *)(uintptr_t)x.p);
    free((void *)(uintptr_t)y.p);
}

static inline void expect_same_set(const struct packing *p, const char *a, const char *b)
{
    static const char *const suffixes[] = {".rec", ".idx", ".crc", ".lst", ".classes.txt"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        expect_same_file(p, a, b, suffixes[i]);
    expect_same_manifest(p, a, b);
}

static inline bool is_there(const struct packing *p, const char *name)
{
    return access(tmp_path(&p->dir, name), F_OK) == 0;
}
#endif
