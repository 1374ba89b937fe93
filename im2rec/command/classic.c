/* im2rec/command/classic.c */
#include "im2rec/command/classic.h"

#include "base/error.h"
#include "cli/options.h"
#include "im2rec/item/pack_options.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* MXNet's own keys, read as rows of a table like every other parameter. */
struct own {
    int64_t nsplit, part, resize;
    bool unchanged;
};
#define PARAM_STRUCT struct own
/* clang-format off */
#define OWN(X) \
    X(int64_t, nsplit,       "1", 1, 1 << 20, "N", "", "") \
    X(int64_t, part,         "0", 0, 1 << 20, "K", "", "") \
    X(int64_t, resize,      "-1", -1, 65500, "px", "", "") \
    X(bool,    unchanged,    "0", 0, 1,      "0|1", "", "")
/* clang-format on */
static const struct param own_params[] = {OWN(PARAM_ROW){0}};

static bool is_key(const char *pair, size_t n, const char *key)
{
    return strlen(key) == n && memcmp(pair, key, n) == 0;
}

static void take_own(struct classic *c, struct imrec_pack_options *o, const struct param *p,
                     const struct own *v)
{
    if (p == &own_params[0])
        c->nsplit = v->nsplit;
    else if (p == &own_params[1])
        c->part = v->part;
    else if (p == &own_params[2])
        o->resize = v->resize > 0 ? v->resize : 0;
    else
        o->pass_through = v->unchanged;
}

/* ---- flags ------------------------------------------------------------------------------ */

/* ".jpg": a dot and letters or digits, nothing else. */
static bool is_extension(const char *arg)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    return arg[0] == '.' && arg[1] != '\0' && arg[1 + strspn(arg + 1, word)] == '\0';
}

/* --exts .a .b as --exts=.a,.b; *took is how many arguments that were. */
static enum imrec_status
join_exts(struct classic *c, char **argv, int left, int *took, struct imrec_error *err)
{
    size_t n = (size_t)snprintf(c->exts, sizeof(c->exts), "--exts=");
    for (*took = 1; *took < left && is_extension(argv[*took]); ++*took) {
        const char *comma = *took > 1 ? "," : "";
        n += (size_t)snprintf(c->exts + n, sizeof(c->exts) - n, "%s%s", comma, argv[*took]);
        if (n >= sizeof(c->exts))
            return IMREC_REFUSE(err, "--exts takes %zu bytes of names at most",
                                sizeof(c->exts) - 8);
    }
    return IMREC_OK;
}

/* Joins every --augment k=v k=v into one --augment="k=v k=v". */
static enum imrec_status
join_augment(struct classic *c, char **argv, int left, int *took, struct imrec_error *err)
{
    size_t n = strlen(c->augment);
    if (n == 0)
        n = (size_t)snprintf(c->augment, sizeof(c->augment), "--augment=");
    for (*took = 1; *took < left && cli_is_pair(argv[*took]); ++*took) {
        n += (size_t)snprintf(c->augment + n, sizeof(c->augment) - n, "%s%s",
                              c->augment[n - 1] == '=' ? "" : " ", argv[*took]);
        if (n >= sizeof(c->augment))
            return IMREC_REFUSE(err, "--augment takes 4096 bytes at most");
    }
    return IMREC_OK;
}

static bool is_tile_word(const char *word)
{
    return word != NULL &&
           (strcmp(word, "auto") == 0 || strcmp(word, "yes") == 0 || strcmp(word, "no") == 0);
}

/* Words that only have another name here; `next` follows, or is NULL. */
static char *own_word(char *arg, const char *next)
{
    static char leaf[] = "--class-from=leaf", flat[] = "--class-from=flat", threads[] = "--threads";
    static char tile[] = "--tile=yes", no_tile[] = "--tile=no";
    if (strcmp(arg, "--tile") == 0 && !is_tile_word(next))
        return tile;
    if (strcmp(arg, "--no-tile") == 0)
        return no_tile;
    if (strcmp(arg, "--recursive") == 0)
        return leaf;
    if (strcmp(arg, "--no-recursive") == 0)
        return flat;
    if (strcmp(arg, "--num-thread") == 0)
        return threads;
    if (strncmp(arg, "--num-thread=", 13) == 0) { /* --threads=N, with what it no longer needs */
        memmove(arg + 2, "threads", 7);
        memmove(arg + 9, arg + 12, strlen(arg + 12) + 1);
    }
    if (strncmp(arg, "--encoding=.", 12) == 0)
        memmove(arg + 11, arg + 12, strlen(arg + 12) + 1);
    return arg;
}

enum imrec_status classic_flags(struct classic *c, int *argc, char **argv, struct imrec_error *err)
{
    int n = 1, took;
    for (int i = 1; i < *argc; i += took) {
        took = 1;
        if (strcmp(argv[i], "--") == 0) { /* operands: taken as they are */
            while (i < *argc)
                argv[n++] = argv[i++];
            break;
        }
        if (strcmp(argv[i], "--exts") == 0 && i + 1 < *argc && is_extension(argv[i + 1])) {
            IMREC_TRY(join_exts(c, argv + i, *argc - i, &took, err));
            argv[n++] = c->exts;
        } else if (strcmp(argv[i], "--augment") == 0 && i + 1 < *argc && cli_is_pair(argv[i + 1])) {
            const bool again = c->augment[0] != '\0';
            IMREC_TRY(join_augment(c, argv + i, *argc - i, &took, err));
            if (!again)
                argv[n++] = c->augment;
        } else if (n > 1 && strcmp(argv[n - 1], "--encoding") == 0 && argv[i][0] == '.') {
            argv[n++] = argv[i] + 1;
        } else {
            argv[n++] = own_word(argv[i], i + 1 < *argc ? argv[i + 1] : NULL);
        }
    }
    *argc = n;
    return IMREC_OK;
}

/* ---- key=value -------------------------------------------------------------------------- */

enum imrec_status classic_set(struct classic *c, struct imrec_pack_options *o, const char *pair,
                              struct imrec_error *err)
{
    const size_t n = strcspn(pair, "=");
    const char *value = pair + n + (pair[n] == '=');
    const struct param *p = param_find(own_params, pair, n);
    struct own v = {0};
    if (p != NULL && !(is_key(pair, n, "part") && strchr(value, '/') != NULL)) {
        IMREC_TRY(param_set(own_params, &v, pair, n, value, err));
        take_own(c, o, p, &v);
        return IMREC_OK;
    }
    if (is_key(pair, n, "encoding") && value[0] == '.')
        return param_set(pack_params, o, pair, n, value + 1, err); /* ".jpg" */
    return imrec_pack_options_set(o, pair, err);
}

enum imrec_status classic_end(struct classic *c, struct imrec_pack_options *o, char suffix[32],
                              struct imrec_error *err)
{
    const int64_t count = c->nsplit > 0 ? c->nsplit : 1, index = c->part >= 0 ? c->part : 0;
    suffix[0] = '\0';
    if (c->nsplit < 0 && c->part < 0)
        return IMREC_OK;
    if (index >= count)
        return IMREC_REFUSE(err, "part must be less than nsplit=%" PRId64 ", not %" PRId64, count,
                            index);
    if (o->part.count != 1)
        return IMREC_REFUSE(err, "nsplit and part=K say the same as --part K/N: give one of them");
    o->part = (struct imrec_share){index, count};
    if (count > 1)
        snprintf(suffix, 32, ".part%03" PRId64, index);
    return IMREC_OK;
}
