/* container/cbf_ids.c - ids of images whose files have none.
 *
 * Files of decoded images hold the data that CNTK trains on, and no ids. The packer's list next to
 * them has a line for each image, in their order: its ids count only if the container has all
 * shards of the set and nothing else. */
#include "container/cbf.h"

#include "base/alloc.h"
#include "formats/set/image_list.h"
#include "formats/set/set_names.h"

#include <string.h>

#define MOST_BYTES ((size_t)4 << 30)

/* The list next to all shards. NULL: there is none. */
static char *list_name(const struct container *s)
{
    char *name = set_path(s->shards[0].uri, SET_LIST);
    for (uint32_t i = 1; name != NULL && i < s->shard_count; i++) {
        char *other = set_path(s->shards[i].uri, SET_LIST);
        if (other == NULL || strcmp(other, name) != 0) {
            imrec_free(name);
            name = NULL;
        }
        imrec_free(other);
    }
    return name;
}

/* Gives the units their lines' ids, if `take`; returns how many lines there are, or UINT64_MAX
 * where it is no list. */
static uint64_t read_list(struct container *s, const char *name, struct bytes text, bool take)
{
    struct image_list list = {0};
    struct image_list_entry e;
    enum imrec_status st;
    uint64_t lines = 0;
    image_list_begin(&list, name, 0, text, 0, 0);
    while ((st = image_list_next(&list, &e, NULL)) == IMREC_OK) {
        const uint64_t unit = lines++ - cbf_of(s)->begin;
        if (take && unit < s->unit_count)
            s->records[unit].key = e.id;
    }
    image_list_end(&list);
    return st == IMREC_END ? lines : UINT64_MAX;
}

void cbf_ids_of_list(struct container *s)
{
    uint8_t *text;
    size_t n;
    char *name = list_name(s);
    if (name != NULL && source_load(name, MOST_BYTES, &text, &n, NULL) == IMREC_OK) {
        if (read_list(s, name, (struct bytes){text, n}, false) == s->record_total)
            (void)read_list(s, name, (struct bytes){text, n}, true);
        imrec_free(text);
    }
    imrec_free(name);
}
