/* im2rec/item/item_fields.c */
#include "im2rec/item/item_fields.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/recordio/record_fields.h"
#include "formats/recordio/recordio.h"
#include "formats/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------------- */

static enum imrec_status no_extension(const char *name, struct imrec_error *err)
{
    return IMREC_REFUSE(err, "fields is a list of extensions, as txt,json?: '%.60s' is none", name);
}

/* .txt is txt. */
static enum imrec_status take_extension(const char **name, struct imrec_error *err)
{
    *name += (*name)[0] == '.';
    if ((*name)[0] == '\0')
        return no_extension(*name, err);
    if (strcmp(*name, RECORD_FIELD_MASK) == 0)
        return IMREC_REFUSE(err, "fields: 'mask' is the name of the image's mask (masks)");
    return IMREC_OK;
}

/* A field has one source. */
static enum imrec_status
check_column(const struct item_fields *f, uint32_t i, struct imrec_error *err)
{
    const char *name = f->columns.name[i];
    if (strcmp(name, RECORD_FIELD_MASK) == 0)
        return IMREC_REFUSE(err, "columns: 'mask' is the name of the image's mask (masks)");
    for (uint32_t k = 0; k < f->names.count; k++)
        if (strcmp(f->names.name[k], name) == 0)
            return IMREC_REFUSE(err, "columns and fields both name '%.100s'", name);
    return IMREC_OK;
}

enum imrec_status item_fields_init(struct item_fields *f, const struct imrec_pack_options *o,
                                   const struct file_root *root, struct imrec_error *err)
{
    *f = (struct item_fields){.root = root, .values = BUF_INIT(RECORDIO_PART_MAX_BYTES)};
    IMREC_TRY(field_names_parse("fields", o->fields, &f->names, err));
    for (uint32_t i = 0; i < f->names.count; i++)
        IMREC_TRY(take_extension(&f->names.name[i], err));
    IMREC_TRY(field_names_parse("columns", o->columns, &f->columns, err));
    for (uint32_t i = 0; i < f->columns.count; i++)
        IMREC_TRY(check_column(f, i, err));
    if (f->names.count + f->columns.count > FIELD_NAMES_MOST)
        return IMREC_REFUSE(err, "fields and columns name %" PRIu32 " fields, but %u are the most",
                            f->names.count + f->columns.count, FIELD_NAMES_MOST);
    return IMREC_OK;
}

enum imrec_status item_fields_check_files(const struct item_fields *f, struct imrec_error *err)
{
    for (uint32_t i = 0; i < f->names.count; i++)
        if (strchr(f->names.name[i], '/') != NULL)
            return no_extension(f->names.name[i], err);
    return IMREC_OK;
}

enum imrec_status item_fields_names(struct item_fields *f, const struct imrec_pack_options *o,
                                    struct imrec_error *err)
{
    return item_fields_init(f, o, NULL, err);
}

void item_fields_free(struct item_fields *f)
{
    field_names_free(&f->names);
    field_names_free(&f->columns);
    imrec_free(f->file.p);
    buf_free(&f->values);
    *f = (struct item_fields){0};
}

void item_fields_trim(struct item_fields *f, size_t most)
{
    if (f->file.capacity + f->values.cap <= most)
        return;
    imrec_free(f->file.p);
    f->file = (struct file_bytes){NULL, 0, 0};
    buf_free(&f->values);
}

/* ---- the files ----------------------------------------------------------------------------- */

/* The image's path with the name for its extension. */
static bool sibling(struct pack_item *p, const char *name, char out[IMAGE_PATH_MAX])
{
    char suffix[IMAGE_PATH_MAX];
    const int n = snprintf(suffix, sizeof(suffix), ".%s", name);
    if (strchr(name, '/') != NULL) {
        pack_item_skip(p, REASON_FIELD, "its field %.60s is a feature of TFRecords, no file", name);
        return false;
    }
    if (n < (int)sizeof(suffix) && file_sibling(p->path, suffix, out))
        return true;
    pack_item_skip(p, REASON_FIELD, "the path of its field %.60s is longer than 4095 bytes", name);
    return false;
}

/* Why the image is not packed: that of the field's file. */
static void skip(struct pack_item *p, const char *name)
{
    char why[sizeof(p->why)];
    snprintf(why, sizeof(why), "%s", p->why);
    if (p->outcome.reason != REASON_NONE)
        pack_item_skip(p, p->outcome.reason == REASON_NO_MEMORY ? REASON_NO_MEMORY : REASON_FIELD,
                       "its field %.60s: %.280s", name, why);
}

static bool read_bytes(struct item_fields *f, struct pack_item *p, struct image_file *file)
{
    const size_t before = f->values.n;
    if (file->size > RECORDIO_PART_MAX_BYTES - before) {
        pack_item_skip(p, REASON_TOO_LARGE, "%" PRIu64 " bytes are more than a record holds",
                       file->size);
        file_close(file);
        return false;
    }
    if (file->size == 0) {
        file_close(file);
        return true;
    }
    if (!file_read(p, f->root, file, 0, &f->file))
        return false;
    if (buf_append(&f->values, f->file.p, f->file.n, NULL) == IMREC_OK)
        return true;
    pack_item_skip(p, REASON_NO_MEMORY, "no memory for its %zu bytes", f->file.n);
    return false;
}

/* Column i of the image's line: of the list, or of a plan of archives. */
static struct bytes column(const struct pack_item *p, uint32_t i)
{
    const uint8_t *at = p->columns.p, *const end = p->columns.p + p->columns.n, *tab;
    for (; (tab = memchr(at, '\t', (size_t)(end - at))) != NULL && i > 0; i--)
        at = tab + 1;
    return (struct bytes){at, i > 0 ? 0 : (size_t)((tab != NULL ? tab : end) - at)};
}

/* Where the file is in the image's archive. */
static bool find_place(struct pack_item *p, struct bytes said, struct image_place *out)
{
    const uint64_t size = p->place.size;
    *out = p->place;
    if (text_to_u64(text_word(&said), &out->begin) && text_to_u64(text_word(&said), &out->bytes) &&
        text_word(&said).n == 0 && out->begin <= size && out->bytes <= size - out->begin)
        return true;
    p->failed = IMREC_ERR_CORRUPT;
    snprintf(p->why, sizeof(p->why), "a line of the plan's list names no place of a field");
    return false;
}

/* The file in the archive; one that is missing may be. */
static bool read_piece(struct item_fields *f, struct pack_item *p, uint32_t i, bool *there)
{
    const struct bytes said = column(p, i);
    const struct image_place image = p->place;
    struct fetch *const fetch = p->fetch;
    struct image_place place;
    struct image_file file;
    *there = said.n != 0;
    if (!*there)
        return true;
    if (!find_place(p, said, &place))
        return false;
    p->place = place;
    p->fetch = NULL; /* it is of the image's piece of the same archive */
    const bool fine = file_open(p, f->root, &file) && read_bytes(f, p, &file);
    p->place = image;
    p->fetch = fetch;
    if (!fine)
        skip(p, f->names.name[i]);
    return fine;
}

static bool read_one(struct item_fields *f, struct pack_item *p, uint32_t i, bool *there)
{
    char name[IMAGE_PATH_MAX];
    struct image_file file;
    const struct bytes image = p->path;
    if (p->place.archive != 0)
        return read_piece(f, p, i, there);
    if (!sibling(p, f->names.name[i], name))
        return false;
    p->path = (struct bytes){(const uint8_t *)name, strlen(name)};
    *there = file_open(p, f->root, &file);
    const bool fine = *there && read_bytes(f, p, &file);
    p->path = image;
    if (fine)
        return true;
    if (!*there && f->names.optional[i] && p->outcome.reason == REASON_MISSING) {
        p->outcome.reason = REASON_NONE;
        p->why[0] = '\0';
        return true;
    }
    skip(p, f->names.name[i]);
    return false;
}

/* ---- columns ------------------------------------------------------------------------------- */

/* The list has counted them. */
static void take_columns(struct item_fields *f, const struct pack_item *p)
{
    for (uint32_t i = 0; i < f->columns.count; i++) {
        const struct bytes one = column(p, i);
        const bool none = one.n == 0 && f->columns.optional[i];
        f->value[f->names.count + i] = none ? (struct bytes){NULL, 0} : one;
    }
}

/* ---- all of them --------------------------------------------------------------------------- */

bool item_fields_read(struct item_fields *f, struct pack_item *p)
{
    size_t end[FIELD_NAMES_MOST], begin = 0;
    bool there[FIELD_NAMES_MOST];
    f->values.n = 0;
    f->taken_count = 0;
    for (uint32_t i = 0; i < f->names.count; i++) {
        if (!read_one(f, p, i, &there[i]))
            return false;
        end[i] = f->values.n;
    }
    static const uint8_t nothing[1];
    for (uint32_t i = 0; i < f->names.count; i++) { /* the buffer moves no more */
        const uint8_t *from = f->values.p != NULL ? f->values.p + begin : nothing;
        f->value[i] = (struct bytes){there[i] ? from : NULL, there[i] ? end[i] - begin : 0};
        begin = end[i];
    }
    take_columns(f, p);
    return true;
}

static bool is_called(struct bytes name, const char *text)
{
    return name.n == strlen(text) && memcmp(name.p, text, name.n) == 0;
}

bool item_fields_take(struct item_fields *f, struct pack_item *p, const struct record_field *from,
                      uint32_t count)
{
    bool there[FIELD_NAMES_MOST] = {false};
    f->taken_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = 0;
        while (k < f->names.count && !is_called(from[i].name, f->names.name[k]))
            k++;
        if (k == f->names.count)
            continue;
        if (f->taken_count == FIELD_NAMES_MOST) {
            pack_item_skip(p, REASON_FIELD,
                           "it has more than %u fields, of which field %.60s is one",
                           FIELD_NAMES_MOST, f->names.name[k]);
            return false;
        }
        there[k] = true;
        f->taken[f->taken_count++] = from[i];
    }
    for (uint32_t k = 0; k < f->names.count; k++) {
        f->value[k] = (struct bytes){NULL, 0};
        if (there[k] || f->names.optional[k])
            continue;
        pack_item_skip(p, REASON_FIELD, "the Example has no feature for the field %.60s",
                       f->names.name[k]);
        return false;
    }
    return true;
}

uint64_t item_fields_bytes(const struct item_fields *f)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < f->taken_count; i++)
        n += f->taken[i].value.n;
    for (uint32_t i = 0; i < f->names.count + f->columns.count; i++)
        n += f->value[i].n;
    return n;
}

/* Field i of them, those of files first. */
static const char *name_of(const struct item_fields *f, uint32_t i)
{
    return i < f->names.count ? f->names.name[i] : f->columns.name[i - f->names.count];
}

uint32_t item_fields_list(const struct item_fields *f, struct bytes mask,
                          struct record_field out[FIELD_NAMES_MOST + 1])
{
    static const char name[] = RECORD_FIELD_MASK;
    uint32_t n = 0;
    if (mask.n != 0)
        out[n++] =
            (struct record_field){{(const uint8_t *)name, sizeof(name) - 1}, mask, FIELD_BYTES};
    const uint32_t before = n;
    for (uint32_t i = 0; i < f->names.count + f->columns.count; i++) {
        const char *of = name_of(f, i);
        if (f->value[i].p != NULL)
            out[n++] =
                (struct record_field){{(const uint8_t *)of, strlen(of)}, f->value[i], FIELD_BYTES};
    }
    for (uint32_t i = 0; i < f->taken_count; i++)
        out[n++] = f->taken[i];
    return n != before ? n : 0;
}
