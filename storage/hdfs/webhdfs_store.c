/*
 * storage/hdfs/webhdfs_store.c - files of HDFS, by WebHDFS and HttpFS.
 *
 * An object that is written is PATH.part, created empty and appended to in large pieces: each costs
 * four requests, and closes the file.
 */
#include "storage/hdfs/webhdfs_store.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "storage/hdfs/hdfs_change.h"
#include "storage/hdfs/hdfs_listing.h"
#include "storage/hdfs/hdfs_mark.h"
#include "storage/hdfs/hdfs_object.h"

#define PART_SUFFIX ".part"
#define PIECE_BYTES ((size_t)32 << 20)

/* ---- reading ------------------------------------------------------------------------------ */

struct hdfs_source {
    struct source base; /* first */
    struct hdfs_object *object;
};

static enum imrec_status
hdfs_read_at(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err)
{
    return hdfs_object_read(((struct hdfs_source *)s)->object, offset, to, n, err);
}

static void hdfs_source_close(struct source *s)
{
    hdfs_object_close(((struct hdfs_source *)s)->object);
    imrec_free(s);
}

static void hdfs_source_cancel(struct source *s)
{
    hdfs_object_cancel(((struct hdfs_source *)s)->object);
}

static const struct source_ops source_ops = {hdfs_read_at, NULL, NULL, hdfs_source_close,
                                             hdfs_source_cancel};

static enum imrec_status
open_source(enum hdfs_scheme scheme, const char *name, struct source **out, struct imrec_error *err)
{
    struct hdfs_place p;
    struct hdfs_object *o;
    *out = NULL;
    IMREC_TRY(hdfs_place_make(scheme, name, "", &p, err));
    IMREC_TRY(hdfs_object_open(&p, &o, err));
    struct hdfs_source *s = imrec_zalloc(1, sizeof(*s));
    if (s == NULL) {
        hdfs_object_close(o);
        return IMREC_NO_MEMORY(err, "no memory to open a file of HDFS");
    }
    *s = (struct hdfs_source){
        .base = {hdfs_object_size(o), &source_ops, hdfs_object_modified(o), hdfs_object_identity(o),
                 HDFS_AT_ONCE},
        .object = o,
    };
    *out = &s->base;
    return IMREC_OK;
}

/* ---- folders ------------------------------------------------------------------------------ */

struct hdfs_folder {
    struct folder base; /* first */
    struct hdfs_listing *listing;
    char identity[HDFS_IDENTITY_BYTES]; /* of the entry that was given last */
};

static enum imrec_status
folder_entry(struct folder *f, struct folder_entry *out, struct imrec_error *err)
{
    static const enum folder_kind kinds[] = {FOLDER_FILE, FOLDER_FOLDER, FOLDER_LOST};
    struct hdfs_folder *h = (struct hdfs_folder *)f;
    struct hdfs_entry e;
    IMREC_TRY(hdfs_listing_next(h->listing, &e, err));
    *out = (struct folder_entry){.name = e.name, .kind = kinds[e.status.kind]};
    if (e.status.kind != HDFS_FILE || !e.whole)
        return IMREC_OK;
    hdfs_identity(&e.status, h->identity);
    out->identity = h->identity;
    out->size = e.status.size;
    return IMREC_OK;
}

static void hdfs_folder_close(struct folder *f)
{
    hdfs_listing_close(((struct hdfs_folder *)f)->listing);
    imrec_free(f);
}

static const struct folder_ops folder_ops = {folder_entry, NULL, hdfs_folder_close};

static enum imrec_status
open_folder(enum hdfs_scheme scheme, const char *name, struct folder **out, struct imrec_error *err)
{
    struct hdfs_place p;
    struct hdfs_listing *l;
    *out = NULL;
    IMREC_TRY(hdfs_place_make(scheme, name, "", &p, err));
    IMREC_TRY(hdfs_listing_open(&p, &l, err));
    struct hdfs_folder *f = imrec_zalloc(1, sizeof(*f));
    if (f == NULL) {
        hdfs_listing_close(l);
        return IMREC_NO_MEMORY(err, "no memory to list a folder of HDFS");
    }
    *f = (struct hdfs_folder){.base = {&folder_ops, 0, hdfs_listing_number(l)}, .listing = l};
    *out = &f->base;
    return IMREC_OK;
}

/* ---- writing ------------------------------------------------------------------------------ */

struct hdfs_out {
    struct out base; /* first */
    struct hdfs_place place;
    uint64_t size; /* bytes that the file has */
    struct buf piece;
    bool failed;
};

static enum imrec_status send_piece(struct hdfs_out *h, struct imrec_error *err)
{
    if (h->piece.n == 0 || h->failed)
        return IMREC_OK;
    const enum imrec_status st = hdfs_append(&h->place, h->size, h->piece.p, h->piece.n, err);
    h->failed = st != IMREC_OK;
    h->size += st == IMREC_OK ? h->piece.n : 0;
    h->piece.n = 0;
    return st;
}

static enum imrec_status hdfs_write(struct out *o, const void *p, size_t n, struct imrec_error *err)
{
    struct hdfs_out *h = (struct hdfs_out *)o;
    const uint8_t *at = p;
    while (n != 0) {
        const size_t room = PIECE_BYTES - h->piece.n, take = n < room ? n : room;
        IMREC_TRY(buf_append(&h->piece, at, take, err));
        at += take;
        n -= take;
        if (h->piece.n == PIECE_BYTES)
            IMREC_TRY(send_piece(h, err));
    }
    return IMREC_OK;
}

static enum imrec_status hdfs_sync(struct out *o, struct imrec_error *err)
{
    return send_piece((struct hdfs_out *)o, err);
}

static void hdfs_out_close(struct out *o, bool remove)
{
    struct hdfs_out *h = (struct hdfs_out *)o;
    if (remove)
        hdfs_forget(&h->place);
    else
        (void)send_piece(h, NULL); /* what does not arrive is found missing by the resume */
    buf_free(&h->piece);
    hdfs_place_free(&h->place);
    imrec_free(h);
}

static const struct out_ops out_ops = {hdfs_write, hdfs_sync, NULL, hdfs_out_close};

static enum imrec_status begin_out(struct hdfs_place *p, uint64_t size, struct imrec_error *err)
{
    return size == STORE_NEW ? hdfs_create(p, true, NULL, 0, err) : hdfs_truncate(p, size, err);
}

static enum imrec_status open_out(enum hdfs_scheme scheme, const char *name, uint64_t size,
                                  struct out **out, struct imrec_error *err)
{
    struct hdfs_place p;
    *out = NULL;
    IMREC_TRY(hdfs_place_make(scheme, name, PART_SUFFIX, &p, err));
    struct hdfs_out *h = imrec_zalloc(1, sizeof(*h));
    const enum imrec_status st = h != NULL
                                     ? begin_out(&p, size, err)
                                     : IMREC_NO_MEMORY(err, "%s: no memory to write it", p.shown);
    if (st != IMREC_OK) {
        hdfs_place_free(&p);
        imrec_free(h);
        return st;
    }
    *h = (struct hdfs_out){.base = {&out_ops},
                           .place = p,
                           .size = size == STORE_NEW ? 0 : size,
                           .piece = BUF_INIT(PIECE_BYTES)};
    *out = &h->base;
    return IMREC_OK;
}

static enum imrec_status
publish(enum hdfs_scheme scheme, const char *name, const char *as, struct imrec_error *err)
{
    struct hdfs_place from, to;
    IMREC_TRY(hdfs_place_make(scheme, name, PART_SUFFIX, &from, err));
    enum imrec_status st = hdfs_place_make(scheme, as, "", &to, err);
    if (st == IMREC_OK)
        st = hdfs_rename(&from, &to, err);
    hdfs_place_free(&to);
    hdfs_place_free(&from);
    return st;
}

/* ---- names -------------------------------------------------------------------------------- */

static enum imrec_status
exists(enum hdfs_scheme scheme, const char *name, bool *there, struct imrec_error *err)
{
    struct hdfs_place p;
    *there = false;
    IMREC_TRY(hdfs_place_make(scheme, name, "", &p, err));
    const enum imrec_status st = hdfs_exists(&p, there, err);
    hdfs_place_free(&p);
    return st;
}

static enum imrec_status
remove_object(enum hdfs_scheme scheme, const char *name, struct imrec_error *err)
{
    struct hdfs_place p;
    IMREC_TRY(hdfs_place_make(scheme, name, "", &p, err));
    const enum imrec_status st = hdfs_delete(&p, err);
    hdfs_place_free(&p);
    return st;
}

struct hdfs_lock {
    struct lock base; /* first */
    struct hdfs_mark *mark;
};

static enum imrec_status
lock(enum hdfs_scheme scheme, const char *name, struct lock **out, struct imrec_error *err)
{
    struct hdfs_place p;
    struct hdfs_mark *m;
    IMREC_TRY(hdfs_place_make(scheme, name, PART_SUFFIX, &p, err));
    IMREC_TRY(hdfs_mark_take(&p, &m, err));
    struct hdfs_lock *l = imrec_zalloc(1, sizeof(*l));
    if (l == NULL) {
        hdfs_mark_drop(m);
        return IMREC_NO_MEMORY(err, "no memory to lock a file of HDFS");
    }
    l->mark = m;
    *out = &l->base;
    return IMREC_OK;
}

static void unlock(struct lock *l)
{
    hdfs_mark_drop(((struct hdfs_lock *)l)->mark);
    imrec_free(l);
}

/* ---- the stores: one code, three schemes -------------------------------------------------- */

/* clang-format off */
#define STORE(of, text, kind)                                                                   \
    static enum imrec_status of##_source(const char *n, struct source **o, struct imrec_error *e) \
    { return open_source(kind, n, o, e); }                                                         \
    static enum imrec_status of##_out(const char *n, uint64_t size, struct out **o,             \
                                         struct imrec_error *e)                                    \
    { return open_out(kind, n, size, o, e); }                                                      \
    static enum imrec_status of##_publish(const char *n, const char *as, struct imrec_error *e) \
    { return publish(kind, n, as, e); }                                                            \
    static enum imrec_status of##_folder(const char *n, struct folder **o, struct imrec_error *e) \
    { return open_folder(kind, n, o, e); }                                                         \
    static enum imrec_status of##_exists(const char *n, bool *there, struct imrec_error *e)        \
    { return exists(kind, n, there, e); }                                                          \
    static enum imrec_status of##_remove(const char *n, struct imrec_error *e)                  \
    { return remove_object(kind, n, e); }                                                          \
    static enum imrec_status of##_lock(const char *n, struct lock **o, struct imrec_error *e)   \
    { return lock(kind, n, o, e); }                                                                \
    const struct store of = {.scheme = text, .open_source = of##_source, .open_out = of##_out,     \
                             .publish = of##_publish, .open_folder = of##_folder,                  \
                             .exists = of##_exists, .remove = of##_remove, .lock = of##_lock,      \
                             .unlock = unlock, .listed_at_once = HDFS_AT_ONCE};
/* clang-format on */

STORE(hdfs_store, "hdfs://", HDFS_BY_NAME)
STORE(webhdfs_store, "webhdfs://", HDFS_WEB)
STORE(swebhdfs_store, "swebhdfs://", HDFS_WEB_TLS)
