/* container/folder/listed_files.c - the files that the lines of a .lst name. */
#include "container/folder/listed_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "formats/set/image_list.h"
#include "storage/source.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MOST   ((size_t)1 << 36)
#define LABELS_MOST ((size_t)UINT32_MAX * sizeof(float))

static enum imrec_status no_memory(const char *list, struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "%s: no memory for what it lists", list);
}

static enum imrec_status
add_labels(struct listed_files *l, const struct image_list_entry *e, struct imrec_error *err)
{
    for (uint32_t i = 0; i < e->label_count; i++) {
        uint8_t bytes[sizeof(float)];
        store_le_float(bytes, e->labels[i]);
        IMREC_TRY(buf_append(&l->labels, bytes, sizeof(bytes), err));
    }
    l->widest = e->label_count > l->widest ? e->label_count : l->widest;
    return IMREC_OK;
}

static bool add_file(struct scan *files, struct listed_files *l, struct bytes name)
{
    char path[SCAN_PATH_BYTES];
    const uint64_t n = files->file_count;
    memcpy(path, name.p, name.n);
    path[name.n] = '\0';
    return IMREC_GROW(l->id, l->id_room, n + 1) &&
           IMREC_GROW(l->label_begin, l->label_room, n + 2) &&
           scan_add_file(files, 0, (uint32_t)n, path, NULL);
}

static enum imrec_status skip(struct scan *files, const char *list, uint64_t line,
                              enum reason reason, const char *why, struct imrec_error *err)
{
    char at[32];
    (void)snprintf(at, sizeof(at), "line %llu", (unsigned long long)line);
    return scan_add_skip(files, "", at, reason, why) ? IMREC_OK : no_memory(list, err);
}

static enum imrec_status take_line(struct scan *files, struct listed_files *l, const char *list,
                                   const struct image_list *at, const struct image_list_entry *e,
                                   struct imrec_error *err)
{
    const enum reason reason = reason_of_name(e->path);
    const uint64_t n = files->file_count;
    if (reason != REASON_NONE)
        return skip(files, list, at->lines.number, reason,
                    reason == REASON_UTF8 ? "the name is not UTF-8"
                                          : "the name holds a control character",
                    err);
    if (e->path.n >= SCAN_PATH_BYTES)
        return skip(files, list, at->lines.number, REASON_UNREADABLE,
                    "the path is longer than 4095 bytes", err);
    if (n == UINT32_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%s names more than 2^32 - 1 images", list);
    if (!add_file(files, l, e->path))
        return no_memory(list, err);
    l->id[n] = e->id;
    l->label_begin[n] = (uint32_t)(l->labels.n / sizeof(float));
    IMREC_TRY(add_labels(l, e, err));
    l->label_begin[n + 1] = (uint32_t)(l->labels.n / sizeof(float));
    return IMREC_OK;
}

static enum imrec_status parse(const char *list, struct bytes text, struct scan *files,
                               struct listed_files *out, struct imrec_error *err)
{
    struct image_list l;
    struct image_list_entry e;
    struct imrec_error why;
    enum imrec_status st = IMREC_OK, line;
    image_list_begin(&l, list, 0, text, 0, 0);
    l.type = LIST_LABELS_FLOAT32;
    while (st == IMREC_OK && (line = image_list_next(&l, &e, &why)) != IMREC_END) {
        if (line == IMREC_OK) {
            st = take_line(files, out, list, &l, &e, err);
        } else if (line == IMREC_ERR_CORRUPT) {
            st = skip(files, list, l.lines.number, REASON_LINE, why.message, err);
        } else {
            st = line;
            if (err != NULL)
                *err = why;
        }
    }
    image_list_end(&l);
    return st;
}

enum imrec_status listed_files_load(const char *list, struct scan *files, struct listed_files *out,
                                    struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    out->labels = BUF_INIT(LABELS_MOST);
    if (!scan_add_folder(files, "", 0, 0))
        return no_memory(list, err);
    IMREC_TRY(source_load(list, TEXT_MOST, &text, &n, err));
    const enum imrec_status st = parse(list, (struct bytes){text, n}, files, out, err);
    imrec_free(text);
    return st;
}

struct bytes listed_files_labels(const struct listed_files *l, uint64_t file, uint32_t *count)
{
    *count = l->label_begin[file + 1] - l->label_begin[file];
    return (struct bytes){l->labels.p + (size_t)l->label_begin[file] * sizeof(float),
                          *count * sizeof(float)};
}

uint64_t listed_files_hash(const struct listed_files *l, uint64_t files, uint64_t hash)
{
    hash = fnv1a(hash, l->id, (size_t)files * sizeof(*l->id));
    hash = fnv1a(hash, l->label_begin, ((size_t)files + 1) * sizeof(*l->label_begin));
    return fnv1a(hash, l->labels.p, l->labels.n);
}

uint64_t listed_files_memory(const struct listed_files *l)
{
    return l->id_room * sizeof(*l->id) + l->label_room * sizeof(*l->label_begin) + l->labels.cap;
}

void listed_files_free(struct listed_files *l)
{
    IMREC_FREE(l->id, l->label_begin);
    buf_free(&l->labels);
    *l = (struct listed_files){0};
}
