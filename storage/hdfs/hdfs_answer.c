/* storage/hdfs/hdfs_answer.c - WebHDFS's JSON into values, each checked. */
#include "storage/hdfs/hdfs_answer.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/json_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum imrec_status wrong(const char *shown, const char *what, struct imrec_error *err)
{
    return imrec_fail(err, IMREC_ERR_CORRUPT, "%s: the server's answer has no %s that is right",
                      shown, what);
}

static enum imrec_status read_json(struct bytes text, const char *shown, size_t most,
                                   struct json_value **out, struct imrec_error *err)
{
    char name[400];
    (void)snprintf(name, sizeof(name), "%.360s: the server's answer,", shown);
    const struct json_input in = {.name = name, .text = text, .max_bytes = most};
    const enum imrec_status st = json_read(&in, out, err);
    if (st != IMREC_OK && err != NULL)
        err->offset = IMREC_NO_OFFSET; /* of the answer, not of the object */
    return st;
}

/* ---- one file ----------------------------------------------------------------------------- */

static bool kind_of(const struct json_value *entry, enum hdfs_kind *out)
{
    const char *type = json_read_text(json_read_member(entry, "type"));
    if (type != NULL)
        *out = strcmp(type, "FILE") == 0        ? HDFS_FILE
               : strcmp(type, "DIRECTORY") == 0 ? HDFS_FOLDER
                                                : HDFS_OTHER;
    return type != NULL;
}

static bool number_of(const struct json_value *entry, const char *key, uint64_t *out)
{
    int64_t v;
    if (!json_read_i64(json_read_member(entry, key), &v) || v < 0)
        return false;
    *out = (uint64_t)v;
    return true;
}

/* What is wrong with it; NULL: nothing. */
static const char *read_version(const struct json_value *s, struct hdfs_status *out)
{
    if (!number_of(s, "length", &out->size) || out->size > INT64_MAX / 2)
        return "length";
    if (!number_of(s, "modificationTime", &out->modified_ms) ||
        out->modified_ms > UINT64_MAX / 1000000u)
        return "modificationTime";
    (void)number_of(s, "fileId", &out->id);
    return NULL;
}

void hdfs_identity(const struct hdfs_status *s, char out[HDFS_IDENTITY_BYTES])
{
    (void)snprintf(out, HDFS_IDENTITY_BYTES, "%" PRIu64 "-%" PRIu64 "-%" PRIu64, s->modified_ms,
                   s->size, s->id);
}

enum imrec_status hdfs_answer_status(struct bytes text, const char *shown, struct hdfs_status *out,
                                     struct imrec_error *err)
{
    struct json_value *tree;
    *out = (struct hdfs_status){0};
    IMREC_TRY(read_json(text, shown, HDFS_ANSWER_BYTES, &tree, err));
    const struct json_value *s = json_read_member(tree, "FileStatus");
    const char *bad = kind_of(s, &out->kind) ? read_version(s, out) : "type";
    const enum imrec_status st = bad == NULL ? IMREC_OK : wrong(shown, bad, err);
    json_read_free(tree);
    return st;
}

enum imrec_status
hdfs_answer_bool(struct bytes text, const char *shown, bool *out, struct imrec_error *err)
{
    struct json_value *tree;
    IMREC_TRY(read_json(text, shown, HDFS_ANSWER_BYTES, &tree, err));
    const bool given = json_read_bool(json_read_member(tree, "boolean"), out);
    json_read_free(tree);
    return given ? IMREC_OK : wrong(shown, "'boolean'", err);
}

enum imrec_status
hdfs_answer_location(struct bytes text, const char *shown, char **out, struct imrec_error *err)
{
    struct json_value *tree;
    *out = NULL;
    IMREC_TRY(read_json(text, shown, HDFS_ANSWER_BYTES, &tree, err));
    const char *url = json_read_text(json_read_member(tree, "Location"));
    enum imrec_status st = IMREC_OK;
    if (url == NULL)
        st = wrong(shown, "'Location'", err);
    else if ((*out = imrec_joined(url, strlen(url), "")) == NULL)
        st = IMREC_NO_MEMORY(err, "%s: no memory for a request", shown);
    json_read_free(tree);
    return st;
}

/* ---- listings ----------------------------------------------------------------------------- */

static bool is_alone(const struct hdfs_page *p)
{
    const struct json_value *first = json_read_element(p->entries, 0);
    const char *name = json_read_text(json_read_member(first, "pathSuffix"));
    return p->count == 1 && name != NULL && name[0] == '\0';
}

enum imrec_status hdfs_answer_page(struct bytes text, const char *shown, struct hdfs_page *out,
                                   struct imrec_error *err)
{
    uint64_t left = 0;
    *out = (struct hdfs_page){0};
    IMREC_TRY(read_json(text, shown, HDFS_PAGE_BYTES, &out->tree, err));
    const struct json_value *batch = json_read_member(out->tree, "DirectoryListing"),
                            *whole = batch == NULL ? out->tree
                                                   : json_read_member(batch, "partialListing");
    out->entries = json_read_member(json_read_member(whole, "FileStatuses"), "FileStatus");
    out->count = json_read_count(out->entries);
    enum imrec_status st = IMREC_OK;
    if (json_read_kind(out->entries) != JSON_KIND_ARRAY)
        st = wrong(shown, "list of files", err);
    else if (batch != NULL && !number_of(batch, "remainingEntries", &left))
        st = wrong(shown, "'remainingEntries'", err);
    else if (left != 0 && out->count == 0) /* it would be asked for for ever */
        st = wrong(shown, "files on a page of its listing", err);
    out->more = left != 0;
    out->alone = is_alone(out);
    if (st != IMREC_OK)
        hdfs_page_free(out);
    return st;
}

enum imrec_status hdfs_page_entry(const struct hdfs_page *p, size_t i, const char *shown,
                                  struct hdfs_entry *out, struct imrec_error *err)
{
    const struct json_value *entry = json_read_element(p->entries, i);
    const char *name = json_read_text(json_read_member(entry, "pathSuffix"));
    *out = (struct hdfs_entry){.name = name};
    if (name == NULL)
        return wrong(shown, "'pathSuffix'", err);
    if (name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0)
        return imrec_fail(err, IMREC_ERR_CORRUPT,
                          "%s: the server lists a file of the name '%.100s', which none can have",
                          shown, name);
    if (!kind_of(entry, &out->status.kind))
        return wrong(shown, "type", err);
    out->whole = read_version(entry, &out->status) == NULL;
    return IMREC_OK;
}

void hdfs_page_free(struct hdfs_page *p)
{
    json_read_free(p->tree);
    *p = (struct hdfs_page){0};
}

/* ---- refusals ----------------------------------------------------------------------------- */

static void take_line(const char *text, char *to, size_t room)
{
    const size_t n = text != NULL ? strcspn(text, "\r\n") : 0;
    (void)snprintf(to, room, "%.*s", n < room ? (int)n : (int)room - 1, text != NULL ? text : "");
}

/* The first line of the text in quotes after "key":, as it is, of JSON that breaks off. */
static void take_quoted(const char *text, const char *key, char *to, size_t room)
{
    const char *at = strstr(text, key);
    at = at != NULL ? at + strlen(key) : "";
    at += strspn(at, ": ");
    if (*at != '"')
        return;
    const size_t n = strcspn(at + 1, "\"\\\r\n");
    (void)snprintf(to, room, "%.*s", n < room ? (int)n : (int)room - 1, at + 1);
}

void hdfs_answer_refusal(const char *text, struct hdfs_refusal *out)
{
    struct json_value *tree;
    const struct bytes all = {(const uint8_t *)text, strlen(text)};
    *out = (struct hdfs_refusal){0};
    if (read_json(all, "", HDFS_ANSWER_BYTES, &tree, NULL) != IMREC_OK) {
        take_quoted(text, "\"exception\"", out->exception, sizeof(out->exception));
        take_quoted(text, "\"message\"", out->message, sizeof(out->message));
        return;
    }
    const struct json_value *e = json_read_member(tree, "RemoteException");
    take_line(json_read_text(json_read_member(e, "exception")), out->exception,
              sizeof(out->exception));
    take_line(json_read_text(json_read_member(e, "message")), out->message, sizeof(out->message));
    json_read_free(tree);
}
