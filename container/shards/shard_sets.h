/* container/shards/shard_sets.h - a list of shards as sets, by their names: "a-00000-of-00002.rec"
 * and "a-00001-of-00002.rec" are one, "a.rec" another; and which shards a set lacks. */
#ifndef IMREC_CONTAINER_SHARDS_SHARD_SETS_H
#define IMREC_CONTAINER_SHARDS_SHARD_SETS_H

#include "formats/set/set_names.h"
#include "storage/uri_list.h"

struct shard_member {
    const char *uri; /* borrowed */
    struct set_number name;
    size_t at; /* in the list */
    enum uri_origin origin;
};

struct shard_sets {
    struct shard_member *member; /* set by set, by number in each */
    size_t count;
    char *room; /* for a name that is made of another one */
};

IMREC_NODISCARD enum imrec_status
shard_sets_init(struct shard_sets *s, const struct uri_list *l, struct imrec_error *err);
/* Where the set of member `begin` ends. */
size_t shard_sets_end(const struct shard_sets *s, size_t begin);
/* Whether two sets differ in nothing but the number of their shards. */
bool shard_sets_rival(const struct shard_member *a, const struct shard_member *b);
/* The first member of this name; s->count: there is none. */
size_t shard_sets_find(const struct shard_sets *s, const char *uri);
void shard_sets_free(struct shard_sets *s); /* zeroed memory is fine */

struct shard_gap { /* what a set lacks */
    uint64_t promised, missing;
    char names[200]; /* the first missing ones, without folder, and how many more there are */
    bool unmatched;  /* the first one is there: it is only not among those that are asked for */
};
/* One more; `uri`: where it would be. */
IMREC_NODISCARD enum imrec_status
shard_gap_add(struct shard_gap *g, const char *uri, struct imrec_error *err);
void shard_gap_end(struct shard_gap *g); /* ends the list of names */
/* What the set [begin, end) lacks by its names, "-of-00004". `on_disk`: a shard that is there is
 * not missing, also where it is no member. */
IMREC_NODISCARD enum imrec_status shard_sets_gap(const struct shard_sets *s, size_t begin,
                                                 size_t end, bool on_disk, struct shard_gap *g,
                                                 struct imrec_error *err);
enum gap_weight { GAP_ERROR, GAP_ALLOWED, GAP_LISTED }; /* the latter two are warnings */
/* Reports the shards that a set lacks: `who` `says` how many it has. IMREC_OK, or the error. */
IMREC_NODISCARD enum imrec_status shard_gap_tell(const struct shard_gap *g, const char *who,
                                                 const char *says, enum gap_weight weight,
                                                 struct imrec_error *err);
#endif
