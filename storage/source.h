/* storage/source.h - bytes at an offset, of any URI scheme in a table. */
#ifndef IMREC_STORAGE_SOURCE_H
#define IMREC_STORAGE_SOURCE_H

#include "storage/later_source.h"

/* Opens "path", "file://path", "mem://name" or "fault://...". On failure *out is NULL. */
IMREC_NODISCARD enum imrec_status
source_open(const char *uri, struct source **out, struct imrec_error *err);
/* The same of an object that the thread has listed (storage/store/listed.h), where the list says
 * what it is: it is opened when it is read first, and `check` is asked then. All others are open at
 * once, and not checked. */
IMREC_NODISCARD enum imrec_status source_open_later(const char *uri,
                                                    const struct later_check *check,
                                                    struct source **out, struct imrec_error *err);
/* The same of an object that a list describes, without asking anybody where the store can do
 * without; said->identity NULL: as source_open(). *said lives as long as the source. What is opened
 * may be of another size: the caller compares. */
IMREC_NODISCARD enum imrec_status source_open_said(const char *uri, const struct folder_entry *said,
                                                   struct source **out, struct imrec_error *err);
/* struct source's at_once of the objects that the store of a URI lists; 0: not known. */
uint32_t source_listed_at_once(const char *uri);
/* Bytes of an object; no byte is read. */
IMREC_NODISCARD enum imrec_status
source_measure(const char *uri, uint64_t *size, struct imrec_error *err);
/* The text after file:// (nothing is decoded); a path, or a URI of another store, unchanged. */
const char *source_path(const char *uri);
/* Bytes of a URI before the query of a web server's: all where it has none. */
size_t source_name_bytes(const char *uri);
/* Whether a store other than the machine's folders has it: a scheme that is known. */
bool source_is_remote(const char *uri);
/* Whether another machine has it, so that opening it takes a round trip. */
bool source_is_far(const char *uri);
/* For reports: the stores of this build that users name, "s3://" and so on, NULL at the end; and
 * the version of libcurl, by which those of the network are read: NULL without it. */
const char *const *source_schemes(void);
const char *source_curl_version(void);
/* IMREC_ERR_UNSUPPORTED: it is in another store, but folders and single files are read here. */
IMREC_NODISCARD enum imrec_status source_check_local(const char *uri, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
source_read(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err);
/* Likewise, and once more where that fails. For what is asked while a set is opened: a failure that
 * passes must not make it another set. */
IMREC_NODISCARD enum imrec_status
source_read_again(struct source *s, uint64_t offset, void *to, size_t n, struct imrec_error *err);
void source_will_need(struct source *s, uint64_t offset, uint64_t n);
void source_drop(struct source *s, uint64_t offset, uint64_t n);
void source_cancel(struct source *s); /* reads end with IMREC_ERR_CANCELLED, if they take time */
void source_close(struct source *s);  /* NULL is allowed */

/* Reads a whole small object, at most `max` bytes, into memory of imrec_realloc(); a NUL
 * follows the bytes. */
IMREC_NODISCARD enum imrec_status
source_load(const char *uri, size_t max, uint8_t **out, size_t *n, struct imrec_error *err);
/* The same of an object that need not be there: then *out is NULL. Of one that the thread has
 * listed nobody is asked. */
IMREC_NODISCARD enum imrec_status source_load_if_there(const char *uri, size_t max, uint8_t **out,
                                                       size_t *n, struct imrec_error *err);

/* A source over `inner` (owned from here on, also on failure) that keeps bytes [begin, end)
 * in memory once they were read; keep_source_bytes() tells how many it holds. */
IMREC_NODISCARD enum imrec_status keep_source_open(struct source *inner, uint64_t begin,
                                                   uint64_t end, struct source **out,
                                                   struct imrec_error *err);
uint64_t keep_source_bytes(const struct source *s);
#endif
