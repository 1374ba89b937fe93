/* im2rec/tasks/plan_file.c - the file PLAN/plan: one checked line a value, the last one a check of
 * all. */
#include "im2rec/tasks/plan.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"
#include "im2rec/item/pack_options.h"
#include "im2rec/set/checked_lines.h"
#include "im2rec/tasks/escape.h"
#include "imrec/version.h"
#include "storage/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLAN_VERSION   1
#define PLAN_BYTES_MAX ((size_t)16 << 20)
#define NAME_ROOM      64 /* of PLAN_URI_BYTES, for the names in the folder */

/* ---- names ------------------------------------------------------------------------------ */

void plan_name(const struct plan *p, const char *base, char out[PLAN_URI_BYTES])
{
    snprintf(out, PLAN_URI_BYTES, "%.*s/%s", PLAN_URI_BYTES - NAME_ROOM - 2, p->uri, base);
}

void plan_task_name(const struct plan *p, uint64_t k, const char *what, const char *mark,
                    char out[PLAN_URI_BYTES])
{
    char base[NAME_ROOM];
    snprintf(base, sizeof(base), "task-%07" PRIu64 ".%s%s%s", k, what, mark != NULL ? "-" : "",
             mark != NULL ? mark : "");
    plan_name(p, base, out);
}

enum imrec_status plan_name_set(struct plan *p, const char *uri, struct imrec_error *err)
{
    const char *path = uri != NULL ? source_path(uri) : "";
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    if (n == 0 || n > PLAN_URI_BYTES - NAME_ROOM - 2)
        return IMREC_REFUSE(err, "a plan must be the name of a folder, of at most %d bytes",
                            PLAN_URI_BYTES - NAME_ROOM - 2);
    memcpy(p->uri, path, n);
    p->uri[n] = '\0';
    return IMREC_OK;
}

enum imrec_status plan_put(const char *name, struct bytes text, struct imrec_error *err)
{
    struct sink *to;
    IMREC_TRY(sink_open(name, &to, err));
    const enum imrec_status st = sink_append(to, text.p, text.n, err);
    if (st == IMREC_OK)
        return sink_commit(to, err);
    sink_abort(to);
    return st;
}

enum imrec_status plan_exists(const struct plan *p, bool *there, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    plan_name(p, "plan", name);
    return sink_exists(name, there, err);
}

uint64_t plan_records(const struct plan *p)
{
    return p->images * (uint64_t)p->o.copies;
}

/* ---- values ----------------------------------------------------------------------------- */

/* The numbers and texts of a plan, by name. */
static const struct {
    const char *name;
    size_t offset;
} number_fields[] =
    {
        {"tasks", offsetof(struct plan, tasks)},
        {"images", offsetof(struct plan, images)},
        {"fingerprint", offsetof(struct plan, fingerprint)},
        {"widest", offsetof(struct plan, widest)},
        {"skips", offsetof(struct plan, skips)},
        {"other_files", offsetof(struct plan, other_files)},
        {"classes_crc", offsetof(struct plan, classes_crc)},
        {"labels", offsetof(struct plan, labels)},
        {"pixel_encoding", offsetof(struct plan, pixel_encoding)},
        {"pixel_quality", offsetof(struct plan, pixel_quality)},
        {"pixel_channels", offsetof(struct plan, pixel_channels)},
},
  flag_fields[] =
      {
          {"scanned", offsetof(struct plan, scanned)},
          {"archives", offsetof(struct plan, archives)},
          {"has_classes", offsetof(struct plan, has_classes)},
          {"joins", offsetof(struct plan, joins)},
          {"items", offsetof(struct plan, items)},
          {"numbered", offsetof(struct plan, numbered)},
          {"boxes", offsetof(struct plan, boxes)},
          {"exact_name",
           offsetof(struct plan, task) + offsetof(struct imrec_pack_task, exact_name)},
          {"some_classes",
           offsetof(struct plan, task) + offsetof(struct imrec_pack_task, some_classes)},
},
  text_fields[] = {
      {"root", offsetof(struct plan, task) + offsetof(struct imrec_pack_task, root)},
      {"out", offsetof(struct plan, task) + offsetof(struct imrec_pack_task, out)},
      {"given_list", offsetof(struct plan, task) + offsetof(struct imrec_pack_task, list)},
      {"folder", offsetof(struct plan, folder)},
      {"cwd", offsetof(struct plan, cwd)},
      {"list", offsetof(struct plan, list)},
      {"list_name", offsetof(struct plan, list_name)},
      {"tables", offsetof(struct plan, tables)},
};

#define COUNT(a)           (sizeof(a) / sizeof((a)[0]))
#define FIELD(p, type, at) (*(type *)((char *)(p) + (at)))

/* ---- writing ---------------------------------------------------------------------------- */

static enum imrec_status
put(struct buf *out, const char *key, const char *value, struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    struct buf coded = BUF_INIT(PLAN_BYTES_MAX);
    const struct bytes text = {(const uint8_t *)value, strlen(value)};
    snprintf(head, sizeof(head), "v %s", key);
    enum imrec_status st = escape(&coded, text, err);
    if (st == IMREC_OK)
        st = checked_line_put(out, head, (struct bytes){coded.p, coded.n}, err);
    buf_free(&coded);
    return st;
}

static enum imrec_status
put_number(struct buf *out, const char *key, uint64_t v, struct imrec_error *err)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIu64, v);
    return put(out, key, text, err);
}

static enum imrec_status put_options(struct buf *out, const struct plan *p, struct imrec_error *err)
{
    char text[PACK_OPTION_BYTES], preset[PACK_OPTION_BYTES], key[80];
    for (const struct param *row = pack_params; row->name != NULL; row++) {
        pack_option_text(&p->o, row, text, sizeof(text));
        pack_option_preset(&p->o, row, preset, sizeof(preset));
        snprintf(key, sizeof(key), "option.%s", row->name);
        if (strcmp(text, preset) != 0)
            IMREC_TRY(put(out, key, text, err));
    }
    return IMREC_OK;
}

static enum imrec_status put_all(struct buf *out, struct plan *p, struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    snprintf(head, sizeof(head), "imrec-plan %d", PLAN_VERSION);
    IMREC_TRY(checked_line_put(out, head, (struct bytes){NULL, 0}, err));
    IMREC_TRY(put(out, "packer", IMREC_VERSION_STRING, err));
    for (size_t i = 0; i < COUNT(number_fields); i++)
        IMREC_TRY(put_number(out, number_fields[i].name,
                             FIELD(p, uint64_t, number_fields[i].offset), err));
    for (size_t i = 0; i < COUNT(flag_fields); i++)
        IMREC_TRY(put_number(out, flag_fields[i].name, FIELD(p, bool, flag_fields[i].offset), err));
    for (size_t i = 0; i < COUNT(text_fields); i++)
        if (FIELD(p, const char *, text_fields[i].offset) != NULL)
            IMREC_TRY(
                put(out, text_fields[i].name, FIELD(p, const char *, text_fields[i].offset), err));
    IMREC_TRY(put_options(out, p, err));
    snprintf(p->mark, sizeof(p->mark), "%016" PRIx64,
             fingerprint(FINGERPRINT_START, out->p, out->n));
    snprintf(head, sizeof(head), "e %s", p->mark);
    return checked_line_put(out, head, (struct bytes){NULL, 0}, err);
}

enum imrec_status plan_write(struct plan *p, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct buf text = BUF_INIT(PLAN_BYTES_MAX);
    plan_name(p, "plan", name);
    enum imrec_status st = put_all(&text, p, err);
    if (st == IMREC_OK)
        st = plan_put(name, (struct bytes){text.p, text.n}, err);
    buf_free(&text);
    return st;
}

/* ---- reading ---------------------------------------------------------------------------- */

static enum imrec_status damaged(const struct plan *p, const char *what, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT, "%s/plan: %.100s: the plan is damaged, make it again",
                      p->uri, what);
}

static enum imrec_status
take_option(struct plan *p, const char *name, const char *value, struct imrec_error *err)
{
    struct imrec_error why;
    if (param_set(pack_params, &p->o, name, strlen(name), value, &why) == IMREC_OK)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "%s/plan: option %.64s=%.64s is none of this version: %.200s", p->uri, name,
                      value, why.message);
}

static enum imrec_status
take(struct plan *p, const char *key, const char *value, struct imrec_error *err)
{
    uint64_t v = 0;
    const bool number = text_to_u64((struct bytes){(const uint8_t *)value, strlen(value)}, &v);
    if (strncmp(key, "option.", 7) == 0)
        return take_option(p, key + 7, value, err);
    if (strcmp(key, "packer") == 0)
        return strcmp(value, IMREC_VERSION_STRING) == 0
                   ? IMREC_OK
                   : IMREC_REFUSE(err,
                                  "%s/plan: it was made by imrec %.32s, this is imrec %s: all "
                                  "machines must run one version",
                                  p->uri, value, IMREC_VERSION_STRING);
    for (size_t i = 0; number && i < COUNT(number_fields); i++)
        if (strcmp(key, number_fields[i].name) == 0) {
            FIELD(p, uint64_t, number_fields[i].offset) = v;
            return IMREC_OK;
        }
    for (size_t i = 0; number && v <= 1 && i < COUNT(flag_fields); i++)
        if (strcmp(key, flag_fields[i].name) == 0) {
            FIELD(p, bool, flag_fields[i].offset) = v != 0;
            return IMREC_OK;
        }
    for (size_t i = 0; i < COUNT(text_fields); i++)
        if (strcmp(key, text_fields[i].name) == 0) {
            FIELD(p, const char *, text_fields[i].offset) = value;
            return IMREC_OK;
        }
    return damaged(p, key, err);
}

/* A copy that lives as long as the plan, with a NUL after it. */
static enum imrec_status
keep(struct plan *p, struct bytes coded, const char **out, struct imrec_error *err)
{
    struct buf text = BUF_INIT(PLAN_BYTES_MAX);
    enum imrec_status st = unescape(&text, coded, err);
    if (st == IMREC_OK)
        st = buf_append(&text, "", 1, err);
    if (st == IMREC_OK && strlen((const char *)text.p) + 1 != text.n)
        st = damaged(p, "a NUL in a value", err);
    *out = st == IMREC_OK ? string_arena_put(&p->texts, text.p, text.n) : NULL;
    if (st == IMREC_OK && *out == NULL)
        st = IMREC_NO_MEMORY(err, "no memory for a plan");
    buf_free(&text);
    return st;
}

static enum imrec_status
take_line(struct plan *p, struct bytes line, bool *end, struct imrec_error *err)
{
    char head[CHECKED_HEAD_BYTES];
    struct bytes rest;
    const char *value;
    if (!checked_head_of(line, head, &rest))
        return damaged(p, "a line is too long", err);
    *end = head[0] == 'e' && strlen(head) == PLAN_MARK_BYTES + 1;
    if (*end) {
        memcpy(p->mark, head + 2, PLAN_MARK_BYTES);
        return IMREC_OK;
    }
    if (strncmp(head, "v ", 2) != 0)
        return damaged(p, head, err);
    IMREC_TRY(keep(p, rest, &value, err));
    return take(p, head + 2, value, err);
}

/* The check over all lines before the last one. */
static enum imrec_status check_mark(struct plan *p, uint64_t bytes, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES], mark[PLAN_MARK_BYTES];
    uint8_t *text;
    size_t n;
    plan_name(p, "plan", name);
    IMREC_TRY(source_load(name, PLAN_BYTES_MAX, &text, &n, err));
    snprintf(mark, sizeof(mark), "%016" PRIx64,
             fingerprint(FINGERPRINT_START, text, n < bytes ? n : (size_t)bytes));
    imrec_free(text);
    return n > bytes && strcmp(mark, p->mark) == 0 ? IMREC_OK
                                                   : damaged(p, "its check is wrong", err);
}

static enum imrec_status
read_lines(struct plan *p, struct checked_lines *l, struct imrec_error *err)
{
    struct bytes line, rest;
    char head[CHECKED_HEAD_BYTES];
    int version = 0;
    enum imrec_status st = checked_lines_next(l, &line, err);
    if (st == IMREC_END || (st == IMREC_OK && (!checked_head_of(line, head, &rest) ||
                                               sscanf(head, "imrec-plan %d", &version) != 1)))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, 0, "%s/plan is not a plan of im2rec", p->uri);
    IMREC_TRY(st);
    if (version != PLAN_VERSION)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%s/plan has version %d, this program reads %d", p->uri, version,
                          PLAN_VERSION);
    for (bool end = false; !end;) {
        const uint64_t at = checked_lines_offset(l);
        st = checked_lines_next(l, &line, err);
        if (st == IMREC_END)
            return damaged(p, "its end is missing", err);
        IMREC_TRY(st);
        IMREC_TRY(take_line(p, line, &end, err));
        if (end)
            return check_mark(p, at, err);
    }
    return IMREC_OK;
}

static bool knows_source(const struct plan *p)
{
    if (!p->items)
        return p->list != NULL && p->list_name != NULL;
    return p->list == NULL && p->labels <= UINT32_MAX && p->pixel_encoding <= IMREC_ENCODE_PNG &&
           p->pixel_quality >= 1 && p->pixel_quality <= 100 &&
           (p->pixel_channels == 0 || p->pixel_channels == 1 || p->pixel_channels == 3);
}

static enum imrec_status check(const struct plan *p, struct imrec_error *err)
{
    const bool whole = p->task.root != NULL && p->task.out != NULL && p->folder != NULL &&
                       p->cwd != NULL && knows_source(p);
    if (!whole || p->tasks == 0 || p->tasks > IMREC_PLAN_TASKS_MOST || p->o.copies < 1 ||
        p->images > UINT64_MAX / (uint64_t)p->o.copies || p->widest > UINT32_MAX ||
        p->o.shared_tables != (p->tables != NULL))
        return damaged(p, "a value is missing or out of range", err);
    return IMREC_OK;
}

/* A plan that is not there; other failures stay as they are. */
static enum imrec_status no_plan(const char *uri, enum imrec_status st, struct imrec_error *err)
{
    if (err == NULL || err->sys_errno != ENOENT)
        return st;
    (void)imrec_fail(err, st, "there is no plan %.300s: im2rec --plan makes one", uri);
    imrec_error_errno(err, ENOENT);
    return st;
}

enum imrec_status plan_load(const char *uri, struct plan *out, struct imrec_error *err)
{
    char name[PLAN_URI_BYTES];
    struct checked_lines l = {0};
    struct imrec_pack_options checked;
    *out = (struct plan){0};
    imrec_pack_options_init(&out->o);
    IMREC_TRY(plan_name_set(out, uri, err));
    plan_name(out, "plan", name);
    enum imrec_status st = source_open(name, &l.source, err);
    if (st != IMREC_OK)
        return no_plan(uri, st, err);
    st = read_lines(out, &l, err);
    source_close(l.source);
    checked_lines_free(&l);
    if (st == IMREC_OK)
        st = check(out, err);
    if (st == IMREC_OK)
        st = pack_options_check(&out->o, &checked, err);
    if (st == IMREC_OK)
        out->o = checked;
    if (st != IMREC_OK)
        plan_free(out);
    return st;
}

void plan_free(struct plan *p)
{
    string_arena_free(&p->texts);
    *p = (struct plan){0};
}
