/* base/plugin.c - what a user plugs in, called by a word. */
#include "base/plugin.h"

#include "base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PATH = 4096 };

static enum imrec_status fail(const struct plugin_kind *k, const char *what, size_t n,
                              const char *why, struct imrec_error *err)
{
    return IMREC_REFUSE(err, "%s: '%.*s' %s", k->option, (int)(n < 160 ? n : 160), what, why);
}

/* ---- names ------------------------------------------------------------------------------- */

static bool is_name(const char *s, size_t n)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return n > 0 && n < sizeof(((struct plugin *)0)->name) && strspn(s, letters) >= n;
}

static bool is_taken(const struct plugin_kind *k, const char *name)
{
    for (const char *const *t = k->taken; *t != NULL; t++)
        if (strcmp(*t, name) == 0)
            return true;
    return false;
}

static const struct plugin *look_up(const struct plugin_table *t, const char *name, size_t n)
{
    for (uint32_t i = 0; i < t->count; i++) /* under the lock */
        if (strlen(t->entry[i].name) == n && memcmp(t->entry[i].name, name, n) == 0)
            return &t->entry[i];
    return NULL;
}

static enum imrec_status add(struct plugin_table *t, const char *name, const void *definition,
                             void *user, struct imrec_error *err) /* under the lock */
{
    const struct plugin_kind *k = t->kind;
    if (look_up(t, name, strlen(name)) != NULL)
        return IMREC_REFUSE(err, "%s %s '%s' is registered already", k->a, k->noun, name);
    if (t->count == PLUGIN_MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT, "no room for %s '%s': %d are registered", k->noun,
                          name, PLUGIN_MOST);
    struct plugin *p = &t->entry[t->count];
    *p = (struct plugin){.user = user};
    memcpy(p->name, name, strlen(name) + 1);
    memcpy(p->definition, definition, k->bytes);
    t->count++;
    return IMREC_OK;
}

enum imrec_status plugin_register(struct plugin_table *t, const char *name, const void *definition,
                                  void *user, struct imrec_error *err)
{
    const struct plugin_kind *k = t->kind;
    if (!is_name(name, strlen(name)) || is_taken(k, name))
        return IMREC_REFUSE(err,
                            "'%.80s' cannot name %s %s: up to 63 letters, digits, - and _, and "
                            "none of the iterator's own names",
                            name, k->a, k->noun);
    mutex_lock(&t->lock);
    const enum imrec_status status = add(t, name, definition, user, err);
    mutex_unlock(&t->lock);
    return status;
}

/* ---- shared libraries --------------------------------------------------------------------- */

static enum imrec_status check_symbol(const struct plugin_kind *k, const uint32_t *head,
                                      const char *path, const char *symbol, struct imrec_error *err)
{
    if (head == NULL)
        return IMREC_REFUSE(err, "%s: library %.200s has no symbol '%s'", k->option, path, symbol);
    if (head[0] != k->magic)
        return IMREC_REFUSE(err, "%s: '%s' of library %.200s is not %s %s: %s(%s%s) defines one",
                            k->option, symbol, path, k->a, k->noun, k->macro, symbol, k->rest);
    if (head[1] != k->abi)
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%s: '%s' of library %.200s was built for version %u of %s, this is "
                          "version %u",
                          k->option, symbol, path, (unsigned)head[1], k->header, (unsigned)k->abi);
    return IMREC_OK;
}

/* Opened once more by each iterator, which costs a count in the loader; never closed: a worker
 * may be inside. */
static enum imrec_status load(const struct plugin_kind *k, const char *item, size_t path_length,
                              struct plugin *out, struct imrec_error *err)
{
    char path[MAX_PATH];
    if (path_length == 0 || path_length >= sizeof(path))
        return fail(k, item, path_length, "is not a path of a library", err);
    memcpy(path, item, path_length);
    path[path_length] = '\0';
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return imrec_fail(err, IMREC_ERR_IO, "%s: cannot load library %.200s for '%s': %.200s",
                          k->option, path, out->name, why != NULL ? why : "no reason given");
    }
    const void *definition = dlsym(library, out->name);
    IMREC_TRY(check_symbol(k, definition, path, out->name, err));
    memcpy(out->definition, definition, k->bytes);
    return IMREC_OK;
}

/* ---- words -------------------------------------------------------------------------------- */

static enum imrec_status take_params(const struct plugin_kind *k, const char *item, size_t *n,
                                     struct plugin *out, struct imrec_error *err)
{
    const char *open = memchr(item, '(', *n);
    if (open == NULL)
        return IMREC_OK;
    const size_t before = (size_t)(open - item), inside = *n - before - 1;
    if (inside == 0 || item[*n - 1] != ')')
        return fail(k, item, *n, "has no ) at its end", err);
    if (inside > sizeof(out->params))
        return fail(k, item, before, "has parameters of over 255 bytes", err);
    memcpy(out->params, open + 1, inside - 1);
    *n = before;
    return IMREC_OK;
}

bool plugin_is_known(struct plugin_table *t, const char *item, size_t n)
{
    if (memchr(item, ':', n) != NULL || memchr(item, '(', n) != NULL)
        return true;
    mutex_lock(&t->lock);
    const bool found = look_up(t, item, n) != NULL;
    mutex_unlock(&t->lock);
    return found;
}

enum imrec_status plugin_find(struct plugin_table *t, const char *item, size_t n,
                              struct plugin *out, struct imrec_error *err)
{
    const struct plugin_kind *k = t->kind;
    char why[80];
    *out = (struct plugin){.user = NULL};
    IMREC_TRY(take_params(k, item, &n, out, err));
    size_t at = n;
    while (at > 0 && item[at - 1] != ':')
        at--;
    snprintf(why, sizeof(why), "is not a name of %s %s", k->a, k->noun);
    if (!is_name(item + at, n - at))
        return fail(k, item, n, why, err);
    memcpy(out->name, item + at, n - at);
    if (at > 0)
        return load(k, item, at - 1, out, err);
    mutex_lock(&t->lock);
    const struct plugin *found = look_up(t, item, n);
    if (found != NULL) {
        memcpy(out->definition, found->definition, sizeof(out->definition));
        out->user = found->user;
    }
    mutex_unlock(&t->lock);
    return found != NULL ? IMREC_OK : fail(k, item, n, "is not registered", err);
}

enum imrec_status plugin_blame(const struct plugin_kind *k, const struct plugin *p,
                               enum imrec_status st, struct imrec_error *why,
                               struct imrec_error *err)
{
    why->message[sizeof(why->message) - 1] = '\0';
    return imrec_error_at(err, st == IMREC_END || st == IMREC_OK ? IMREC_ERR_DATA : st, why->offset,
                          "%s %s: %.400s", k->noun, p->name,
                          why->message[0] != '\0' ? why->message : "failed and does not say why");
}
