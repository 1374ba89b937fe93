/* storage/hdfs/hdfs_answer.h - what WebHDFS answers: JSON, as hostile as any bytes. */
#ifndef IMREC_STORAGE_HDFS_ANSWER_H
#define IMREC_STORAGE_HDFS_ANSWER_H

#include "base/bytes.h"
#include "imrec/error.h"

#define HDFS_ANSWER_BYTES ((size_t)64 << 10) /* of all but listings */
#define HDFS_PAGE_BYTES   ((size_t)64 << 20) /* of a page of one, or a whole one: 200,000 entries */

enum hdfs_kind { HDFS_FILE, HDFS_FOLDER, HDFS_OTHER };

struct hdfs_status {
    enum hdfs_kind kind;
    uint64_t size;        /* bytes */
    uint64_t modified_ms; /* since 1970 */
    uint64_t id;          /* of the file, whatever its name; 0: not said (HttpFS) */
};
/* What a version is known by: its time, length and, where the server says it, number. */
#define HDFS_IDENTITY_BYTES 64
void hdfs_identity(const struct hdfs_status *s, char out[HDFS_IDENTITY_BYTES]);
/* Below, `shown` is what messages begin with; what is not as it must be is IMREC_ERR_CORRUPT. */

/* {"FileStatus": {...}} of GETFILESTATUS. */
IMREC_NODISCARD enum imrec_status hdfs_answer_status(struct bytes text, const char *shown,
                                                     struct hdfs_status *out,
                                                     struct imrec_error *err);
/* {"boolean": true} of RENAME, DELETE, TRUNCATE, MKDIRS. */
IMREC_NODISCARD enum imrec_status
hdfs_answer_bool(struct bytes text, const char *shown, bool *out, struct imrec_error *err);
/* {"Location": "http://..."} of CREATE and APPEND with noredirect: NUL-terminated, of
 * imrec_realloc(). */
IMREC_NODISCARD enum imrec_status
hdfs_answer_location(struct bytes text, const char *shown, char **out, struct imrec_error *err);

/* A listing: of LISTSTATUS, or a page of LISTSTATUS_BATCH. */
struct hdfs_page {
    struct json_value *tree;
    const struct json_value *entries;
    size_t count;
    bool more;  /* another page follows */
    bool alone; /* it is a file that was listed: it has one entry, without a name */
};
IMREC_NODISCARD enum imrec_status hdfs_answer_page(struct bytes text, const char *shown,
                                                   struct hdfs_page *out, struct imrec_error *err);
struct hdfs_entry {
    const char *name; /* no '/', not "", "." or ".."; as long as the page */
    struct hdfs_status status;
    bool whole; /* it says size and time; else only the kind is known */
};
/* An entry below count. */
IMREC_NODISCARD enum imrec_status hdfs_page_entry(const struct hdfs_page *p, size_t i,
                                                  const char *shown, struct hdfs_entry *out,
                                                  struct imrec_error *err);
void hdfs_page_free(struct hdfs_page *p); /* zeroed memory is fine */

/* Why a server refuses: {"RemoteException": {"exception": "...", "message": "..."}}, of which the
 * end may be missing. "" where it says neither. */
struct hdfs_refusal {
    char exception[64];
    char message[256]; /* its first line */
};
void hdfs_answer_refusal(const char *text, struct hdfs_refusal *out);
#endif
