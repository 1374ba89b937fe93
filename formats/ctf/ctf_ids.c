/* formats/ctf/ctf_ids.c - which sequence ids have been met: a table with open addressing over the
 * numbers of sequences, made when the first id does not ascend. */
#include "formats/ctf/ctf_ids.h"

#include "base/alloc.h"
#include "base/math.h"

static uint64_t place_of(const struct ctf_ids *ids, uint64_t id)
{
    id ^= id >> 32; /* multipliers of SplitMix64 */
    id *= 0xbf58476d1ce4e5b9u;
    id ^= id >> 29;
    id *= 0x94d049bb133111ebu;
    return (id ^ id >> 32) & (ids->slots - 1);
}

bool ctf_ids_find(const struct ctf_ids *ids, const struct ctf_sequence *sequence, uint64_t n,
                  uint64_t id, uint64_t *offset)
{
    if (!ids->any || id > ids->greatest)
        return false;
    if (ids->slot == NULL) { /* ascending: by halves */
        const uint64_t low =
            first_at_least(sequence, sizeof(*sequence), offsetof(struct ctf_sequence, key), n, id);
        if (low == n || sequence[low].key != id)
            return false;
        *offset = sequence[low].offset;
        return true;
    }
    for (uint64_t i = place_of(ids, id); ids->slot[i] != 0; i = (i + 1) & (ids->slots - 1))
        if (ids->slot[i] <= n && sequence[ids->slot[i] - 1].key == id) {
            *offset = sequence[ids->slot[i] - 1].offset;
            return true;
        }
    return false;
}

static void put(struct ctf_ids *ids, uint64_t id, uint64_t number)
{
    uint64_t i = place_of(ids, id);
    while (ids->slot[i] != 0)
        i = (i + 1) & (ids->slots - 1);
    ids->slot[i] = number + 1;
}

/* A table of at least twice the ids, of all sequences so far. */
static bool rebuild(struct ctf_ids *ids, const struct ctf_sequence *sequence, uint64_t n)
{
    uint64_t slots = 1024;
    while (slots / 2 < n + 1)
        slots *= 2;
    uint64_t *table = imrec_zalloc(slots, sizeof(*table));
    if (table == NULL)
        return false;
    imrec_free(ids->slot);
    ids->slot = table;
    ids->slots = slots;
    for (uint64_t i = 0; i < n; i++)
        put(ids, sequence[i].key, i);
    return true;
}

bool ctf_ids_add(struct ctf_ids *ids, const struct ctf_sequence *sequence, uint64_t n, uint64_t id)
{
    const bool ascends = !ids->any || id > ids->greatest;
    if (ids->slot == NULL && !ascends && !rebuild(ids, sequence, n))
        return false;
    if (ids->slot != NULL) {
        if (n + 1 > ids->slots / 2 && !rebuild(ids, sequence, n))
            return false;
        put(ids, id, n);
    }
    ids->greatest = ascends ? id : ids->greatest;
    ids->any = true;
    return true;
}

void ctf_ids_free(struct ctf_ids *ids)
{
    imrec_free(ids->slot);
    *ids = (struct ctf_ids){0};
}
