#include "augment/own.h"

#include "base/error.h"
#include "base/rng.h"
#include "base/threads.h"

#include <dlfcn.h>
#include <string.h>

enum { MAX_REGISTERED = 64, MAX_PATH = 4096 };

static struct mutex lock = MUTEX_INIT;
static struct own registered[MAX_REGISTERED];
static uint32_t registered_count;

static enum imrec_status fail(struct imrec_error *err, const char *what, size_t n, const char *why)
{
    return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET, "aug_seq: '%.*s' %s",
                          (int)(n < 160 ? n : 160), what, why);
}

/* ---- names ------------------------------------------------------------------------------- */

static bool is_name(const char *s, size_t n)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return n > 0 && n < sizeof(registered[0].name) && strspn(s, letters) >= n;
}

static bool is_built_in(const char *name)
{
    static const char *const names[] = {
        "aug_default", "det_aug_default", "rand_augment", "light", "hue", "hsl",
        "pca",         "grayscale",       "blur"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static const struct own *look_up(const char *name, size_t n) /* under the lock */
{
    for (uint32_t i = 0; i < registered_count; i++)
        if (strlen(registered[i].name) == n && memcmp(registered[i].name, name, n) == 0)
            return &registered[i];
    return NULL;
}

static enum imrec_status add(const char *name, imrec_augment_fn *augment, void *user,
                             struct imrec_error *err) /* under the lock */
{
    if (look_up(name, strlen(name)) != NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "an augmenter '%s' is registered already", name);
    if (registered_count == MAX_REGISTERED)
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET,
                              "no room for augmenter '%s': %d are registered", name,
                              MAX_REGISTERED);
    struct own *o = &registered[registered_count];
    *o = (struct own){.augment = augment, .user = user};
    memcpy(o->name, name, strlen(name) + 1);
    registered_count++;
    return IMREC_OK;
}

enum imrec_status imrec_augmenter_register(const char *name, imrec_augment_fn *augment, void *user,
                                           struct imrec_error *err)
{
    if (name == NULL || augment == NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "an augmenter has a name and a function, not NULL");
    if (!is_name(name, strlen(name)) || is_built_in(name))
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "'%.80s' cannot name an augmenter: up to 63 letters, digits, - and "
                              "_, and none of the iterator's own names",
                              name);
    mutex_lock(&lock);
    const enum imrec_status status = add(name, augment, user, err);
    mutex_unlock(&lock);
    return status;
}

/* ---- shared libraries --------------------------------------------------------------------- */

static enum imrec_status check_symbol(const struct imrec_augmenter *a, const char *path,
                                      const char *symbol, struct imrec_error *err)
{
    if (a == NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "aug_seq: library %.200s has no symbol '%s'", path, symbol);
    if (a->magic != IMREC_AUGMENTER_MAGIC)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "aug_seq: '%s' of library %.200s is no augmenter: "
                              "IMREC_AUGMENTER(%s, function) defines one",
                              symbol, path, symbol);
    if (a->abi != IMREC_AUGMENTER_ABI)
        return imrec_error_at(err, IMREC_ERR_UNSUPPORTED, IMREC_NO_OFFSET,
                              "aug_seq: '%s' of library %.200s was built for version %u of "
                              "imrec/augmenter.h, this is version %u",
                              symbol, path, (unsigned)a->abi, IMREC_AUGMENTER_ABI);
    if (a->augment == NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "aug_seq: '%s' of library %.200s has no function", symbol, path);
    return IMREC_OK;
}

/* Opened once more by each iterator, which costs a count in the loader; never closed: a worker
 * may be inside. */
static enum imrec_status
load(const char *item, size_t path_length, struct own *out, struct imrec_error *err)
{
    char path[MAX_PATH];
    if (path_length == 0 || path_length >= sizeof(path))
        return fail(err, item, path_length, "is no path of a library");
    memcpy(path, item, path_length);
    path[path_length] = '\0';
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return imrec_error_at(err, IMREC_ERR_IO, IMREC_NO_OFFSET,
                              "aug_seq: cannot load library %.200s for '%s': %.200s", path,
                              out->name, why != NULL ? why : "no reason given");
    }
    const struct imrec_augmenter *a = dlsym(library, out->name);
    IMREC_TRY(check_symbol(a, path, out->name, err));
    out->augment = a->augment;
    return IMREC_OK;
}

/* ---- items of aug_seq --------------------------------------------------------------------- */

static enum imrec_status
take_params(const char *item, size_t *n, struct own *out, struct imrec_error *err)
{
    const char *open = memchr(item, '(', *n);
    if (open == NULL)
        return IMREC_OK;
    const size_t before = (size_t)(open - item), inside = *n - before - 1;
    if (inside == 0 || item[*n - 1] != ')')
        return fail(err, item, *n, "has no ) at its end");
    if (inside > sizeof(out->params))
        return fail(err, item, before, "has parameters of over 255 bytes");
    memcpy(out->params, open + 1, inside - 1);
    *n = before;
    return IMREC_OK;
}

bool own_is_known(const char *item, size_t n)
{
    if (memchr(item, ':', n) != NULL || memchr(item, '(', n) != NULL)
        return true;
    mutex_lock(&lock);
    const bool found = look_up(item, n) != NULL;
    mutex_unlock(&lock);
    return found;
}

enum imrec_status own_find(const char *item, size_t n, struct own *out, struct imrec_error *err)
{
    *out = (struct own){.augment = NULL};
    IMREC_TRY(take_params(item, &n, out, err));
    size_t at = n;
    while (at > 0 && item[at - 1] != ':')
        at--;
    if (!is_name(item + at, n - at))
        return fail(err, item, n, "is no name of an augmenter");
    memcpy(out->name, item + at, n - at);
    if (at > 0)
        return load(item, at - 1, out, err);
    mutex_lock(&lock);
    const struct own *found = look_up(item, n);
    if (found != NULL) {
        out->augment = found->augment;
        out->user = found->user;
    }
    mutex_unlock(&lock);
    return found != NULL ? IMREC_OK : fail(err, item, n, "is not registered");
}

/* ---- running ------------------------------------------------------------------------------ */

enum { OWN_DRAWS = 1 << 30 }; /* numbers from here on are nobody else's */

uint64_t imrec_augmenter_bits(const struct imrec_augmenter_key *key, uint32_t n)
{
    const struct rng_key k = {key->seed, key->sweep};
    return rng_block(k, key->shard, key->offset, OWN_DRAWS + n / 4 % OWN_DRAWS, RNG_AUGMENT)
        .v[n % 4];
}

enum imrec_status
own_run(const struct own *own, const struct imrec_augmenter_call *call, struct imrec_error *err)
{
    struct imrec_augmenter_call c = *call;
    struct imrec_error why = {.offset = IMREC_NO_OFFSET};
    c.struct_size = sizeof(c);
    c.params = own->params;
    c.user = own->user;
    const enum imrec_status st = own->augment(&c, &why);
    if (st == IMREC_OK)
        return IMREC_OK;
    why.message[sizeof(why.message) - 1] = '\0';
    return imrec_error_at(err, st == IMREC_END ? IMREC_ERR_DATA : st, IMREC_NO_OFFSET,
                          "augmenter %s: %.400s", own->name,
                          why.message[0] != '\0' ? why.message : "failed and does not say why");
}
