/* dataset/transfer/transfer_tar.c - records into a tar archive of WebDataset: of each its image,
 * its labels as text and its fields, as neighbouring files of one key. */
#include "base/alloc.h"
#include "base/error.h"
#include "codec/codec.h"
#include "dataset/transfer/file_name.h"
#include "dataset/transfer/sample_files.h"
#include "dataset/transfer/transfer_out.h"
#include "formats/tar/tar_header.h"
#include "formats/tar/tar_write.h"
#include "storage/sink.h"

#include <inttypes.h>
#include <stdio.h>

#define SAMPLE_MOST ((size_t)1 << 32)

struct tars {
    struct sink *sink;
    struct codec *codec;
    struct buf sample;                /* headers and contents */
    struct buf name, text, extension; /* of the file in hand */
    struct buf key, before;           /* of the record, and of the one before */
    bool *used;                       /* fields that are written */
    uint64_t used_room, count;
};

static void end(void *out)
{
    struct tars *x = out;
    if (x == NULL)
        return;
    struct buf *const bufs[] = {&x->sample, &x->name, &x->text, &x->extension, &x->key, &x->before};
    sink_abort(x->sink);
    codec_free(x->codec);
    for (size_t i = 0; i < sizeof(bufs) / sizeof(*bufs); i++)
        buf_free(bufs[i]);
    IMREC_FREE(x->used, x);
}

static enum imrec_status begin(void **out, struct imrec_error *err)
{
    struct tars *x = *out = imrec_zalloc(1, sizeof(*x));
    if (x == NULL)
        return IMREC_NO_MEMORY(err, "no memory to write archives");
    x->sample = x->name = x->text = x->extension = x->key = x->before = BUF_INIT(SAMPLE_MOST);
    return codec_new(&x->codec, err);
}

static struct bytes text_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static struct bytes all_of(const struct buf *b)
{
    return (struct bytes){b->p, b->n};
}

static enum imrec_status
fail(const struct imrec_record *r, const char *what, struct bytes text, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_DATA, r->offset,
                          "%.200s: the record at byte %" PRIu64 " %s: %.*s", r->uri, r->offset,
                          what, text.n < 200 ? (int)text.n : 200, (const char *)text.p);
}

/* ---- a file ------------------------------------------------------------------------------- */

static enum imrec_status
add_file(struct tars *x, struct bytes extension, struct bytes content, struct imrec_error *err)
{
    x->name.n = 0;
    IMREC_TRY(buf_append(&x->name, x->key.p, x->key.n, err));
    IMREC_TRY(buf_append(&x->name, ".", 1, err));
    IMREC_TRY(buf_append(&x->name, extension.p, extension.n, err));
    return tar_write_file(&x->sample, all_of(&x->name), content, err);
}

static enum imrec_status add_field(struct tars *x, struct bytes extension,
                                   const struct imrec_field *f, struct imrec_error *err)
{
    const enum field_type type = (enum field_type)(f->kind - IMREC_FIELD_BYTES);
    struct bytes content;
    IMREC_TRY(field_content(&x->text, type, (struct bytes){f->bytes, f->size}, &content, err));
    return add_file(x, extension, content, err);
}

/* ---- a sample that was one ---------------------------------------------------------------- */

static enum imrec_status add_listed(struct tars *x, const struct imrec_record *r,
                                    struct bytes extension, struct imrec_error *err)
{
    for (uint32_t i = 0; i < r->field_count; i++) {
        const struct imrec_field *f = &r->fields[i];
        if (x->used[i] || f->name_bytes != extension.n ||
            memcmp(f->name, extension.p, extension.n) != 0)
            continue;
        x->used[i] = true;
        return add_field(x, extension, f, err);
    }
    return fail(r, "lacks a field that its " SAMPLE_FILES " names", extension, err);
}

static enum imrec_status
add_files(struct tars *x, const struct imrec_record *r, struct bytes files, struct imrec_error *err)
{
    struct sample_files f;
    struct bytes extension;
    if (!sample_files_begin(&f, files))
        return fail(r, "has a " SAMPLE_FILES " that is no list of files", files, err);
    for (uint64_t i = 0; sample_files_next(&f, &extension); i++)
        IMREC_TRY(i == f.image
                      ? add_file(x, extension, (struct bytes){r->image, r->image_size}, err)
                      : add_listed(x, r, extension, err));
    return IMREC_OK;
}

/* ---- any other record --------------------------------------------------------------------- */

/* "jpg", as its bytes say; NULL: no format that is known. */
static const char *suffix_of(struct tars *x, struct bytes image)
{
    static const struct codec_limits any = {.max_pixels = -1};
    struct imrec_image_info info;
    if (codec_begin(x->codec, image, &any, &info, NULL) != IMREC_OK)
        return NULL;
    return strcmp(info.format, "jpeg") == 0 ? "jpg" : info.format;
}

static enum imrec_status
add_image(struct tars *x, const struct imrec_record *r, struct imrec_error *err)
{
    const struct bytes image = {r->image, r->image_size};
    const char *suffix = suffix_of(x, image);
    if (suffix == NULL)
        return fail(r, "has an image of no format that is known, after which its file is named",
                    text_of(""), err);
    return add_file(x, text_of(suffix), image, err);
}

static enum imrec_status
add_labels(struct tars *x, const struct imrec_record *r, struct imrec_error *err)
{
    x->text.n = 0;
    for (uint32_t i = 0; i < r->label_count; i++) {
        char text[32];
        const int n =
            snprintf(text, sizeof(text), "%s%.9g", i != 0 ? " " : "", (double)r->labels[i]);
        IMREC_TRY(buf_append(&x->text, text, (size_t)n, err));
    }
    return r->label_count != 0 ? add_file(x, text_of(FILE_LABELS), all_of(&x->text), err)
                               : IMREC_OK;
}

static enum imrec_status
add_mask(struct tars *x, const struct imrec_record *r, struct imrec_error *err)
{
    const struct bytes mask = {r->mask, r->mask_size};
    char name[64];
    if (mask.p == NULL)
        return IMREC_OK;
    const char *suffix = suffix_of(x, mask);
    (void)snprintf(name, sizeof(name), "mask%s%s", suffix != NULL ? "." : "",
                   suffix != NULL ? suffix : "");
    return add_file(x, text_of(name), mask, err);
}

/* Ids that are not the number of the record, which a reader gives it anyway. */
static enum imrec_status
add_ids(struct tars *x, const struct imrec_record *r, struct imrec_error *err)
{
    char text[64];
    if (r->id == x->count && r->id2 == 0)
        return IMREC_OK;
    (void)snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64, r->id, r->id2);
    return add_file(x, text_of(FILE_IDS), text_of(text), err);
}

/* Those that no list of files names. */
static enum imrec_status
add_other_fields(struct tars *x, const struct imrec_record *r, struct imrec_error *err)
{
    for (uint32_t i = 0; i < r->field_count; i++) {
        const struct imrec_field *f = &r->fields[i];
        if (x->used[i] || transfer_is_mask(r, f) || transfer_is_called(f, SAMPLE_KEY) ||
            transfer_is_called(f, SAMPLE_FILES))
            continue;
        IMREC_TRY(extension_write(&x->extension,
                                  (struct bytes){(const uint8_t *)f->name, f->name_bytes},
                                  field_repeats(r->fields, i), err));
        IMREC_TRY(add_field(x, all_of(&x->extension), f, err));
    }
    return IMREC_OK;
}

static enum imrec_status
add_parts(struct tars *x, const struct imrec_record *r, struct imrec_error *err)
{
    IMREC_TRY(add_image(x, r, err));
    IMREC_TRY(add_labels(x, r, err));
    IMREC_TRY(add_mask(x, r, err));
    return add_ids(x, r, err);
}

/* ---- a key -------------------------------------------------------------------------------- */

/* Neither outside the folder where it is unpacked, nor cut at another dot. */
static bool is_key(struct bytes key)
{
    size_t begin = 0;
    if (key.n == 0 || key.p[0] == '/' || memchr(key.p, '\0', key.n) != NULL)
        return false;
    for (size_t i = 0; i <= key.n; i++) {
        if (i < key.n && key.p[i] != '/')
            continue;
        if (i - begin == 2 && memcmp(key.p + begin, "..", 2) == 0)
            return false;
        begin = i + 1;
    }
    const size_t last = key.n - (size_t)(key.p[key.n - 1] == '/');
    for (size_t i = last; i > 0 && key.p[i - 1] != '/'; i--)
        if (key.p[i - 1] == '.')
            return false;
    return true;
}

static enum imrec_status
take_key(struct tars *x, const struct imrec_record *r, struct bytes key, struct imrec_error *err)
{
    char usual[24];
    if (key.p == NULL) {
        (void)snprintf(usual, sizeof(usual), "%09" PRIu64, x->count);
        key = text_of(usual);
    }
    if (!is_key(key))
        return fail(r, "has a key that names no file in a folder", key, err);
    if (x->count != 0 && key.n == x->before.n && memcmp(key.p, x->before.p, key.n) == 0)
        return fail(r, "has the key of the one before it, an archive would make one sample of both",
                    key, err);
    x->key.n = x->before.n = 0;
    IMREC_TRY(buf_append(&x->key, key.p, key.n, err));
    return buf_append(&x->before, key.p, key.n, err);
}

/* ---- records ------------------------------------------------------------------------------ */

static enum imrec_status
make(void *out, const struct imrec_record *r, uint64_t *dropped, struct imrec_error *err)
{
    struct tars *x = out;
    (void)dropped;
    const struct bytes files = transfer_text_in(r, SAMPLE_FILES);
    if (!IMREC_GROW(x->used, x->used_room, (uint64_t)r->field_count + 1))
        return IMREC_NO_MEMORY(err, "no memory for fields");
    memset(x->used, 0, r->field_count);
    x->sample.n = 0;
    IMREC_TRY(take_key(x, r, transfer_text_in(r, SAMPLE_KEY), err));
    IMREC_TRY(files.p != NULL ? add_files(x, r, files, err) : add_parts(x, r, err));
    IMREC_TRY(add_other_fields(x, r, err));
    x->count++;
    return IMREC_OK;
}

static enum imrec_status copy(void *out, const struct imrec_record *r, struct imrec_error *err)
{
    static const uint8_t zeros[TAR_BLOCK];
    struct tars *x = out;
    x->sample.n = 0;
    IMREC_TRY(sample_files_read(r, &x->name, &x->text, err));
    IMREC_TRY(take_key(x, r, all_of(&x->name), err));
    IMREC_TRY(buf_append(&x->sample, r->data, r->size, err));
    x->count++;
    return buf_append(&x->sample, zeros, (size_t)(tar_padded(r->size) - r->size), err);
}

/* ---- files -------------------------------------------------------------------------------- */

static enum imrec_status open_archive(void *out, const char *uri, struct imrec_error *err)
{
    return sink_open(uri, &((struct tars *)out)->sink, err);
}

static uint64_t size(const void *out)
{
    const struct tars *x = out;
    const uint64_t n = sink_size(x->sink) + x->sample.n;
    return n + tar_end_bytes(n);
}

static enum imrec_status write_made(void *out, struct imrec_error *err)
{
    struct tars *x = out;
    return transfer_append(x->sink, &x->sample, err);
}

static enum imrec_status finish(void *out, uint64_t *bytes, struct imrec_error *err)
{
    static const uint8_t zeros[2 * TAR_RECORD];
    struct tars *x = out;
    const enum imrec_status st =
        sink_append(x->sink, zeros, tar_end_bytes(sink_size(x->sink)), err);
    if (st == IMREC_OK)
        return transfer_finish(&x->sink, bytes, err);
    sink_abort(x->sink);
    x->sink = NULL;
    return st;
}

static const char *const suffixes[] = {".tar", NULL};
static const enum set_file alone[] = {SET_REC};

const struct transfer_kind transfer_tar = {.suffixes = suffixes,
                                           .side_files = alone,
                                           .begin = begin,
                                           .make = make,
                                           .copy = copy,
                                           .open = open_archive,
                                           .size = size,
                                           .write = write_made,
                                           .finish = finish,
                                           .end = end};
