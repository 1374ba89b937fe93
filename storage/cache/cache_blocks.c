/* storage/cache/cache_blocks.c - blocks are found, checked, kept, and others make room.
 *
 * Blocks are kept until all places are taken. Then one goes only if its object was replaced by
 * another version that this process reads, or if this process does not read its object and nobody
 * has read the block for a day. So a sweep over more than there is room for keeps what came first
 * and takes nothing from itself. */
#include "storage/cache/cache_blocks.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "formats/crc32c.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define CHUNK         64u /* entries read at once: 4 KiB */
#define CHUNKS_MOST   16u /* of a lookup; an entry further off is not found, nor made */
#define VICTIMS_MOST  65536u
#define IDLE_MINUTES  (24u * 60)
#define TOUCH_MINUTES 60u /* a block that is read is marked so often */
#define LOOK_AGAIN_NS ((uint64_t)60 * 1000000000u)
#define LOCK_WAIT_MS  2000 /* a holder that stopped costs a block's place, not the training */

static uint32_t minutes_now(void)
{
    return (uint32_t)(time(NULL) / 60);
}

/* ---- the index --------------------------------------------------------------------------- */

struct found {
    struct cache_entry entry;
    uint64_t at;   /* of the entry; NO_PLACE: there is none */
    uint64_t room; /* where it could be made; NO_PLACE: nowhere */
};

static uint64_t first_entry(const struct cache *c, const struct cache_block *b)
{
    uint64_t h = b->object.whole[0] ^ b->number * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdu; /* the finalizer of MurmurHash3 */
    return (h ^ h >> 29) & (c->entries - 1);
}

static bool is_of(const struct cache_entry *e, const struct cache_block *b)
{
    return memcmp(&e->object, &b->object, sizeof(e->object)) == 0 && e->block == b->number &&
           e->bytes == b->bytes;
}

static bool is_sound(const struct cache *c, const struct cache_entry *e)
{
    return e->place != 0 && e->place <= c->places && e->crc == cache_entry_crc(e);
}

/* Looks at one entry; true: the search is over. */
static bool
look_at(const struct cache *c, const struct cache_block *b, uint64_t at, struct found *f)
{
    const bool sound = is_sound(c, &f->entry);
    if (sound && is_of(&f->entry, b)) {
        f->at = at;
        return true;
    }
    if (!sound && f->room == NO_PLACE)
        f->room = at; /* empty, removed or damaged */
    return f->entry.place == 0;
}

static void find(const struct cache *c, const struct cache_block *b, struct found *f)
{
    struct cache_entry chunk[CHUNK];
    uint64_t at = first_entry(c, b);
    f->at = f->room = NO_PLACE;
    for (uint32_t k = 0; k < CHUNKS_MOST; k++) {
        const uint64_t left = c->entries - at, n = left < CHUNK ? left : CHUNK;
        if (!cache_pread(c, chunk, n * sizeof(chunk[0]), cache_entry_at(at)))
            return;
        for (uint64_t i = 0; i < n; i++) {
            f->entry = chunk[i];
            if (look_at(c, b, at + i, f))
                return;
        }
        at = (at + n) & (c->entries - 1);
    }
}

/* ---- reading ----------------------------------------------------------------------------- */

static void touch(struct cache *c, const struct found *f)
{
    const uint32_t now = minutes_now();
    if (now - f->entry.touched >= TOUCH_MINUTES && !atomic_load(&c->off))
        (void)cache_pwrite(c, &now, sizeof(now),
                           cache_entry_at(f->at) + offsetof(struct cache_entry, touched));
}

static bool head_is_of(const struct cache_head *h, const struct cache_block *b)
{
    return h->entry.crc == cache_entry_crc(&h->entry) && is_of(&h->entry, b) &&
           h->entry.sum == crc32c(0, h->piece, sizeof(h->piece));
}

/* One piece, of which bytes [from, to) of the block are asked; all of it is checked. */
static bool read_piece(const struct cache *c, uint64_t at, const struct cache_head *h, uint32_t i,
                       uint32_t from, uint32_t end, uint8_t *to, uint8_t *scratch)
{
    const uint32_t begin = i * (uint32_t)PIECE_BYTES, left = h->entry.bytes - begin,
                   n = left < PIECE_BYTES ? left : (uint32_t)PIECE_BYTES;
    const bool whole = from <= begin && end >= begin + n;
    uint8_t *p = whole ? to + (begin - from) : scratch;
    if (!cache_pread(c, p, n, at + begin) || crc32c(0, p, n) != h->piece[i])
        return false;
    if (!whole) {
        const uint32_t b = from > begin ? from : begin, e = end < begin + n ? end : begin + n;
        memcpy(to + (b - from), p + (b - begin), e - b);
    }
    return true;
}

static enum cache_found read_place(struct cache *c, const struct cache_block *b, uint64_t place,
                                   uint32_t from, uint8_t *to, uint32_t n)
{
    const uint64_t at = cache_place_at(c, place);
    struct cache_head h;
    if (!cache_pread(c, &h, sizeof(h), at) || !head_is_of(&h, b))
        return CACHE_BROKEN;
    uint8_t *scratch = imrec_realloc(NULL, PIECE_BYTES, 1);
    bool good = scratch != NULL;
    for (uint32_t i = from / (uint32_t)PIECE_BYTES; good && i * PIECE_BYTES < (uint64_t)from + n;
         i++)
        good = read_piece(c, at + HEAD_BYTES, &h, i, from, from + n, to, scratch);
    const bool short_of_memory = scratch == NULL;
    imrec_free(scratch);
    return good ? CACHE_HIT : short_of_memory ? CACHE_NO_MEMORY : CACHE_BROKEN;
}

enum cache_found
cache_get(struct cache *c, const struct cache_block *b, uint32_t from, void *to, uint32_t n)
{
    struct found f;
    find(c, b, &f);
    if (f.at == NO_PLACE)
        return CACHE_MISS;
    const enum cache_found found = read_place(c, b, f.entry.place, from, to, n);
    if (found == CACHE_HIT) {
        touch(c, &f);
        atomic_fetch_add(&c->cache_bytes, n);
    } else if (found == CACHE_BROKEN) {
        atomic_fetch_add(&c->broken_blocks, 1);
    }
    return found == CACHE_NO_MEMORY ? CACHE_MISS : found;
}

enum cache_found cache_look(struct cache *c, uint64_t place, bool whole, struct cache_block *b)
{
    struct cache_head h;
    struct found f;
    if (!cache_pread(c, &h, sizeof(h), cache_place_at(c, place)))
        return CACHE_MISS;
    *b = (struct cache_block){h.entry.object, h.entry.block, h.entry.bytes, NULL};
    if (!is_sound(c, &h.entry) || h.entry.place != place || b->bytes > BLOCK_BYTES)
        return CACHE_BROKEN;
    find(c, b, &f);
    if (f.at == NO_PLACE || f.entry.place != place)
        return CACHE_MISS; /* of a process that was killed before it was known */
    if (!whole)
        return head_is_of(&h, b) ? CACHE_HIT : CACHE_BROKEN;
    uint8_t *bytes = imrec_realloc(NULL, BLOCK_BYTES, 1);
    const enum cache_found found =
        bytes != NULL ? read_place(c, b, place, 0, bytes, b->bytes) : CACHE_NO_MEMORY;
    imrec_free(bytes);
    return found;
}

/* ---- who goes ---------------------------------------------------------------------------- */

/* The first of this process's objects whose URI is not below. */
static uint64_t mine_from(const struct cache *c, uint64_t uri)
{
    uint64_t low = 0, high = c->mine_count;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (c->mine[mid].uri < uri)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool cache_add_mine(struct cache *c, const struct cache_object *o)
{
    mutex_lock(&c->lock);
    const uint64_t i = mine_from(c, o->uri);
    const bool room = IMREC_GROW(c->mine, c->mine_room, c->mine_count + 1);
    if (room) {
        memmove(c->mine + i + 1, c->mine + i, (c->mine_count - i) * sizeof(*c->mine));
        c->mine[i] = *o;
        c->mine_count++;
    }
    mutex_unlock(&c->lock);
    return room;
}

static bool may_go(const struct cache *c, const struct cache_entry *e, uint32_t now)
{
    bool replaced = false;
    for (uint64_t i = mine_from(c, e->object.uri);
         i < c->mine_count && c->mine[i].uri == e->object.uri; i++) {
        if (memcmp(&c->mine[i], &e->object, sizeof(e->object)) == 0)
            return false;
        replaced = true;
    }
    return replaced || (now > e->touched && now - e->touched >= IDLE_MINUTES);
}

static void look_for_victims(struct cache *c)
{
    struct cache_entry chunk[CHUNK];
    const uint32_t now = minutes_now();
    c->looked_ns = clock_ns();
    c->victim_count = 0;
    if (c->victims == NULL)
        c->victims = imrec_realloc(NULL, VICTIMS_MOST, sizeof(*c->victims));
    for (uint64_t at = 0; c->victims != NULL && at < c->entries; at += CHUNK) {
        const uint64_t left = c->entries - at, n = left < CHUNK ? left : CHUNK;
        if (!cache_pread(c, chunk, n * sizeof(chunk[0]), cache_entry_at(at)))
            return;
        for (uint64_t i = 0; i < n && c->victim_count < VICTIMS_MOST; i++)
            if (is_sound(c, &chunk[i]) && may_go(c, &chunk[i], now))
                c->victims[c->victim_count++] = at + i;
    }
}

/* A place whose block may go, and its entry; 0: none. The entry is looked at again: others take
 * blocks, too. */
static uint64_t take_victim(struct cache *c, uint64_t *entry)
{
    struct cache_entry e;
    if (c->victim_count == 0 && (c->looked_ns == 0 || clock_ns() - c->looked_ns >= LOOK_AGAIN_NS))
        look_for_victims(c);
    while (c->victim_count != 0) {
        *entry = c->victims[--c->victim_count];
        if (cache_pread(c, &e, sizeof(e), cache_entry_at(*entry)) && is_sound(c, &e) &&
            may_go(c, &e, minutes_now()))
            return e.place;
    }
    return 0;
}

bool cache_has_room(struct cache *c)
{
    if (atomic_load(&c->off))
        return false;
    if (!atomic_load(&c->full))
        return true;
    mutex_lock(&c->lock);
    const bool again = clock_ns() - c->looked_ns >= LOOK_AGAIN_NS;
    mutex_unlock(&c->lock);
    return again;
}

/* ---- keeping ----------------------------------------------------------------------------- */

static struct cache_head head_of(const struct cache_block *b, uint64_t place, const uint8_t *bytes)
{
    struct cache_head h = {.entry = {.object = b->object,
                                     .block = b->number,
                                     .place = place,
                                     .bytes = b->bytes,
                                     .touched = minutes_now()}};
    for (uint32_t i = 0, at = 0; at < b->bytes; i++, at += (uint32_t)PIECE_BYTES) {
        const uint32_t left = b->bytes - at;
        h.piece[i] = crc32c(0, bytes + at, left < PIECE_BYTES ? left : PIECE_BYTES);
    }
    h.entry.sum = crc32c(0, h.piece, sizeof(h.piece));
    h.entry.crc = cache_entry_crc(&h.entry);
    return h;
}

/* The head of a place as it is written. */
static void fill_head(const struct cache_head *h, const char *name, uint8_t out[HEAD_BYTES])
{
    struct cache_name n = {.bytes = (uint32_t)strlen(name)};
    memset(n.text, 0, sizeof(n.text));
    memcpy(n.text, name, n.bytes);
    n.crc = cache_name_crc(&n);
    memcpy(out, h, sizeof(*h));
    memcpy(out + sizeof(*h), &n, sizeof(n));
}

static bool write_block(const struct cache *c, const struct cache_head *h, const char *name,
                        const void *bytes, uint64_t entry, uint64_t victim)
{
    uint8_t head[HEAD_BYTES];
    static const struct cache_entry removed = {.place = NO_PLACE};
    const uint64_t at = cache_place_at(c, h->entry.place);
    fill_head(h, name, head);
    return cache_pwrite(c, head, sizeof(head), at) &&
           cache_pwrite(c, bytes, h->entry.bytes, at + HEAD_BYTES) &&
           cache_pwrite(c, &h->entry, sizeof(h->entry), cache_entry_at(entry)) &&
           (victim == NO_PLACE || victim == entry ||
            cache_pwrite(c, &removed, sizeof(removed), cache_entry_at(victim)));
}

static void put_locked(struct cache *c, const struct cache_block *b, const void *bytes)
{
    struct cache_header file;
    struct found f;
    uint64_t victim = NO_PLACE, place = 0;
    if (!cache_read_header(c, &file) || file.bound != c->bound) {
        cache_turn_off(c, ESTALE); /* it was emptied: another file has the name now */
        return;
    }
    find(c, b, &f);
    const uint64_t entry = f.at != NO_PLACE ? f.at : f.room;
    const bool fresh = f.at == NO_PLACE && file.used < c->places;
    if (entry == NO_PLACE)
        return;
    place = f.at != NO_PLACE ? f.entry.place : fresh ? file.used + 1 : take_victim(c, &victim);
    atomic_store(&c->full, place == 0);
    if (place == 0)
        return;
    const struct cache_head h = head_of(b, place, bytes);
    if (!write_block(c, &h, b->name, bytes, entry, victim) ||
        (fresh && !cache_write_header(c, file.used + 1)))
        cache_turn_off(c, errno);
}

void cache_put(struct cache *c, const struct cache_block *b, const void *bytes)
{
    if (atomic_load(&c->off))
        return;
    mutex_lock(&c->lock);
    if (cache_lock(c, LOCK_WAIT_MS)) {
        put_locked(c, b, bytes);
        cache_unlock(c);
    }
    mutex_unlock(&c->lock);
}
