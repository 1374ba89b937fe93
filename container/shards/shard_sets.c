/* container/shards/shard_sets.c - a list of shards as sets, by their names. */
#include "container/shards/shard_sets.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "formats/set/manifest.h"
#include "storage/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 3 };

/* ---- sets -------------------------------------------------------------------------------- */

static int by_stem(const struct shard_member *a, const struct shard_member *b)
{
    const size_t n = a->name.stem < b->name.stem ? a->name.stem : b->name.stem;
    const int c = memcmp(a->uri, b->uri, n);
    return c != 0 ? c : (a->name.stem > b->name.stem) - (a->name.stem < b->name.stem);
}

/* Names of one set differ in their number alone. */
static int by_set(const struct shard_member *a, const struct shard_member *b)
{
    const int c = by_stem(a, b);
    return c != 0 ? c : strcmp(a->uri + a->name.rest, b->uri + b->name.rest);
}

static int by_name(const void *x, const void *y)
{
    const struct shard_member *a = x, *b = y;
    const int c = by_set(a, b);
    return c != 0 ? c : (a->name.number > b->name.number) - (a->name.number < b->name.number);
}

static int by_name_and_place(const void *x, const void *y)
{
    const struct shard_member *a = x, *b = y;
    const int c = by_name(a, b);
    return c != 0 ? c : (a->at > b->at) - (a->at < b->at);
}

enum imrec_status
shard_sets_init(struct shard_sets *s, const struct uri_list *l, struct imrec_error *err)
{
    size_t longest = 0;
    *s = (struct shard_sets){.count = l->count};
    s->member = imrec_realloc(NULL, l->count + 1, sizeof(*s->member));
    for (size_t i = 0; s->member != NULL && i < l->count; i++) {
        const char *uri = l->uri[i];
        s->member[i] = (struct shard_member){uri, set_number_of(uri), i, l->origin[i]};
        longest = strlen(uri) > longest ? strlen(uri) : longest;
    }
    s->room = s->member != NULL ? imrec_realloc(NULL, SET_NAME_ROOM(longest), 1) : NULL;
    if (s->room == NULL) {
        shard_sets_free(s);
        return IMREC_NO_MEMORY(err, "no memory for the names of %zu shards", l->count);
    }
    qsort(s->member, s->count, sizeof(*s->member), by_name_and_place);
    return IMREC_OK;
}

size_t shard_sets_end(const struct shard_sets *s, size_t begin)
{
    size_t end = begin + 1;
    while (end < s->count && by_set(&s->member[begin], &s->member[end]) == 0)
        end++;
    return end;
}

bool shard_sets_rival(const struct shard_member *a, const struct shard_member *b)
{
    return by_stem(a, b) == 0 && by_set(a, b) != 0;
}

size_t shard_sets_find(const struct shard_sets *s, const char *uri)
{
    const struct shard_member key = {.uri = uri, .name = set_number_of(uri)};
    const struct shard_member *m = bsearch(&key, s->member, s->count, sizeof(*m), by_name);
    while (m != NULL && m != s->member && by_name(m - 1, &key) == 0)
        m--; /* of equal names the first */
    return m != NULL ? (size_t)(m - s->member) : s->count;
}

void shard_sets_free(struct shard_sets *s)
{
    IMREC_FREE(s->member, s->room);
    *s = (struct shard_sets){0};
}

/* ---- gaps -------------------------------------------------------------------------------- */

enum imrec_status shard_gap_add(struct shard_gap *g, const char *uri, struct imrec_error *err)
{
    const size_t at = strlen(g->names);
    if (g->missing++ == 0)
        IMREC_TRY(sink_exists(uri, &g->unmatched, err));
    if (g->missing <= NAMES_SHOWN)
        (void)snprintf(g->names + at, sizeof(g->names) - at, "%s%.55s", at != 0 ? ", " : "",
                       set_base_name(uri));
    return IMREC_OK;
}

void shard_gap_end(struct shard_gap *g)
{
    const size_t at = strlen(g->names);
    if (g->missing > NAMES_SHOWN)
        (void)snprintf(g->names + at, sizeof(g->names) - at, " and %" PRIu64 " more",
                       g->missing - NAMES_SHOWN);
}

/* The name of shard `number` of the member's set, with as many digits. From the 100,000th on they
 * are more than five, without a zero in front. */
static const char *
name_of(const struct shard_sets *s, const struct shard_member *m, uint64_t number)
{
    const size_t digits = m->uri[m->name.stem + 1] == '0' ? m->name.rest - m->name.stem - 1 : 5;
    memcpy(s->room, m->uri, m->name.stem);
    sprintf(s->room + m->name.stem, "-%0*" PRIu64 "%s", (int)digits, number, m->uri + m->name.rest);
    return s->room;
}

/* The shards [from, upto) of the member's set. */
static enum imrec_status add_gap(const struct shard_sets *s, const struct shard_member *m,
                                 uint64_t from, uint64_t upto, bool on_disk, struct shard_gap *g,
                                 struct imrec_error *err)
{
    for (uint64_t k = from; k < upto; k++) {
        bool there = false;
        if (on_disk)
            IMREC_TRY(sink_exists(name_of(s, m, k), &there, err));
        if (!there)
            IMREC_TRY(shard_gap_add(g, name_of(s, m, k), err));
    }
    return IMREC_OK;
}

enum imrec_status shard_sets_gap(const struct shard_sets *s, size_t begin, size_t end, bool on_disk,
                                 struct shard_gap *g, struct imrec_error *err)
{
    const struct shard_member *m = &s->member[begin];
    uint64_t next = 0; /* the number that comes */
    *g = (struct shard_gap){.promised = m->name.count};
    if (m->name.count >
        MANIFEST_MAX_SHARDS) /* no set has that many: that is a name, not a number */
        return IMREC_OK;
    for (size_t i = begin; i <= end; i++) {
        const uint64_t upto = i < end ? s->member[i].name.number : m->name.count;
        IMREC_TRY(add_gap(s, m, next, upto, on_disk, g, err));
        next = upto + 1;
    }
    shard_gap_end(g);
    return IMREC_OK;
}

/* What is said of the missing ones. */
static const char *verb_of(const struct shard_gap *g, enum gap_weight weight)
{
    const bool one = g->missing == 1;
    if (!g->unmatched)
        return one ? "is missing" : "are missing";
    if (weight == GAP_LISTED)
        return one ? "is not listed" : "are not listed";
    return one ? "is there and does not match" : "are there and do not match";
}

enum imrec_status shard_gap_tell(const struct shard_gap *g, const char *who, const char *says,
                                 enum gap_weight weight, struct imrec_error *err)
{
    if (weight != GAP_ERROR) {
        imrec_log(IMREC_LOG_WARNING,
                  "%.300s: %s %" PRIu64 " shards, and %" PRIu64 " %s: %s; only the others are read",
                  who, says, g->promised, g->missing, verb_of(g, weight), g->names);
        return IMREC_OK;
    }
    imrec_fail(err, IMREC_ERR_IO,
               "%.180s: %s %" PRIu64 " shards, and %" PRIu64
               " %s: %s; allow_missing reads the others",
               who, says, g->promised, g->missing, verb_of(g, weight), g->names);
    imrec_error_errno(err, ENOENT);
    return IMREC_ERR_IO;
}
