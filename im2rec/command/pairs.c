/* im2rec/command/pairs.c */
#include "im2rec/command/pairs.h"

#include "base/alloc.h"
#include "base/error.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool has_folder(DIR *d, const char *name)
{
    struct stat st;
    return fstatat(dirfd(d), name, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

static bool holds_pairs(DIR *d)
{
    const struct dirent *e;
    while ((e = readdir(d)) != NULL)
        if (e->d_name[0] != '.' && strcmp(e->d_name, "images") != 0 &&
            strcmp(e->d_name, "masks") != 0)
            return false;
    return has_folder(d, "images") && has_folder(d, "masks");
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
    DIR *d = opendir(root);
    const bool found = d != NULL && holds_pairs(d);
    if (d != NULL)
        closedir(d);
    if (!found)
        return IMREC_OK;
    out->images = below(root, "images");
    out->masks = below(root, "masks");
    if (out->images != NULL && out->masks != NULL)
        return IMREC_OK;
    pairs_free(out);
    return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET, "no memory");
}

void pairs_free(struct pairs *p)
{
    imrec_free(p->images);
    imrec_free(p->masks);
    *p = (struct pairs){0};
}
