/* dataset/dataset_names.c - the .lst of a data set: which file an image was packed from. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/math.h"
#include "base/string_arena.h"
#include "container/image_files.h"
#include "dataset/dataset_files.h"
#include "dataset/record_reader.h"
#include "formats/set/image_list.h"
#include "imrec/dataset.h"
#include "storage/source.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MOST ((size_t)1 << 36)

struct name {
    uint64_t id;
    char *path; /* in the text, NUL in place of the line's end */
};

struct imrec_names {
    uint8_t *text;
    struct name *name; /* ascending by id */
    uint64_t count, room;
    struct string_arena names; /* of a folder of images, which has no text */
};

static enum imrec_status append(struct imrec_names *n, struct name name, struct imrec_error *err)
{
    if (!IMREC_GROW(n->name, n->room, n->count + 1))
        return IMREC_NO_MEMORY(err, "no memory for the names of %llu images",
                               (unsigned long long)(n->count + 1));
    n->name[n->count++] = name;
    return IMREC_OK;
}

static int by_id(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->path > y->path) - (x->path < y->path); /* equal ids: the file's order */
}

static enum imrec_status
parse(struct imrec_names *n, struct image_list *list, struct imrec_error *err)
{
    struct image_list_entry e;
    uint64_t bad = 0;
    enum imrec_status st;
    do {
        st = image_list_next(list, &e, err);
        if (st == IMREC_OK) {
            char *path = (char *)n->text + (e.path.p - n->text);
            path[e.path.n] = '\0'; /* the line's end, or the NUL after the text */
            IMREC_TRY(append(n, (struct name){e.id, path}, err));
        } else if (st == IMREC_ERR_CORRUPT && bad++ == 0 && err != NULL) {
            imrec_log(IMREC_LOG_WARNING, "%s", err->message);
        }
    } while (st == IMREC_OK || st == IMREC_ERR_CORRUPT);
    if (n->count != 0)
        qsort(n->name, n->count, sizeof(*n->name), by_id);
    return st == IMREC_END ? IMREC_OK : st;
}

/* Of folders, whose names are in the arena. */
static enum imrec_status
add_name(void *user, uint64_t id, const char *name, struct imrec_error *err)
{
    struct imrec_names *n = user;
    char *kept = string_arena_put(&n->names, name, strlen(name) + 1);
    return kept != NULL ? append(n, (struct name){id, kept}, err)
                        : IMREC_NO_MEMORY(err, "no memory for the names of images");
}

/* A list of images is its own. */
static enum imrec_status load_text(const struct shard_list *files, char **path, uint8_t **text,
                                   size_t *bytes, struct imrec_error *err)
{
    const char *uri = files->names.uri[0];
    if (files->form != SHARDS_LISTS)
        return dataset_load(uri, SET_LIST, path, text, bytes, err);
    *text = NULL;
    *path = imrec_joined(uri, strlen(uri), "");
    return *path != NULL ? source_load(uri, LIST_MOST, text, bytes, err)
                         : IMREC_NO_MEMORY(err, "no memory for a path");
}

static enum imrec_status load(struct imrec_names *n, const char *uri,
                              const struct imrec_reader_options *o, struct imrec_error *err)
{
    struct shard_list files;
    struct image_list list = {0};
    struct imrec_error why;
    char *path = NULL;
    size_t bytes = 0;
    IMREC_TRY(reader_shards(uri, o, SHARDS_UNSEEN, &files, err));
    enum imrec_status st = files.form == SHARDS_FOLDERS
                               ? image_folder_names(files.names.uri[0], add_name, n, &why)
                               : load_text(&files, &path, &n->text, &bytes, &why);
    if (st == IMREC_OK && n->text != NULL) {
        image_list_begin(&list, path, 0, (struct bytes){n->text, bytes}, 0, 0);
        st = parse(n, &list, &why);
        image_list_end(&list);
    }
    imrec_free(path);
    shard_list_free(&files);
    if (st != IMREC_OK && err != NULL)
        *err = why;
    return st;
}

enum imrec_status
imrec_names_open(const char *uri, struct imrec_names **out, struct imrec_error *err)
{
    return imrec_names_open_with(uri, NULL, out, err);
}

enum imrec_status imrec_names_open_with(const char *uri, const struct imrec_reader_options *o,
                                        struct imrec_names **out, struct imrec_error *err)
{
    struct imrec_names *n = imrec_zalloc(1, sizeof(*n));
    const enum imrec_status st =
        n != NULL ? load(n, uri, o, err) : IMREC_NO_MEMORY(err, "no memory for a list");
    *out = st == IMREC_OK ? n : NULL;
    if (st != IMREC_OK)
        imrec_names_close(n);
    return st;
}

const char *imrec_names_find(const struct imrec_names *n, uint64_t id)
{
    const uint64_t i = /* of equal ids the first */
        first_at_least(n->name, sizeof(*n->name), offsetof(struct name, id), n->count, id);
    return i < n->count && n->name[i].id == id ? n->name[i].path : NULL;
}

uint64_t imrec_names_count(const struct imrec_names *n)
{
    return n->count;
}

void imrec_names_close(struct imrec_names *n)
{
    if (n == NULL)
        return;
    string_arena_free(&n->names);
    IMREC_FREE(n->text, n->name, n);
}
