/* im2rec/item/read_file.h - an image's file into memory; whatever it is, nothing hangs. */
#ifndef IMREC_IM2REC_ITEM_READ_FILE_H
#define IMREC_IM2REC_ITEM_READ_FILE_H

#include "base/stop.h"
#include "im2rec/item/pack_item.h"

struct file_bytes { /* reused; the file follows `headroom` bytes */
    uint8_t *p;
    size_t n, capacity;
};

/* It begins with "/" or the scheme of a store: it is not below a root. */
bool file_is_absolute(struct bytes path);
/* The path as a list or report of a set names it: of a URL without name, password and query, which
 * are nobody else's. `room` may hold it. */
struct bytes file_public_name(struct bytes path, char room[IMAGE_PATH_MAX]);
/* The path with `suffix`, ".png", in place of its extension; false: it is longer than a path is. */
bool file_sibling(struct bytes path, const char *suffix, char out[IMAGE_PATH_MAX]);
struct file_root;
/* Whether the image is in a store, not in a folder, and can be read ahead: its URI. */
bool file_is_in_store(const struct pack_item *p, const struct file_root *root,
                      char uri[2 * IMAGE_PATH_MAX]);
/* The folder that paths are relative to. It and, of a folder that was looked through, those below
 * it were there when the run began: one that is gone since ends the run, for whatever lay in it
 * would be skipped. */
struct file_root {
    const char *path;
    bool known;   /* it was there */
    bool scanned; /* as were the folders of all paths */
    uint64_t device, inode;
    const struct stop *stop;        /* ends what is read, decoded and encoded; NULL: nothing does */
    struct packed_archives *packed; /* to read images of; NULL: there are none. The caller's */
};
void file_root_init(struct file_root *r, const char *path, bool scanned, const struct stop *stop);

struct source;
struct image_file {
    int fd;                        /* -1: none ... */
    struct source *source;         /* ... or it is in a store of another kind ... */
    struct fetch *fetch;           /* ... from which it is being read already ... */
    struct packed_archive *packed; /* ... or in an archive that is unpacked */
    uint64_t begin, size;          /* of the image, in the file */
};
#define IMAGE_FILE_NONE ((struct image_file){.fd = -1})

/* Opens it; FIFOs, devices, folders and what cannot be opened become the image's reason (false, and
 * *out is IMAGE_FILE_NONE). */
bool file_open(struct pack_item *p, const struct file_root *root, struct image_file *out);
/* Reads all of it to f->p + headroom and closes it. false: reason or p->failed say why. */
bool file_read(struct pack_item *p, const struct file_root *root, struct image_file *file,
               size_t headroom, struct file_bytes *f);
void file_close(struct image_file *file); /* none is fine */
/* Copies rows of `stride` bytes apart instead; f->n becomes row_bytes * rows. */
bool file_copy(struct pack_item *p, const void *from, size_t row_bytes, size_t stride, size_t rows,
               size_t headroom, struct file_bytes *f);
#endif
