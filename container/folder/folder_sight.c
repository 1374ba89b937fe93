/* container/folder/folder_sight.c - a look at a folder: whether it can be a set of images. */
#include "container/folder/folder_sight.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/image_names.h"
#include "storage/folder.h"
#include "storage/source.h"

#include <string.h>

static bool is_image(const char *name)
{
    static const char *const sounds[] = {".wav", NULL};
    const char *extension = image_extension(name);
    return image_extension_is(extension, image_extensions()) ||
           image_extension_is(extension, sounds);
}

/* Of a folder, or else IMREC_END, unless there is no memory. */
static enum imrec_status look_into(const char *uri, struct folder **out, struct imrec_error *err)
{
    struct imrec_error why;
    const enum imrec_status st =
        (source_is_remote(uri) ? folder_open : folder_open_path)(source_path(uri), out, &why);
    if (st == IMREC_OK)
        return IMREC_OK;
    if (st != IMREC_ERR_NO_MEMORY)
        return IMREC_END;
    if (err != NULL)
        *err = why;
    return st;
}

/* Whether there is an entry that is an image, or, `folders`, a folder. */
static enum imrec_status
find_entry(const char *uri, bool folders, bool *found, struct imrec_error *err)
{
    struct folder_entry e;
    struct folder *f;
    *found = false;
    const enum imrec_status st = look_into(uri, &f, err);
    if (st != IMREC_OK)
        return st == IMREC_END ? IMREC_OK : st;
    while (!*found && folder_next(f, &e, NULL) == IMREC_OK) {
        const bool image = is_image(e.name);
        if (e.name[0] == '.' || (!image && (!folders || e.kind == FOLDER_FILE)))
            continue;
        const enum folder_kind kind = folder_look(f, &e, NULL);
        *found = kind == FOLDER_FOLDER ? folders : image && kind == FOLDER_FILE;
    }
    folder_close(f);
    return IMREC_OK;
}

enum imrec_status folder_is_there(const char *uri, bool *out, struct imrec_error *err)
{
    struct folder *f;
    const enum imrec_status st = look_into(uri, &f, err);
    *out = st == IMREC_OK;
    if (*out)
        folder_close(f);
    return st == IMREC_END ? IMREC_OK : st;
}

enum imrec_status folder_may_be_set(const char *folder, bool *out, struct imrec_error *err)
{
    return find_entry(folder, true, out, err);
}

/* Whether the folder of this name in another one holds an image. */
static enum imrec_status
holds_image(const char *folder, const char *name, bool *found, struct imrec_error *err)
{
    const size_t n = strlen(folder), slash = n != 0 && folder[n - 1] == '/';
    char *head = imrec_joined(folder, n - slash, "/");
    char *full = head != NULL ? imrec_joined(head, strlen(head), name) : NULL;
    imrec_free(head);
    *found = false;
    if (full == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a path");
    const enum imrec_status st = find_entry(full, false, found, err);
    imrec_free(full);
    return st;
}

enum imrec_status
folder_class_in(const char *folder, char out[FOLDER_NAME_BYTES], struct imrec_error *err)
{
    struct folder_entry e;
    struct folder *f;
    bool found;
    out[0] = '\0';
    enum imrec_status st = look_into(folder, &f, err);
    if (st != IMREC_OK)
        return st == IMREC_END ? IMREC_OK : st;
    while (st == IMREC_OK && folder_next(f, &e, NULL) == IMREC_OK) {
        if (e.name[0] == '.' || strlen(e.name) >= FOLDER_NAME_BYTES ||
            (out[0] != '\0' && strcmp(out, e.name) <= 0) ||
            folder_look(f, &e, NULL) != FOLDER_FOLDER)
            continue;
        st = holds_image(folder, e.name, &found, err);
        if (st == IMREC_OK && found)
            strcpy(out, e.name);
    }
    folder_close(f);
    return st;
}
