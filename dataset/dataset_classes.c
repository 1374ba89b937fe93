/* dataset/dataset_classes.c - the class list of a data set: names of labels. */
#include "base/alloc.h"
#include "base/error.h"
#include "container/image_files.h"
#include "dataset/dataset_files.h"
#include "dataset/record_reader.h"
#include "formats/set/class_list.h"
#include "imrec/dataset.h"

#include <string.h>

struct imrec_classes {
    char *text;        /* names, a NUL after each */
    const char **name; /* by number */
    uint32_t count;
};

static enum imrec_status
copy_names(struct imrec_classes *c, const struct class_list *list, struct imrec_error *err)
{
    size_t bytes = 1;
    for (uint32_t i = 0; i < list->count; i++)
        bytes += class_list_name(list, i).n + 1;
    c->text = imrec_realloc(NULL, bytes, 1);
    c->name = imrec_zalloc((size_t)list->count + 1, sizeof(*c->name));
    if (c->text == NULL || c->name == NULL)
        return IMREC_NO_MEMORY(err, "no memory for the names of %u classes", list->count);
    char *to = c->text;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct bytes name = class_list_name(list, i);
        c->name[i] = to;
        memcpy(to, name.p, name.n);
        to[name.n] = '\0';
        to += name.n + 1;
    }
    c->count = list->count;
    return IMREC_OK;
}

static enum imrec_status load(struct imrec_classes *c, const char *shard, struct imrec_error *err)
{
    struct class_list list = {0};
    uint8_t *text;
    char *path;
    size_t n;
    enum imrec_status st = dataset_load(shard, SET_CLASSES, &path, &text, &n, err);
    if (st == IMREC_OK && text != NULL) {
        st = class_list_read(path, (struct bytes){text, n}, &list, err);
        if (st == IMREC_OK)
            st = copy_names(c, &list, err);
        class_list_free(&list);
    }
    IMREC_FREE(text, path);
    return st;
}

/* The folders of a folder of images are its classes. */
static enum imrec_status
load_folders(struct imrec_classes *c, const char *folder, struct imrec_error *err)
{
    struct class_list list = {0};
    IMREC_TRY(image_folder_classes(folder, &list, err));
    const enum imrec_status st = copy_names(c, &list, err);
    class_list_free(&list);
    return st;
}

enum imrec_status
imrec_classes_open(const char *uri, struct imrec_classes **out, struct imrec_error *err)
{
    return imrec_classes_open_with(uri, NULL, out, err);
}

enum imrec_status imrec_classes_open_with(const char *uri, const struct imrec_reader_options *o,
                                          struct imrec_classes **out, struct imrec_error *err)
{
    struct shard_list files;
    *out = NULL;
    IMREC_TRY(reader_shards(uri, o, SHARDS_UNSEEN, &files, err));
    struct imrec_classes *c = imrec_zalloc(1, sizeof(*c));
    const bool folder = files.form == SHARDS_FOLDERS;
    const enum imrec_status st = c != NULL
                                     ? (folder ? load_folders : load)(c, files.names.uri[0], err)
                                     : IMREC_NO_MEMORY(err, "no memory for a class list");
    shard_list_free(&files);
    if (st != IMREC_OK)
        imrec_classes_close(c);
    else
        *out = c;
    return st;
}

const char *imrec_classes_name(const struct imrec_classes *c, float label)
{
    if (!(label >= 0 && label < (float)c->count) || label != (float)(uint32_t)label)
        return NULL; /* also NaN */
    return c->name[(uint32_t)label];
}

uint64_t imrec_classes_count(const struct imrec_classes *c)
{
    return c->count;
}

void imrec_classes_close(struct imrec_classes *c)
{
    if (c == NULL)
        return;
    IMREC_FREE(c->text, (void *)c->name, c);
}
