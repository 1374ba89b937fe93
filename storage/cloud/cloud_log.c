/* storage/cloud/cloud_log.c - an object that grows by syncs, and is read again before its end:
 * each sync puts a piece of its own into the bucket. */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/cloud/cloud_out.h"
#include "storage/cloud/cloud_state.h"
#include "storage/cloud/listing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_BYTES ((size_t)256 << 20) /* between two syncs */
#define PIECES_MOST   99999999u

/* ---- its pieces ------------------------------------------------------------------------------ */

struct piece {
    uint32_t number; /* 0: NAME.part itself */
    uint64_t begin, size;
};
struct pieces {
    struct cloud_place place;
    char *part_key;
    struct piece *piece; /* by number, without a gap */
    uint64_t room;
    uint32_t count;
    uint64_t bytes;
};

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory for the pieces of a log");
}

static void pieces_close(struct pieces *x)
{
    cloud_place_close(&x->place);
    IMREC_FREE(x->part_key, x->piece);
    *x = (struct pieces){0};
}

/* "NAME.part.00000001"; of imrec_realloc(). */
static char *key_of(const struct pieces *x, uint32_t number)
{
    char suffix[16] = "";
    if (number != 0)
        (void)snprintf(suffix, sizeof(suffix), ".%08" PRIu32, number);
    return imrec_joined(x->part_key, strlen(x->part_key), suffix);
}

static enum imrec_status
add_piece(struct pieces *x, uint32_t number, uint64_t size, struct imrec_error *err)
{
    if (!IMREC_GROW(x->piece, x->room, (uint64_t)x->count + 1))
        return no_memory(err);
    x->piece[x->count++] = (struct piece){number, x->bytes, size};
    x->bytes += size;
    return IMREC_OK;
}

/* Listings are in the order of names, and the numbers have one width. After a gap nothing counts:
 * what is there is an older log's. */
static enum imrec_status
take_piece(void *user, const struct listed_object *e, struct imrec_error *err)
{
    struct pieces *x = user;
    const size_t head = strlen(x->part_key) + 1;
    if (e->folder || e->bytes != head + 8 || e->key[head + strspn(e->key + head, "0123456789")])
        return IMREC_OK;
    const unsigned long number = strtoul(e->key + head, NULL, 10);
    return number == x->count ? add_piece(x, (uint32_t)number, e->size, err) : IMREC_OK;
}

static enum imrec_status list_pieces(struct pieces *x, struct imrec_error *err)
{
    struct listing l = {0};
    char *prefix = imrec_joined(x->part_key, strlen(x->part_key), ".");
    enum imrec_status st = prefix == NULL ? no_memory(err) : IMREC_OK;
    while (st == IMREC_OK && !l.ended)
        st = listing_page(&l, &x->place, prefix, take_piece, x, err);
    listing_free(&l);
    imrec_free(prefix);
    return st;
}

/* All that are there; none: count is 0. `part_key` is of imrec_realloc(), and owned. */
static enum imrec_status find_pieces(struct pieces *x, struct imrec_error *err)
{
    uint64_t size;
    bool found;
    if (x->part_key == NULL)
        return no_memory(err);
    IMREC_TRY(cloud_size(&x->place, x->part_key, &size, &found, err));
    if (!found)
        return IMREC_OK;
    IMREC_TRY(add_piece(x, 0, size, err));
    return list_pieces(x, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct log_source {
    struct source base; /* first */
    struct pieces pieces;
};

static enum imrec_status read_piece(struct pieces *x, const struct piece *piece, uint64_t offset,
                                    void *to, size_t n, struct imrec_error *err)
{
    struct wire_object *object;
    char *key = key_of(x, piece->number), *url = key != NULL ? cloud_url(&x->place, key, "") : NULL;
    const struct wire_object_options o = {
        .url = url, .shown = x->place.shown, .sign = x->place.sign, .signer = &x->place.aws};
    enum imrec_status st = url == NULL ? no_memory(err) : wire_object_open(&o, &object, err);
    IMREC_FREE(key, url);
    IMREC_TRY(st);
    if (wire_object_size(object) != piece->size)
        st = imrec_fail(err, IMREC_ERR_IO, "%s: a piece of it has changed", x->place.shown);
    else
        st = wire_object_read(object, offset, to, n, err);
    wire_object_close(object);
    return st;
}

static enum imrec_status
log_read_at(struct source *base, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    struct pieces *x = &((struct log_source *)base)->pieces;
    uint8_t *at = to;
    for (uint32_t i = 0; i < x->count && n != 0; i++) {
        const struct piece *piece = &x->piece[i];
        if (offset >= piece->begin + piece->size)
            continue;
        const uint64_t from = offset - piece->begin, left = piece->size - from;
        const size_t take = n < left ? n : (size_t)left;
        IMREC_TRY(read_piece(x, piece, from, at, take, err));
        at += take;
        offset += take;
        n -= take;
    }
    return IMREC_OK;
}

static void log_source_close(struct source *base)
{
    struct log_source *s = (struct log_source *)base;
    pieces_close(&s->pieces);
    imrec_free(s);
}

static const struct source_ops source_ops = {log_read_at, NULL, NULL, log_source_close, NULL};

enum imrec_status
cloud_log_source(enum cloud cloud, const char *name, struct source **out, struct imrec_error *err)
{
    struct log_source *s = imrec_zalloc(1, sizeof(*s));
    *out = NULL;
    if (s == NULL)
        return no_memory(err);
    enum imrec_status st = cloud_place_open(cloud, name, &s->pieces.place, err);
    if (st == IMREC_OK) {
        s->pieces.part_key = imrec_joined(s->pieces.place.key, strlen(s->pieces.place.key), "");
        st = find_pieces(&s->pieces, err);
    }
    if (st == IMREC_OK && s->pieces.count < 2)
        st = IMREC_END;
    if (st != IMREC_OK) {
        log_source_close(&s->base);
        return st;
    }
    s->base = (struct source){.size = s->pieces.bytes, .ops = &source_ops};
    *out = &s->base;
    return IMREC_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct cloud_log {
    struct out base; /* first */
    struct pieces pieces;
    struct buf pending;
};

static enum imrec_status log_write(struct out *o, const void *p, size_t n, struct imrec_error *err)
{
    return buf_append(&((struct cloud_log *)o)->pending, p, n, err);
}

static enum imrec_status
put_piece(struct pieces *x, uint32_t number, struct bytes content, struct imrec_error *err)
{
    if (number > PIECES_MOST)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%s: has more than %u pieces", x->place.shown,
                          PIECES_MOST);
    char *key = key_of(x, number);
    const enum imrec_status st =
        key == NULL ? no_memory(err) : cloud_put(&x->place, key, content, err);
    imrec_free(key);
    return st;
}

static enum imrec_status log_sync(struct out *base, struct imrec_error *err)
{
    struct cloud_log *o = (struct cloud_log *)base;
    if (o->pending.n == 0 && o->pieces.count != 0)
        return IMREC_OK;
    const struct bytes content = {o->pending.p, o->pending.n};
    IMREC_TRY(put_piece(&o->pieces, o->pieces.count, content, err));
    IMREC_TRY(add_piece(&o->pieces, o->pieces.count, content.n, err));
    o->pending.n = 0;
    return IMREC_OK;
}

static void log_close(struct out *base, bool remove)
{
    struct cloud_log *o = (struct cloud_log *)base;
    if (remove) /* what cannot be removed now is when it is begun again */
        (void)cloud_remove_part(&o->pieces.place, o->pieces.part_key, NULL);
    buf_free(&o->pending);
    pieces_close(&o->pieces);
    imrec_free(o);
}

static const struct out_ops log_ops = {.write = log_write, .sync = log_sync, .close = log_close};

static enum imrec_status drop_piece(struct pieces *x, struct imrec_error *err)
{
    const struct piece *last = &x->piece[x->count - 1];
    char *key = key_of(x, last->number);
    const enum imrec_status st = key == NULL ? no_memory(err) : cloud_delete(&x->place, key, err);
    imrec_free(key);
    x->bytes = last->begin;
    x->count--;
    return st;
}

/* Keeps the first `size` bytes: the later pieces go, and the one in which it ends is cut. */
static enum imrec_status cut(struct pieces *x, uint64_t size, struct imrec_error *err)
{
    while (x->count > 1 && x->piece[x->count - 1].begin >= size)
        IMREC_TRY(drop_piece(x, err));
    struct piece *last = &x->piece[x->count - 1];
    const size_t n = (size_t)(size - last->begin);
    if (n == last->size)
        return IMREC_OK;
    uint8_t *p = imrec_realloc(NULL, n + 1, 1);
    enum imrec_status st = p == NULL ? no_memory(err) : read_piece(x, last, 0, p, n, err);
    if (st == IMREC_OK)
        st = put_piece(x, last->number, (struct bytes){p, n}, err);
    imrec_free(p);
    last->size = n;
    x->bytes = size;
    return st;
}

static enum imrec_status resume(struct pieces *x, uint64_t size, struct imrec_error *err)
{
    IMREC_TRY(find_pieces(x, err));
    if (x->count == 0 || x->bytes < size)
        return imrec_fail(err, IMREC_ERR_IO,
                          "%s.part: has %" PRIu64 " bytes; resuming needs the first %" PRIu64,
                          x->place.shown, x->bytes, size);
    return cut(x, size, err);
}

static enum imrec_status open_at(struct pieces *x, enum cloud cloud, const char *name,
                                 uint64_t size, struct imrec_error *err)
{
    IMREC_TRY(cloud_place_open(cloud, name, &x->place, err));
    x->part_key = cloud_part_key(x->place.key);
    if (x->part_key == NULL)
        return no_memory(err);
    return size == STORE_NEW ? cloud_remove_part(&x->place, x->part_key, err)
                             : resume(x, size, err);
}

enum imrec_status cloud_log_open(enum cloud cloud, const char *name, uint64_t size,
                                 struct out **out, struct imrec_error *err)
{
    struct cloud_log *o = imrec_zalloc(1, sizeof(*o));
    *out = NULL;
    if (o == NULL)
        return no_memory(err);
    o->base.ops = &log_ops;
    o->pending = BUF_INIT(PENDING_BYTES);
    const enum imrec_status st = open_at(&o->pieces, cloud, name, size, err);
    if (st == IMREC_OK)
        *out = &o->base;
    else
        log_close(&o->base, false);
    return st;
}
