/* im2rec/command/pairs.c */
#include "im2rec/command/pairs.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/folder.h"

#include <stdio.h>
#include <string.h>

static bool holds_pairs(struct folder *f)
{
    static const char *const names[] = {"images", "masks"};
    bool there[2] = {false, false};
    struct folder_entry e;
    enum imrec_status st;
    while ((st = folder_next(f, &e, NULL)) == IMREC_OK) {
        const int i = strcmp(e.name, names[1]) == 0;
        if (e.name[0] == '.')
            continue;
        if (strcmp(e.name, names[i]) != 0)
            return false;
        there[i] = folder_look(f, &e, NULL) == FOLDER_FOLDER;
    }
    return st == IMREC_END && there[0] && there[1];
}

static char *below(const char *root, const char *name)
{
    const size_t n = strlen(root) + strlen(name) + 2;
    char *path = imrec_realloc(NULL, n, 1);
    if (path != NULL)
        snprintf(path, n, "%s/%s", root, name);
    return path;
}

enum imrec_status pairs_find(const char *root, struct pairs *out, struct imrec_error *err)
{
    *out = (struct pairs){0};
    struct folder *f;
    const enum imrec_status st = folder_open_path(root, &f, err);
    const bool found = st == IMREC_OK && holds_pairs(f);
    folder_close(f);
    if (!found) /* reading the folder reports the reason */
        return st == IMREC_ERR_NO_MEMORY ? st : IMREC_OK;
    out->images = below(root, "images");
    out->masks = below(root, "masks");
    if (out->images != NULL && out->masks != NULL)
        return IMREC_OK;
    pairs_free(out);
    return IMREC_NO_MEMORY(err, "no memory");
}

void pairs_free(struct pairs *p)
{
    IMREC_FREE(p->images, p->masks);
    *p = (struct pairs){0};
}
