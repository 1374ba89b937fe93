/* im2rec/classic.c */
#include "im2rec/command/classic.h"

#include "base/error.h"
#include "im2rec/pack_options.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The original's own keys, read as rows of a table like every other parameter. */
struct own {
    int64_t nsplit, part, inter_method, resize;
    bool unchanged;
};
#define PARAM_STRUCT struct own
/* clang-format off */
#define OWN(X) \
    X(int64_t, nsplit,       "1", 1, 1 << 20, "N", "", "") \
    X(int64_t, part,         "0", 0, 1 << 20, "K", "", "") \
    X(int64_t, inter_method, "1", 0, 10,  "0..10", "", "") \
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
        c->inter_method = true;
    else if (p == &own_params[3])
        o->resize = v->resize > 0 ? v->resize : 0;
    else
        o->pass_through = v->unchanged;
}

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
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "part must be less than nsplit=%" PRId64 ", not %" PRId64, count,
                              index);
    if (o->part.count != 1)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, IMREC_NO_OFFSET,
                              "nsplit and part=K say the same as --part K/N: give one of them");
    o->part = (struct imrec_share){index, count};
    if (count > 1)
        snprintf(suffix, 32, ".part%03" PRId64, index);
    return IMREC_OK;
}
