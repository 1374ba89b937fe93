/*
 * im2rec/list/annotations_voc.c - Pascal VOC: a file an image, with <filename>, <size> and
 * <object>s.
 *
 * Corners are taken literally, in px; the ids are the places of the files by name. Classes
 * are numbered in the order of their names.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"
#include "formats/xml_text.h"
#include "im2rec/list/annotations.h"
#include "storage/folder.h"
#include "storage/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)64 << 20)
#define PATH_BYTES     4096

struct voc_file {
    struct xml xml;
    char path[PATH_BYTES];
    double width, height;
    struct box_object object;
    uint32_t corners; /* of the object, a bit each */
    bool has_class;
};

static enum imrec_status read_number(const struct xml *x, double *out, struct imrec_error *err)
{
    float v;
    if (text_to_float((struct bytes){(const uint8_t *)x->text, x->text_bytes}, &v) !=
            TEXT_FLOAT_OK ||
        !(v > -1e9f && v < 1e9f))
        return imrec_error_at(err, IMREC_ERR_CORRUPT, x->at,
                              "%s byte %zu: %s is not a number: '%.40s'", x->name, x->at, x->path,
                              x->text);
    *out = (double)v;
    return IMREC_OK;
}

static enum imrec_status
end_object(struct annotations *b, struct voc_file *f, struct imrec_error *err)
{
    if (f->corners != 15 || !f->has_class)
        return imrec_error_at(err, IMREC_ERR_CORRUPT, f->xml.at,
                              "%s byte %zu: the object lacks a name or a corner of its bndbox",
                              f->xml.name, f->xml.at);
    return annotations_add_object(b, &f->object, err);
}

static enum imrec_status take_corner(struct voc_file *f, const char *leaf, struct imrec_error *err)
{
    static const char *const names[] = {"xmin", "ymin", "xmax", "ymax"};
    for (int i = 0; i < 4; i++)
        if (strcmp(leaf, names[i]) == 0) {
            f->corners |= 1u << i;
            return read_number(&f->xml, &f->object.corners[i], err);
        }
    return IMREC_OK;
}

/* An element ended: is it one of those that count? */
static enum imrec_status take(struct annotations *b, struct voc_file *f, struct imrec_error *err)
{
    static const char corner[] = "/annotation/object/bndbox/";
    const struct xml *x = &f->xml;
    double difficult = 0;
    if (strcmp(x->path, "/annotation/filename") == 0)
        snprintf(f->path, sizeof(f->path), "%s", x->text);
    else if (strcmp(x->path, "/annotation/size/width") == 0)
        return read_number(x, &f->width, err);
    else if (strcmp(x->path, "/annotation/size/height") == 0)
        return read_number(x, &f->height, err);
    else if (strncmp(x->path, corner, sizeof(corner) - 1) == 0)
        return take_corner(f, x->path + sizeof(corner) - 1, err);
    else if (strcmp(x->path, "/annotation/object/name") == 0) {
        f->has_class = true;
        return annotations_category(b, x->text, x->text_bytes, &f->object.category, err);
    } else if (strcmp(x->path, "/annotation/object/difficult") == 0) {
        IMREC_TRY(read_number(x, &difficult, err));
        f->object.difficult = difficult != 0;
    } else if (strcmp(x->path, "/annotation/object") == 0)
        return end_object(b, f, err);
    return IMREC_OK;
}

static enum imrec_status
read_events(struct annotations *b, struct voc_file *f, uint64_t id, struct imrec_error *err)
{
    enum xml_event event;
    enum imrec_status st;
    while ((st = xml_next(&f->xml, &event, err)) == IMREC_OK) {
        if (event == XML_CLOSE)
            IMREC_TRY(take(b, f, err));
        else if (strcmp(f->xml.path, "/annotation/object") == 0) {
            f->object = (struct box_object){.image = id};
            f->corners = 0;
            f->has_class = false;
        }
    }
    if (st != IMREC_END)
        return st;
    if (f->path[0] == '\0')
        return imrec_fail(err, IMREC_ERR_CORRUPT, "%s has no /annotation/filename", f->xml.name);
    return annotations_add_image(b, id, f->path, strlen(f->path), f->width, f->height, err);
}

static enum imrec_status
read_file(struct annotations *b, const char *path, uint64_t id, struct imrec_error *err)
{
    uint8_t *text;
    size_t n;
    struct voc_file *f = imrec_zalloc(1, sizeof(*f));
    if (f == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %s", path);
    enum imrec_status st = source_load(path, FILE_MAX_BYTES, &text, &n, err);
    if (st == IMREC_OK) {
        xml_begin(&f->xml, path, (struct bytes){text, n});
        st = read_events(b, f, id, err);
        imrec_free(text);
    }
    imrec_free(f);
    return st;
}

/* ---- the folder ----------------------------------------------------------------------------- */

static bool is_annotation(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && name[0] != '.' && strcmp(name + n - 4, ".xml") == 0;
}

static enum imrec_status
list_folder(const char *path, struct folder_entries *out, struct imrec_error *err)
{
    struct folder *f;
    struct imrec_error why = {0};
    enum imrec_status st = folder_open(path, &f, &why);
    if (st == IMREC_ERR_IO)
        return imrec_fail(err, st, "opening the folder %s: %s", path, strerror(why.sys_errno));
    if (st != IMREC_OK)
        return imrec_fail(err, st, "%s", why.message);
    st = folder_all(f, out, err);
    folder_close(f);
    return st;
}

static enum imrec_status read_entry(struct annotations *b, const char *folder, const char *name,
                                    uint64_t id, struct imrec_error *err)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    char *path = string_arena_put(&b->texts, NULL, n);
    if (path == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %s", folder);
    snprintf(path, n, "%s/%s", folder, name);
    return read_file(b, path, id, err);
}

static enum imrec_status
read_folder(struct annotations *b, const char *folder, struct imrec_error *err)
{
    struct folder_entries all = {0};
    uint64_t id = 0;
    enum imrec_status st = list_folder(folder, &all, err);
    for (size_t i = 0; i < all.count && st == IMREC_OK; i++)
        if (is_annotation(all.entry[i].name))
            st = read_entry(b, folder, all.entry[i].name, id++, err);
    folder_entries_free(&all);
    if (st == IMREC_OK && id == 0)
        st = imrec_fail(err, IMREC_ERR_DATA, "%s holds no *.xml", folder);
    return st;
}

static int by_class_name(const void *a, const void *b)
{
    return strcmp(((const struct box_category *)a)->name, ((const struct box_category *)b)->name);
}

/* Categories had the ids of their first appearance; now those of their names' order. */
static enum imrec_status order_by_name(struct annotations *b, struct imrec_error *err)
{
    int64_t *place = imrec_zalloc(b->category_count + 1, sizeof(*place));
    if (place == NULL)
        return IMREC_NO_MEMORY(err, "no memory for classes");
    if (b->category_count != 0)
        qsort(b->categories, b->category_count, sizeof(*b->categories), by_class_name);
    for (size_t i = 0; i < b->category_count; i++) {
        place[b->categories[i].id] = (int64_t)i;
        b->categories[i].id = (int64_t)i;
    }
    for (size_t i = 0; i < b->object_count; i++)
        b->objects[i].category = place[b->objects[i].category];
    imrec_free(place);
    return IMREC_OK;
}

enum imrec_status
annotations_read_voc(const char *folder, struct annotations *out, struct imrec_error *err)
{
    *out = (struct annotations){.name = folder};
    enum imrec_status st = read_folder(out, folder, err);
    if (st == IMREC_OK)
        st = order_by_name(out, err);
    if (st != IMREC_OK)
        annotations_free(out);
    return st;
}
