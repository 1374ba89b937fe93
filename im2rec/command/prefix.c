/* im2rec/command/prefix.c */
#include "im2rec/command/prefix.h"

#include "base/alloc.h"
#include "base/error.h"
#include "storage/folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool prefix_comes_first(const char *a, const char *b)
{
    return !is_folder(a) && is_folder(b);
}

/* The text allowed between the prefix and ".lst": _3, _train, _3_train, or nothing. */
static bool is_piece(const char *rest, size_t n)
{
    static const char *const kinds[] = {"_train", "_test", "_val"};
    if (n > 1 && rest[0] == '_') {
        const size_t digits = strspn(rest + 1, "0123456789");
        if (digits != 0) {
            rest += 1 + digits;
            n -= 1 + digits;
        }
    }
    for (size_t i = 0; i < 3; i++)
        if (n == strlen(kinds[i]) && memcmp(rest, kinds[i], n) == 0)
            return true;
    return n == 0;
}

static char *joined(const char *folder, size_t folder_bytes, const char *name, size_t name_bytes)
{
    char *text = imrec_realloc(NULL, folder_bytes + name_bytes + 1, 1);
    if (text != NULL)
        snprintf(text, folder_bytes + name_bytes + 1, "%.*s%.*s", (int)folder_bytes, folder,
                 (int)name_bytes, name);
    return text;
}

static bool add(struct prefix_lists *p, const char *folder, size_t folder_bytes, const char *name)
{
    const size_t n = strlen(name);
    char **list = imrec_realloc(p->list, p->count + 1, sizeof(*list));
    if (list != NULL)
        p->list = list;
    char **out = imrec_realloc(p->out, p->count + 1, sizeof(*out));
    if (out != NULL)
        p->out = out;
    if (list == NULL || out == NULL)
        return false;
    p->list[p->count] = joined(folder, folder_bytes, name, n);
    p->out[p->count] = joined(folder, folder_bytes, name, n - strlen(".lst"));
    p->count++;
    return p->list[p->count - 1] != NULL && p->out[p->count - 1] != NULL;
}

static bool is_list(const char *name, const char *base)
{
    const size_t n = strlen(name), base_bytes = strlen(base);
    return n >= base_bytes + 4 && strcmp(name + n - 4, ".lst") == 0 &&
           memcmp(name, base, base_bytes) == 0 && is_piece(name + base_bytes, n - 4 - base_bytes);
}

/* The lists of the prefix, in the order of their bytes, which is also that of the names without
 * ".lst": '_' and digits, which continue a longer name, come after '.'. False: no memory. */
static bool add_lists(struct prefix_lists *p, const char *prefix, size_t folder_bytes)
{
    struct folder *f = NULL;
    struct folder_entries all = {0};
    char *path = folder_bytes != 0 ? joined(prefix, folder_bytes, "", 0) : joined(".", 1, "", 0);
    enum imrec_status st = path != NULL ? folder_open_path(path, &f, NULL) : IMREC_ERR_NO_MEMORY;
    if (st == IMREC_OK)
        st = folder_all(f, &all, NULL);
    bool fits = st != IMREC_ERR_NO_MEMORY;
    for (size_t i = 0; fits && i < all.count; i++)
        if (is_list(all.entry[i].name, prefix + folder_bytes))
            fits = add(p, prefix, folder_bytes, all.entry[i].name);
    folder_entries_free(&all);
    folder_close(f);
    imrec_free(path);
    return fits;
}

enum imrec_status prefix_find(const char *prefix, struct prefix_lists *out, struct imrec_error *err)
{
    const char *slash = strrchr(prefix, '/');
    struct stat st;
    *out = (struct prefix_lists){0};
    if (!add_lists(out, prefix, slash != NULL ? (size_t)(slash + 1 - prefix) : 0))
        return IMREC_NO_MEMORY(err, "no memory for lists");
    if (out->count == 0)
        return IMREC_REFUSE(err, "%s is not a folder, and there is no list %s.lst", prefix, prefix);
    out->classes = joined(prefix, strlen(prefix), ".classes.txt", strlen(".classes.txt"));
    if (out->classes != NULL && stat(out->classes, &st) != 0) {
        imrec_free(out->classes);
        out->classes = NULL;
    }
    return IMREC_OK;
}

void prefix_free(struct prefix_lists *p)
{
    for (size_t i = 0; i < p->count; i++) {
        IMREC_FREE(p->list[i], p->out[i]);
    }
    IMREC_FREE(p->list, p->out, p->classes);
    *p = (struct prefix_lists){0};
}
