/*
 * formats/set/manifest.c - the manifest as JSON.
 *
 * What is read keeps the JSON tree and points into it. What is written is put together here,
 * for jansson's own layout is no promise and ours is: one field a line, one shard a line.
 */
#include "formats/set/manifest.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FORMAT  "imrec-manifest"
#define VERSION 1

/* ---- what can be wrong with the whole ------------------------------------------------------- */

static bool is_component(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

static bool add_fits(uint64_t *sum, uint64_t v)
{
    return !__builtin_add_overflow(*sum, v, sum);
}

static bool is_cbf(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".cbf") == 0;
}

/* What is wrong with the whole, or NULL. */
static const char *check_sums(const struct manifest *m)
{
    uint64_t records = 0, bytes = 0;
    for (size_t i = 0; i < m->shard_count; i++) {
        const struct manifest_shard *s = &m->shards[i];
        if (!add_fits(&records, s->records) || !add_fits(&bytes, s->rec.bytes))
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
    const json_t *json;
    size_t asked;
    struct imrec_error *err;
};

static enum imrec_status refuse(const struct object *o, const char *field, const char *must)
{
    return imrec_error_at(o->err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET, "%s: %s%s of a manifest %s",
                          o->file, o->where, field, must);
}

static enum imrec_status get_u64(struct object *o, const char *field, uint64_t max, uint64_t *out)
{
    const json_t *v = json_object_get(o->json, field);
    char must[80];
    (void)snprintf(must, sizeof(must), "must be a whole number from 0 to %" PRIu64, max);
    if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > max)
        return refuse(o, field, must);
    *out = (uint64_t)json_integer_value(v);
    o->asked++;
    return IMREC_OK;
}

static enum imrec_status get_text(struct object *o, const char *field, const char **out)
{
    const json_t *v = json_object_get(o->json, field);
    if (!json_is_string(v))
        return refuse(o, field, "must be a text");
    *out = json_string_value(v);
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
    return o->asked == json_object_size(o->json)
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
    f.json = json_object_get(o->json, field);
    o->asked++;
    *out = (struct manifest_file){0};
    if (json_is_null(f.json))
        return IMREC_OK;
    if (!json_is_object(f.json))
        return refuse(o, field, "must be an object or null");
    IMREC_TRY(get_text(&f, "name", &out->name));
    if (!is_component(out->name))
        return refuse(&f, "name", "must be a file name without a folder");
    IMREC_TRY(get_u64(&f, "bytes", INT64_MAX, &out->bytes));
    IMREC_TRY(get_crc(&f, "crc32c", &out->crc32c));
    return check_all_asked(&f);
}

static enum imrec_status get_array(struct object *o, const char *field, size_t max, size_t each,
                                   const json_t **array, void **out)
{
    char must[64];
    *array = json_object_get(o->json, field);
    o->asked++;
    (void)snprintf(must, sizeof(must), "must be a list of at most %zu", max);
    if (!json_is_array(*array) || json_array_size(*array) > max)
        return refuse(o, field, must);
    const size_t n = json_array_size(*array);
    *out = imrec_zalloc(n != 0 ? n : 1, each);
    if (*out == NULL)
        return imrec_error_at(o->err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "no memory for the %zu %s of a manifest", n, field);
    return IMREC_OK;
}

static enum imrec_status get_shards(struct object *o, struct manifest *m)
{
    const json_t *array;
    void *room = NULL;
    IMREC_TRY(get_array(o, "shards", MANIFEST_MAX_SHARDS, sizeof(*m->shards), &array, &room));
    m->shards = room;
    m->shard_count = json_array_size(array);
    for (size_t i = 0; i < m->shard_count; i++) {
        char where[48];
        struct object s = {o->file, where, json_array_get(array, i), 0, o->err};
        (void)snprintf(where, sizeof(where), "shards[%zu].", i);
        if (!json_is_object(s.json))
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
    const json_t *array;
    void *room = NULL;
    IMREC_TRY(get_array(o, "options", 4096, sizeof(*m->options), &array, &room));
    m->options = room;
    m->option_count = json_array_size(array);
    for (size_t i = 0; i < m->option_count; i++) {
        const json_t *pair = json_array_get(array, i);
        const char *name = json_string_value(json_array_get(pair, 0));
        const char *value = json_string_value(json_array_get(pair, 1));
        if (json_array_size(pair) != 2 || name == NULL || value == NULL)
            return refuse(o, "options", "must be pairs of name and value, both texts");
        m->options[i] = (struct manifest_option){name, value};
    }
    return IMREC_OK;
}

static enum imrec_status get_version(struct object *o)
{
    const char *format = NULL;
    const json_t *version = json_object_get(o->json, "version");
    if (!json_is_object(o->json) || get_text(o, "format", &format) != IMREC_OK ||
        strcmp(format, FORMAT) != 0)
        return imrec_error_at(o->err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                              "%s: no manifest: its \"format\" is not \"" FORMAT "\"", o->file);
    if (!json_is_integer(version) || json_integer_value(version) != VERSION)
        return imrec_error_at(o->err, IMREC_ERR_UNSUPPORTED, IMREC_NO_OFFSET,
                              "%s: the version of this manifest is not %d, the only one known here",
                              o->file, VERSION);
    o->asked++;
    return IMREC_OK;
}

static enum imrec_status get_all(struct object *o, struct manifest *m)
{
    uint64_t label_width;
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
    return why == NULL ? IMREC_OK
                       : imrec_error_at(o->err, IMREC_ERR_CORRUPT, IMREC_NO_OFFSET,
                                        "%s: the manifest has %s", o->file, why);
}

enum imrec_status
manifest_read(const char *name, struct bytes text, struct manifest *out, struct imrec_error *err)
{
    *out = (struct manifest){0};
    if (text.n > MANIFEST_MAX_BYTES)
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET,
                              "%s: a manifest of %zu bytes, the limit is %u", name, text.n,
                              MANIFEST_MAX_BYTES);
    json_error_t why;
    json_t *root = json_loadb((const char *)text.p, text.n, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL)
        return imrec_error_at(
            err, IMREC_ERR_CORRUPT, (uint64_t)why.position, "%s line %d: no JSON: %s", name,
            why.line, text_quote((struct bytes){(const uint8_t *)why.text, strlen(why.text)}).s);
    out->owner = root;
    const enum imrec_status st = get_all(&(struct object){name, "", root, 0, err}, out);
    if (st != IMREC_OK)
        manifest_free(out);
    return st;
}

void manifest_free(struct manifest *m)
{
    if (m->owner != NULL) {
        imrec_free(m->shards);
        imrec_free(m->options);
        json_decref(m->owner);
    }
    *m = (struct manifest){0};
}

/* ---- writing --------------------------------------------------------------------------- */

struct writer {
    struct buf *out;
    struct imrec_error *err;
    enum imrec_status st; /* the first failure; nothing is written after it */
};

static void put(struct writer *w, const char *text)
{
    if (w->st == IMREC_OK)
        w->st = buf_append(w->out, text, strlen(text), w->err);
}

static void put_text(struct writer *w, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    put(w, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        const char one[] = {*c, '\0'}, two[] = {'\\', *c, '\0'};
        const char six[] = {'\\', 'u', '0', '0', hex[(uint8_t)*c >> 4], hex[*c & 15], '\0'};
        put(w, (uint8_t)*c < 0x20 ? six : *c == '"' || *c == '\\' ? two : one);
    }
    put(w, "\"");
}

static void put_u64(struct writer *w, const char *before, uint64_t v)
{
    char digits[21] = {0};
    text_from_u64(v, digits);
    put(w, before);
    put(w, digits);
}

static void put_file(struct writer *w, const char *before, const struct manifest_file *f)
{
    char crc[32];
    put(w, before);
    if (f->name == NULL) {
        put(w, "null");
        return;
    }
    put(w, "{\"name\": ");
    put_text(w, f->name);
    put_u64(w, ", \"bytes\": ", f->bytes);
    (void)snprintf(crc, sizeof(crc), ", \"crc32c\": \"%08" PRIx32 "\"}", f->crc32c);
    put(w, crc);
}

static void put_shard(struct writer *w, const struct manifest_shard *s, bool first)
{
    put_file(w, first ? "\n    {\"rec\": " : ",\n    {\"rec\": ", &s->rec);
    put_u64(w, ", \"records\": ", s->records);
    put_file(w, ", \"idx\": ", &s->idx);
    put_file(w, ", \"checksums\": ", &s->checksums);
    put(w, "}");
}

static void put_all(struct writer *w, const struct manifest *m)
{
    put(w, "{\n  \"format\": \"" FORMAT "\",\n  \"version\": 1,\n  \"packer\": ");
    put_text(w, m->packer);
    put_u64(w, ",\n  \"records\": ", m->records);
    put_u64(w, ",\n  \"bytes\": ", m->bytes);
    put_u64(w, ",\n  \"skipped\": ", m->skipped);
    put_u64(w, ",\n  \"class_count\": ", m->class_count);
    put_u64(w, ",\n  \"label_width\": ", m->label_width);
    put_file(w, ",\n  \"list\": ", &m->list);
    put_file(w, ",\n  \"classes\": ", &m->classes);
    put(w, ",\n  \"options\": [");
    for (size_t i = 0; i < m->option_count; i++) {
        put(w, i == 0 ? "\n    [" : ",\n    [");
        put_text(w, m->options[i].name);
        put(w, ", ");
        put_text(w, m->options[i].value);
        put(w, "]");
    }
    put(w, m->option_count != 0 ? "\n  ],\n  \"shards\": [" : "],\n  \"shards\": [");
    for (size_t i = 0; i < m->shard_count; i++)
        put_shard(w, &m->shards[i], i == 0);
    put(w, "\n  ]\n}\n");
}

enum imrec_status manifest_write(const struct manifest *m, struct buf *out, struct imrec_error *err)
{
    struct writer w = {out, err, IMREC_OK};
    struct manifest again;
    const size_t before = out->n;
    put_all(&w, m);
    if (w.st == IMREC_OK) { /* the reader is the one that knows what is allowed */
        const struct bytes text = {out->p + before, out->n - before};
        w.st = manifest_read("the manifest to be written", text, &again, err);
        manifest_free(&again);
    }
    if (w.st == IMREC_ERR_CORRUPT) {
        w.st = IMREC_ERR_ARGUMENT;
        if (err != NULL)
            err->status = w.st;
    }
    if (w.st != IMREC_OK)
        out->n = before;
    return w.st;
}
