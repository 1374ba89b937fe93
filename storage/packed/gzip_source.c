/* storage/packed/gzip_source.c */
#include "storage/packed/gzip_source.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/threads.h"

#include <inttypes.h>
#include <string.h>

bool gzip_is_head(const uint8_t first[GZIP_HEAD_BYTES])
{
    return first[0] == 0x1f && first[1] == 0x8b && first[2] == 8;
}

#if IMREC_HAVE_ZLIB
#include <zlib.h>

enum { GZIP_ONLY = 15 + 16, DEFLATE_ONLY = -15, WINDOW_BYTES = 32 << 10, TRAILER_BYTES = 8 };
#define KEPT_BYTES  ((size_t)8 << 20)
#define NEAR_BYTES  ((size_t)256 << 10) /* of the packed file, at once */
#define FAR_BYTES   ((size_t)4 << 20)
#define PIECE_BYTES ((uint64_t)256 << 10)
#define PLACES_MOST 256u /* with a window each */
#define APART_BYTES ((uint64_t)1 << 20)
_Static_assert(KEPT_BYTES + FAR_BYTES + PLACES_MOST * (uint64_t)WINDOW_BYTES <= GZIP_HELD_BYTES,
               "the header says what is held");

/* Where unpacking can begin again. */
struct place {
    uint64_t in, out; /* bytes of the packed file, and unpacked ones, before it */
    int bits;         /* of the packed byte before it that come after it */
    uint8_t *window;  /* the unpacked bytes before it, `held`; NULL: a member begins */
    uInt held;
};

struct gzip_source {
    struct source base; /* first */
    struct source *inner;
    char *name;
    struct mutex lock;
    /* The cursor: */
    z_stream z;
    bool in_member, middle; /* between head and end of one; begun there, so that no sum is known */
    uint8_t *in;
    size_t in_room;
    uint64_t in_end; /* byte of the packed file after what z.next_in has */
    uint64_t out;    /* the next unpacked byte; those before it are in the ring, at byte % ring */
    uint8_t *ring;
    size_t held;
    /* The file: */
    struct place places[PLACES_MOST]; /* ascending */
    uint32_t place_count;
    uint64_t apart;   /* bytes between two of them */
    uint64_t reached; /* the maximum of `out` so far */
    bool ended;       /* it has no more bytes than these: */
    struct imrec_error why;
};

static voidpf zlib_alloc(voidpf context, uInt count, uInt size)
{
    (void)context;
    return imrec_zalloc(count, size);
}

static void zlib_free(voidpf context, voidpf p)
{
    (void)context;
    imrec_free(p);
}

/* ---- places ------------------------------------------------------------------------------- */

static uint64_t packed_at(const struct gzip_source *g)
{
    return g->in_end - g->z.avail_in;
}

/* Every second one goes, from the second on. */
static void thin_out(struct gzip_source *g)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->place_count; i++) {
        if (i % 2 == 0)
            g->places[kept++] = g->places[i];
        else
            imrec_free(g->places[i].window);
    }
    g->place_count = kept;
    g->apart *= 2;
}

static bool is_wanted(const struct gzip_source *g)
{
    return g->place_count == 0 || g->out >= g->places[g->place_count - 1].out + g->apart;
}

/* The cursor's place, before a member or between two blocks of one. Without memory for it the way
 * back is longer. */
static void remember(struct gzip_source *g, bool member)
{
    struct place p = {.in = packed_at(g), .out = g->out};
    if (!is_wanted(g))
        return;
    if (!member) {
        p.bits = g->z.data_type & 7;
        p.window = imrec_realloc(NULL, WINDOW_BYTES, 1);
        if (p.window == NULL || inflateGetDictionary(&g->z, p.window, &p.held) != Z_OK) {
            imrec_free(p.window);
            return;
        }
    }
    if (g->place_count == PLACES_MOST)
        thin_out(g);
    g->places[g->place_count++] = p;
}

/* ---- the cursor --------------------------------------------------------------------------- */

/* More of the packed file, where none is left. IMREC_END: it has no more. */
static enum imrec_status refill(struct gzip_source *g, struct imrec_error *err)
{
    const uint64_t left = g->inner->size - g->in_end;
    const size_t n = left < g->in_room ? (size_t)left : g->in_room;
    if (g->z.avail_in != 0)
        return IMREC_OK;
    if (n == 0)
        return IMREC_END;
    IMREC_TRY(source_read(g->inner, g->in_end, g->in, n, err));
    g->in_end += n;
    g->z.next_in = g->in;
    g->z.avail_in = (uInt)n;
    return IMREC_OK;
}

/* The bytes end here, because of `what` unless that is NULL. */
static enum imrec_status end(struct gzip_source *g, const char *what)
{
    if (what != NULL)
        (void)imrec_error_at(&g->why, IMREC_ERR_CORRUPT, g->out,
                             "the gzip around the archive %s byte %" PRIu64 " of %" PRIu64, what,
                             packed_at(g), g->inner->size);
    g->ended = true;
    return IMREC_END;
}

static enum imrec_status pass(struct gzip_source *g, size_t n, struct imrec_error *err)
{
    while (n != 0) {
        const enum imrec_status st = refill(g, err);
        if (st != IMREC_OK)
            return st == IMREC_END ? end(g, "is cut off:") : st;
        const uInt some = n < g->z.avail_in ? (uInt)n : g->z.avail_in;
        g->z.next_in += some;
        g->z.avail_in -= some;
        n -= some;
    }
    return IMREC_OK;
}

/* The next member; zeros that fill a tape up may follow the last one. */
static enum imrec_status begin_member(struct gzip_source *g, struct imrec_error *err)
{
    bool zeros = false;
    for (;;) {
        const enum imrec_status st = refill(g, err);
        if (st != IMREC_OK)
            return st == IMREC_END ? end(g, NULL) : st;
        if (g->z.next_in[0] != 0)
            break;
        zeros = true;
        IMREC_TRY(pass(g, 1, err));
    }
    if (zeros || g->z.next_in[0] != 0x1f)
        return end(g, "is followed by other bytes from");
    remember(g, true);
    if (inflateReset2(&g->z, GZIP_ONLY) != Z_OK)
        return IMREC_NO_MEMORY(err, "%s: no memory to unpack it", g->name);
    g->in_member = true;
    g->middle = false;
    return IMREC_OK;
}

/* Continues at p. */
static enum imrec_status
go_to(struct gzip_source *g, const struct place *p, struct imrec_error *err)
{
    g->z.avail_in = 0;
    g->in_end = p->in - (p->bits != 0);
    g->out = p->out;
    g->held = 0;
    g->in_member = false;
    if (p->window == NULL)
        return IMREC_OK;
    int answer = inflateReset2(&g->z, DEFLATE_ONLY);
    if (answer == Z_OK && p->bits != 0) {
        IMREC_TRY(refill(g, err));
        answer = inflatePrime(&g->z, p->bits, g->z.next_in[0] >> (8 - p->bits));
        IMREC_TRY(pass(g, 1, err));
    }
    if (answer == Z_OK)
        answer = inflateSetDictionary(&g->z, p->window, p->held);
    if (answer != Z_OK)
        return IMREC_NO_MEMORY(err, "%s: no memory to unpack it", g->name);
    g->in_member = g->middle = true;
    return IMREC_OK;
}

/* Unpacks up to `most` bytes more into the ring: zlib's answer. */
static int unpack(struct gzip_source *g, uint64_t most)
{
    const size_t at = (size_t)(g->out % KEPT_BYTES), room = KEPT_BYTES - at;
    const size_t wish = (size_t)(most < PIECE_BYTES ? most : PIECE_BYTES);
    const size_t n = wish < room ? wish : room;
    g->z.next_out = g->ring + at;
    g->z.avail_out = (uInt)n;
    const int answer = inflate(&g->z, Z_BLOCK);
    const size_t made = n - g->z.avail_out;
    g->out += made;
    g->held = made < KEPT_BYTES - g->held ? g->held + made : KEPT_BYTES;
    g->reached = g->out > g->reached ? g->out : g->reached;
    return answer;
}

/* A step on, which may give up to `most` bytes. IMREC_END: there are no more. */
static enum imrec_status advance(struct gzip_source *g, uint64_t most, struct imrec_error *err)
{
    if (!g->in_member)
        return begin_member(g, err);
    const enum imrec_status st = refill(g, err);
    if (st != IMREC_OK && st != IMREC_END)
        return st;
    const int place = g->z.data_type, answer = unpack(g, most); /* also of what zlib has taken in */
    if (answer == Z_STREAM_END) {
        g->in_member = false;
        return g->middle ? pass(g, TRAILER_BYTES, err) : IMREC_OK;
    }
    if (answer == Z_MEM_ERROR)
        return IMREC_NO_MEMORY(err, "%s: no memory to unpack it", g->name);
    if (answer != Z_OK && answer != Z_BUF_ERROR)
        return end(g, "is damaged before");
    if (st == IMREC_END && answer == Z_BUF_ERROR && g->z.data_type == place)
        return end(g, "is cut off:");
    if ((g->z.data_type & 128) != 0 && (g->z.data_type & 64) == 0)
        remember(g, false);
    return IMREC_OK;
}

/* Moves the cursor to where `offset` is unpacked soonest. */
static enum imrec_status seek(struct gzip_source *g, uint64_t offset, struct imrec_error *err)
{
    uint32_t i = g->place_count;
    while (i > 0 && g->places[i - 1].out > offset)
        i--;
    const bool back = offset < g->out - g->held;
    if (i == 0 || (!back && g->places[i - 1].out <= g->out))
        return IMREC_OK;
    return go_to(g, &g->places[i - 1], err);
}

/* ---- as a source -------------------------------------------------------------------------- */

static enum imrec_status no_such_byte(const struct gzip_source *g, struct imrec_error *err)
{
    if (g->why.status != IMREC_OK)
        return imrec_error_at(err, g->why.status, g->why.offset, "%.200s: %.280s", g->name,
                              g->why.message);
    return imrec_error_at(err, IMREC_ERR_CORRUPT, g->reached,
                          "%.200s has %" PRIu64 " bytes unpacked, fewer than when it was listed",
                          g->name, g->reached);
}

/* With the lock held. */
static enum imrec_status copy_some(struct gzip_source *g, uint64_t offset, uint8_t *to, size_t n,
                                   size_t *copied, struct imrec_error *err)
{
    *copied = 0;
    if (g->ended && offset >= g->reached) /* what comes after damage may look like a member */
        return no_such_byte(g, err);
    IMREC_TRY(seek(g, offset, err));
    if (offset >= g->out) {
        const enum imrec_status st = advance(g, offset - g->out + n, err);
        return st != IMREC_END ? st : offset < g->out ? IMREC_OK : no_such_byte(g, err);
    }
    const size_t at = (size_t)(offset % KEPT_BYTES), whole = KEPT_BYTES - at;
    const uint64_t there = g->out - offset;
    n = n < whole ? n : whole;
    *copied = n < there ? n : (size_t)there;
    memcpy(to, g->ring + at, *copied);
    return IMREC_OK;
}

static enum imrec_status
gzip_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct gzip_source *g = (struct gzip_source *)s;
    enum imrec_status st = IMREC_OK;
    mutex_lock(&g->lock);
    for (size_t done = 0, some; done < n && st == IMREC_OK; done += some)
        st = copy_some(g, offset + done, (uint8_t *)to + done, n - done, &some, err);
    mutex_unlock(&g->lock);
    return st;
}

static void gzip_close(struct source *s)
{
    struct gzip_source *g = (struct gzip_source *)s;
    for (uint32_t i = 0; i < g->place_count; i++)
        imrec_free(g->places[i].window);
    (void)inflateEnd(&g->z);
    mutex_destroy(&g->lock);
    source_close(g->inner);
    IMREC_FREE(g->in, g->ring, g->name, g);
}

static void gzip_cancel(struct source *s)
{
    source_cancel(((struct gzip_source *)s)->inner);
}

static bool fill(struct gzip_source *g, const char *name)
{
    g->in = imrec_realloc(NULL, g->in_room, 1);
    g->ring = imrec_realloc(NULL, KEPT_BYTES, 1);
    g->name = imrec_joined(name, strlen(name), "");
    g->z.zalloc = zlib_alloc;
    g->z.zfree = zlib_free;
    return g->in != NULL && g->ring != NULL && g->name != NULL &&
           inflateInit2(&g->z, GZIP_ONLY) == Z_OK;
}

enum imrec_status gzip_source_open(struct source *inner, const char *name, bool far,
                                   struct source **out, struct imrec_error *err)
{
    static const struct source_ops ops = {
        .read_at = gzip_read_at, .close = gzip_close, .cancel = gzip_cancel};
    struct gzip_source *g = imrec_zalloc(1, sizeof(*g));
    *out = NULL;
    if (g == NULL) {
        source_close(inner);
        return IMREC_NO_MEMORY(err, "%s: no memory to unpack it", name);
    }
    g->base = (struct source){.size = UINT64_MAX, .ops = &ops};
    g->inner = inner;
    g->in_room = far ? FAR_BYTES : NEAR_BYTES;
    g->apart = APART_BYTES;
    mutex_init(&g->lock);
    if (!fill(g, name)) {
        gzip_close(&g->base);
        return IMREC_NO_MEMORY(err, "%s: no memory to unpack it", name);
    }
    *out = &g->base;
    return IMREC_OK;
}

uint64_t gzip_source_reach(struct source *s, uint64_t bytes)
{
    struct gzip_source *g = (struct gzip_source *)s;
    struct imrec_error why;
    mutex_lock(&g->lock);
    enum imrec_status st = IMREC_OK;
    while (st == IMREC_OK && !g->ended && g->reached < bytes) {
        st = seek(g, g->reached, &why);
        if (st == IMREC_OK)
            st = advance(g, bytes - g->reached, &why);
    }
    if (st != IMREC_OK && st != IMREC_END)
        g->why = why;
    const uint64_t n = g->reached < bytes ? g->reached : bytes;
    mutex_unlock(&g->lock);
    return n;
}

enum imrec_status gzip_source_damage(struct source *s, struct imrec_error *err)
{
    struct gzip_source *g = (struct gzip_source *)s;
    mutex_lock(&g->lock);
    const enum imrec_status st = g->why.status;
    if (st != IMREC_OK && err != NULL)
        *err = g->why;
    mutex_unlock(&g->lock);
    return st;
}
#else
enum imrec_status gzip_source_open(struct source *inner, const char *name, bool far,
                                   struct source **out, struct imrec_error *err)
{
    (void)far;
    *out = NULL;
    source_close(inner);
    return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                      "%s is packed by gzip; this build unpacks none, it was made without zlib: "
                      "unpack it with gunzip first",
                      name);
}

uint64_t gzip_source_reach(struct source *s, uint64_t bytes)
{
    (void)bytes;
    return s->size;
}

enum imrec_status gzip_source_damage(struct source *s, struct imrec_error *err)
{
    (void)s, (void)err;
    return IMREC_OK;
}
#endif
