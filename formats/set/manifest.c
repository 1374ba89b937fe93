/* formats/set/manifest.c - the manifest as JSON. What is read keeps the tree and points into it. */
#include "formats/set/manifest.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/json_read.h"
#include "formats/json_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FORMAT  "imrec-manifest"
#define VERSION 1

/* ---- faults of the whole ------------------------------------------------------- */

static bool is_component(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static bool is_cbf(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".cbf") == 0;
}

/* The fault of the whole, or NULL. */
static const char *check_sums(const struct manifest *m)
{
    uint64_t records = 0, bytes = 0;
    for (size_t i = 0; i < m->shard_count; i++) {
        const struct manifest_shard *s = &m->shards[i];
        if (__builtin_add_overflow(records, s->records, &records) ||
            __builtin_add_overflow(bytes, s->rec.bytes, &bytes))
            return "shards whose sums overflow";
        if ((s->rec.bytes % 4 != 0 && !is_cbf(s->rec.name)) || s->rec.bytes / 8 < s->records)
            return "a shard whose bytes cannot hold its records";
    }
    if (records != m->records || bytes != m->bytes)
        return "totals that are not the sums over its shards";
    return m->shard_count == 0 ? "no shard" : m->label_width == 0 ? "label_width 0" : NULL;
}

/* ---- reading --------------------------------------------------------------------------- */

/* One object of the tree: what is asked for is counted, so that unknown fields are noticed. */
struct object {
    const char *file, *where; /* for messages: the file, and which of its objects */
    const struct json_value *json;
    size_t asked;
    struct imrec_error *err;
};

static enum imrec_status refuse(const struct object *o, const char *field, const char *must)
{
    return imrec_fail(o->err, IMREC_ERR_CORRUPT, "%s: %s%s of a manifest %s", o->file, o->where,
                      field, must);
}

static enum imrec_status get_u64(struct object *o, const char *field, uint64_t max, uint64_t *out)
{
    int64_t v;
    char must[80];
    (void)snprintf(must, sizeof(must), "must be a whole number from 0 to %" PRIu64, max);
    if (!json_read_i64(json_read_member(o->json, field), &v) || v < 0 || (uint64_t)v > max)
        return refuse(o, field, must);
    *out = (uint64_t)v;
    o->asked++;
    return IMREC_OK;
}

static enum imrec_status get_text(struct object *o, const char *field, const char **out)
{
    *out = json_read_text(json_read_member(o->json, field));
    if (*out == NULL)
        return refuse(o, field, "must be a text");
    o->asked++;
    return IMREC_OK;
}

static enum imrec_status get_crc(struct object *o, const char *field, uint32_t *out)
{
    const char *text = NULL;
    IMREC_TRY(get_text(o, field, &text));
    *out = 0;
    for (int i = 0; i < 8; i++) {
        const char *digit = text[i] != '\0' ? strchr("0123456789abcdef", text[i]) : NULL;
        if (digit == NULL)
            return refuse(o, field, "must have eight of the digits 0-9a-f");
        *out = *out << 4 | (uint32_t)(digit - "0123456789abcdef");
    }
    return text[8] == '\0' ? IMREC_OK : refuse(o, field, "must have eight of the digits 0-9a-f");
}

static enum imrec_status check_all_asked(const struct object *o)
{
    return o->asked == json_read_count(o->json)
               ? IMREC_OK
               : refuse(o, "an object", "has fields that version 1 does not know");
}

/* The file object `field`; null: the set has none. */
static enum imrec_status get_file(struct object *o, const char *field, struct manifest_file *out)
{
    struct object f = {.file = o->file, .where = field, .err = o->err};
    char where[96];
    (void)snprintf(where, sizeof(where), "%s%s.", o->where, field);
    f.where = where;
    f.json = json_read_member(o->json, field);
    o->asked++;
    *out = (struct manifest_file){0};
    if (json_read_kind(f.json) == JSON_KIND_NULL)
        return IMREC_OK;
    if (json_read_kind(f.json) != JSON_KIND_OBJECT)
        return refuse(o, field, "must be an object or null");
    IMREC_TRY(get_text(&f, "name", &out->name));
    if (!is_component(out->name))
        return refuse(&f, "name", "must be a file name without a folder");
    IMREC_TRY(get_u64(&f, "bytes", INT64_MAX, &out->bytes));
    IMREC_TRY(get_crc(&f, "crc32c", &out->crc32c));
    return check_all_asked(&f);
}

static enum imrec_status get_array(struct object *o, const char *field, size_t max, size_t each,
                                   const struct json_value **array, void **out)
{
    char must[64];
    *array = json_read_member(o->json, field);
    o->asked++;
    (void)snprintf(must, sizeof(must), "must be a list of at most %zu", max);
    const size_t n = json_read_count(*array);
    if (json_read_kind(*array) != JSON_KIND_ARRAY || n > max)
        return refuse(o, field, must);
    *out = imrec_zalloc(n != 0 ? n : 1, each);
    if (*out == NULL)
        return IMREC_NO_MEMORY(o->err, "no memory for the %zu %s of a manifest", n, field);
    return IMREC_OK;
}

static enum imrec_status get_shards(struct object *o, struct manifest *m)
{
    const struct json_value *array;
    void *room = NULL;
    IMREC_TRY(get_array(o, "shards", MANIFEST_MAX_SHARDS, sizeof(*m->shards), &array, &room));
    m->shards = room;
    m->shard_count = json_read_count(array);
    for (size_t i = 0; i < m->shard_count; i++) {
        char where[48];
        struct object s = {o->file, where, json_read_element(array, i), 0, o->err};
        (void)snprintf(where, sizeof(where), "shards[%zu].", i);
        if (json_read_kind(s.json) != JSON_KIND_OBJECT)
            return refuse(&s, "", "must be an object");
        IMREC_TRY(get_file(&s, "rec", &m->shards[i].rec));
        if (m->shards[i].rec.name == NULL)
            return refuse(&s, "rec", "must be an object");
        IMREC_TRY(get_u64(&s, "records", INT64_MAX, &m->shards[i].records));
        IMREC_TRY(get_file(&s, "idx", &m->shards[i].idx));
        IMREC_TRY(get_file(&s, "checksums", &m->shards[i].checksums));
        IMREC_TRY(check_all_asked(&s));
    }
    return IMREC_OK;
}

static enum imrec_status get_options(struct object *o, struct manifest *m)
{
    const struct json_value *array;
    void *room = NULL;
    IMREC_TRY(get_array(o, "options", 4096, sizeof(*m->options), &array, &room));
    m->options = room;
    m->option_count = json_read_count(array);
    for (size_t i = 0; i < m->option_count; i++) {
        const struct json_value *pair = json_read_element(array, i);
        const char *name = json_read_text(json_read_element(pair, 0));
        const char *value = json_read_text(json_read_element(pair, 1));
        if (json_read_count(pair) != 2 || name == NULL || value == NULL)
            return refuse(o, "options", "must be pairs of name and value, both texts");
        m->options[i] = (struct manifest_option){name, value};
    }
    return IMREC_OK;
}

static enum imrec_status get_version(struct object *o)
{
    const char *format = NULL;
    int64_t version;
    if (get_text(o, "format", &format) != IMREC_OK || strcmp(format, FORMAT) != 0)
        return imrec_fail(o->err, IMREC_ERR_CORRUPT,
                          "%s: not a manifest: its \"format\" is not \"" FORMAT "\"", o->file);
    if (!json_read_i64(json_read_member(o->json, "version"), &version) || version != VERSION)
        return imrec_fail(o->err, IMREC_ERR_UNSUPPORTED,
                          "%s: the version of this manifest is not %d, the only one known here",
                          o->file, VERSION);
    o->asked++;
    return IMREC_OK;
}

static enum imrec_status get_all(struct object *o, struct manifest *m)
{
    uint64_t label_width = 0;
    IMREC_TRY(get_version(o));
    IMREC_TRY(get_text(o, "packer", &m->packer));
    IMREC_TRY(get_u64(o, "records", INT64_MAX, &m->records));
    IMREC_TRY(get_u64(o, "bytes", INT64_MAX, &m->bytes));
    IMREC_TRY(get_u64(o, "skipped", INT64_MAX, &m->skipped));
    IMREC_TRY(get_u64(o, "class_count", INT64_MAX, &m->class_count));
    IMREC_TRY(get_u64(o, "label_width", UINT32_MAX, &label_width));
    m->label_width = (uint32_t)label_width;
    IMREC_TRY(get_file(o, "list", &m->list));
    IMREC_TRY(get_file(o, "classes", &m->classes));
    IMREC_TRY(get_options(o, m));
    IMREC_TRY(get_shards(o, m));
    IMREC_TRY(check_all_asked(o));
    const char *why = check_sums(m);
    return why == NULL
               ? IMREC_OK
               : imrec_fail(o->err, IMREC_ERR_CORRUPT, "%s: the manifest has %s", o->file, why);
}

enum imrec_status
manifest_read(const char *name, struct bytes text, struct manifest *out, struct imrec_error *err)
{
    *out = (struct manifest){0};
    const struct json_input in = {.name = name, .text = text, .max_bytes = MANIFEST_MAX_BYTES};
    struct json_value *root;
    IMREC_TRY(json_read(&in, &root, err));
    out->owner = root;
    const enum imrec_status st = get_all(&(struct object){name, "", root, 0, err}, out);
    if (st != IMREC_OK)
        manifest_free(out);
    return st;
}

void manifest_free(struct manifest *m)
{
    if (m->owner != NULL) {
        IMREC_FREE(m->shards, m->options);
        json_read_free(m->owner);
    }
    *m = (struct manifest){0};
}

/* ---- writing --------------------------------------------------------------------------- */

static void put_file(struct json_writer *w, const char *field, const struct manifest_file *f)
{
    char crc[9];
    if (f->name == NULL) {
        json_write_null(w, field);
        return;
    }
    (void)snprintf(crc, sizeof(crc), "%08" PRIx32, f->crc32c);
    json_write_object(w, field, JSON_SPACED);
    json_write_text(w, "name", f->name);
    json_write_u64(w, "bytes", f->bytes);
    json_write_text(w, "crc32c", crc);
    json_write_end(w);
}

static void put_shard(struct json_writer *w, const struct manifest_shard *s)
{
    json_write_object(w, NULL, JSON_SPACED);
    put_file(w, "rec", &s->rec);
    json_write_u64(w, "records", s->records);
    put_file(w, "idx", &s->idx);
    put_file(w, "checksums", &s->checksums);
    json_write_end(w);
}

static void put_option(struct json_writer *w, const struct manifest_option *o)
{
    json_write_array(w, NULL, JSON_SPACED);
    json_write_text(w, NULL, o->name);
    json_write_text(w, NULL, o->value);
    json_write_end(w);
}

/* One field a line, one shard a line: what people compare. */
static enum imrec_status put_all(const struct manifest *m, struct buf *out, struct imrec_error *err)
{
    struct json_writer w = {.out = out, .err = err};
    json_write_object(&w, NULL, JSON_LINES);
    json_write_text(&w, "format", FORMAT);
    json_write_u64(&w, "version", VERSION);
    json_write_text(&w, "packer", m->packer);
    json_write_u64(&w, "records", m->records);
    json_write_u64(&w, "bytes", m->bytes);
    json_write_u64(&w, "skipped", m->skipped);
    json_write_u64(&w, "class_count", m->class_count);
    json_write_u64(&w, "label_width", m->label_width);
    put_file(&w, "list", &m->list);
    put_file(&w, "classes", &m->classes);
    json_write_array(&w, "options", JSON_LINES);
    for (size_t i = 0; i < m->option_count; i++)
        put_option(&w, &m->options[i]);
    json_write_end(&w);
    json_write_array(&w, "shards", JSON_LINES);
    for (size_t i = 0; i < m->shard_count; i++)
        put_shard(&w, &m->shards[i]);
    json_write_end(&w);
    json_write_end(&w);
    return w.status == IMREC_OK ? buf_append(out, "\n", 1, err) : w.status;
}

enum imrec_status manifest_write(const struct manifest *m, struct buf *out, struct imrec_error *err)
{
    struct manifest again;
    const size_t before = out->n;
    enum imrec_status st = put_all(m, out, err);
    if (st == IMREC_OK) { /* the reader has the rules */
        const struct bytes text = {out->p + before, out->n - before};
        st = manifest_read("the manifest to be written", text, &again, err);
        manifest_free(&again);
    }
    if (st == IMREC_ERR_CORRUPT) {
        st = IMREC_ERR_ARGUMENT;
        if (err != NULL)
            err->status = st;
    }
    if (st != IMREC_OK)
        out->n = before;
    return st;
}
