/* storage/sink.h - an object that is written under a temporary name and becomes real at commit.
 *
 * The temporary name of PATH is PATH.part: in the same folder, so that a rename makes it real, and
 * always the same, so that an interrupted run can resume. "PATH.part" can be read like any object.
 *
 * After a failed append or sync every later one fails, too; only sink_leave() and
 * sink_abort() make sense then. */
#ifndef IMREC_STORAGE_SINK_H
#define IMREC_STORAGE_SINK_H

#include "imrec/error.h"

struct sink;

/* Begins an empty object; what an earlier run left under the temporary name is lost. */
IMREC_NODISCARD enum imrec_status
sink_open(const char *uri, struct sink **out, struct imrec_error *err);
/* Continues after the first `size` bytes of an object that sink_leave() or a crash left. An object
 * with fewer bytes is IMREC_ERR_IO. */
IMREC_NODISCARD enum imrec_status
sink_resume(const char *uri, uint64_t size, struct sink **out, struct imrec_error *err);
/* The same of what is read again as PATH.part before its end, and is never published. */
IMREC_NODISCARD enum imrec_status
sink_open_log(const char *uri, struct sink **out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
sink_resume_log(const char *uri, uint64_t size, struct sink **out, struct imrec_error *err);
/* From here on writing and syncing that takes long ends with IMREC_ERR_CANCELLED once *stop has
 * been asked for a second; what was appended is then not durable. stop lives as long as the sink.
 */
struct stop;
void sink_stop_with(struct sink *s, const struct stop *stop);
IMREC_NODISCARD enum imrec_status
sink_append(struct sink *s, const void *p, size_t n, struct imrec_error *err);        /* buffered */
IMREC_NODISCARD enum imrec_status sink_sync(struct sink *s, struct imrec_error *err); /* durable */
uint64_t sink_size(const struct sink *s); /* bytes appended, resumed ones included */
/* Durable and under its final name; the sink is gone, also on failure (then the temporary
 * object stays for a resume). */
IMREC_NODISCARD enum imrec_status sink_commit(struct sink *s, struct imrec_error *err);
void sink_leave(struct sink *s); /* keeps the temporary object; NULL is allowed */
void sink_abort(struct sink *s); /* removes it; NULL is allowed */

/* Two-step form, for sets of files: finish makes an object durable under its temporary name
 * (the sink is gone), publish renames it. */
IMREC_NODISCARD enum imrec_status sink_finish(struct sink *s, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status sink_publish(const char *uri, struct imrec_error *err);
/* The same under another name than it was written for, of the same store and folder. */
IMREC_NODISCARD enum imrec_status
sink_publish_as(const char *uri, const char *final_uri, struct imrec_error *err);
/* The same, but what another run has published under that name meanwhile is not replaced, in stores
 * that can: IMREC_ERR_IO, sys_errno EEXIST. In others, locks keep runs apart. */
IMREC_NODISCARD enum imrec_status
sink_publish_new(const char *uri, const char *final_uri, struct imrec_error *err);

/* Whether an object has the final name; an error where the store does not say. Of one in a
 * folder that the thread has listed (storage/store/listed.h) nobody is asked. */
IMREC_NODISCARD enum imrec_status
sink_exists(const char *uri, bool *there, struct imrec_error *err);
/* Removes the object with the final name, if there is one. */
IMREC_NODISCARD enum imrec_status sink_remove(const char *uri, struct imrec_error *err);
/* This name and those next to it are durable, the missing ones as the others: what is done after it
 * is never found without it. */
IMREC_NODISCARD enum imrec_status sink_sync_names(const char *uri, struct imrec_error *err);
/* sink_remove(), then sink_sync_names(). */
IMREC_NODISCARD enum imrec_status sink_remove_first(const char *uri, struct imrec_error *err);
#endif
