/* augment/draw/user_augmenter.c - augmenters of the user's: registered, found, called. */
#include "augment/draw/user_augmenter.h"

#include "base/error.h"
#include "base/rng.h"

#include <string.h>

static const char *const built_in[] = {
    "aug_default", "det_aug_default", "rand_augment", "light", "hue", "hsl",
    "pca",         "grayscale",       "blur",         NULL};
static const struct plugin_kind kind = {
    .option = "aug_seq",
    .noun = "augmenter",
    .a = "an",
    .macro = "IMREC_AUGMENTER",
    .rest = ", function",
    .header = "imrec/augmenter.h",
    .magic = IMREC_AUGMENTER_MAGIC,
    .abi = IMREC_AUGMENTER_ABI,
    .bytes = sizeof(struct imrec_augmenter),
    .taken = built_in,
};
static struct plugin_table table = {.kind = &kind, .lock = MUTEX_INIT};

enum imrec_status imrec_augmenter_register(const char *name, imrec_augment_fn *augment, void *user,
                                           struct imrec_error *err)
{
    const struct imrec_augmenter a = {
        .magic = IMREC_AUGMENTER_MAGIC, .abi = IMREC_AUGMENTER_ABI, .augment = augment};
    if (name == NULL || augment == NULL)
        return IMREC_REFUSE(err, "an augmenter has a name and a function, not NULL");
    return plugin_register(&table, name, &a, user, err);
}

bool user_augmenter_is_known(const char *item, size_t n)
{
    return plugin_is_known(&table, item, n);
}

enum imrec_status
user_augmenter_find(const char *item, size_t n, struct user_augmenter *out, struct imrec_error *err)
{
    struct imrec_augmenter a;
    IMREC_TRY(plugin_find(&table, item, n, &out->plugin, err));
    memcpy(&a, out->plugin.definition, sizeof(a));
    out->augment = a.augment;
    if (a.augment == NULL)
        return IMREC_REFUSE(err, "aug_seq: '%.*s' has no function", (int)(n < 200 ? n : 200), item);
    return IMREC_OK;
}

/* ---- running ------------------------------------------------------------------------------ */

enum { USER_DRAWS = 1 << 30 }; /* numbers from here on are nobody else's */

uint64_t imrec_augmenter_bits(const struct imrec_augmenter_key *key, uint32_t n)
{
    const struct rng_key k = {key->seed, key->sweep};
    const uint64_t draw = key->view << 32 | (USER_DRAWS + n / 4 % USER_DRAWS);
    return rng_block(k, key->shard, key->offset, draw, RNG_AUGMENT).v[n % 4];
}

enum imrec_status user_augmenter_run(const struct user_augmenter *a,
                                     const struct imrec_augmenter_call *call,
                                     struct imrec_error *err)
{
    struct imrec_augmenter_call c = *call;
    struct imrec_error why = {.offset = IMREC_NO_OFFSET};
    c.struct_size = sizeof(c);
    c.params = a->plugin.params;
    c.user = a->plugin.user;
    const enum imrec_status st = a->augment(&c, &why);
    why.offset = IMREC_NO_OFFSET;
    return st == IMREC_OK ? IMREC_OK : plugin_blame(&kind, &a->plugin, st, &why, err);
}
