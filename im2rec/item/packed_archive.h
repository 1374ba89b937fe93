/* im2rec/item/packed_archive.h - tar archives that gzip has packed: they are unpacked while images
 * are read of them, so that all images of one share it. */
#ifndef IMREC_IM2REC_ITEM_PACKED_ARCHIVE_H
#define IMREC_IM2REC_ITEM_PACKED_ARCHIVE_H

#include "imrec/error.h"

struct source;
/* Whether name[0..n) ends in one of the suffixes, of which NULL is after the last, in any case. */
bool name_ends_in(const char *name, size_t n, const char *const *suffixes);
/* Whether it is called like one: "a.tar.gz", "a.tgz". */
bool archive_is_packed(const char *uri);
bool name_is_packed(const char *name, size_t n); /* the same of name[0..n) */
/* Opens an archive. *packed: it is one, whose source is of gzip_source_open(); an archive that is
 * called like one may be none. */
IMREC_NODISCARD enum imrec_status
archive_source_open(const char *uri, struct source **out, bool *packed, struct imrec_error *err);

struct packed_archives; /* those that are open; any thread */
struct packed_archive;
IMREC_NODISCARD enum imrec_status
packed_archives_new(struct packed_archives **out, struct imrec_error *err);
void packed_archives_free(struct packed_archives *t); /* all are left before; NULL is fine */
/* One of them, opened where it is not yet. */
IMREC_NODISCARD enum imrec_status packed_archive_take(struct packed_archives *t, const char *uri,
                                                      struct packed_archive **out,
                                                      struct imrec_error *err);
struct source *packed_archive_source(const struct packed_archive *a);
void packed_archive_leave(struct packed_archive *a); /* NULL is fine */
#endif
