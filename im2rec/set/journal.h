/* im2rec/set/journal.h - the durable part of an unfinished run: one checked line an image.
 *
 * docs/formats/journal.md is the specification. The journal is a sink that is never committed:
 * it is OUT.journal.part and is removed when the set is complete. Lines are collected in
 * memory; journal_mark() writes them once their data is durable, and closes them
 * with a mark. Whatever follows the last good mark counts as not done. */
#ifndef IMREC_IM2REC_SET_JOURNAL_H
#define IMREC_IM2REC_SET_JOURNAL_H

#include "base/buf.h"
#include "base/stop.h"
#include "im2rec/item/tally.h"
#include "im2rec/shard/shard_writer.h"
#include "storage/sink.h"

/* Up to where everything is durable. */
struct journal_mark {
    uint64_t next;              /* images done */
    uint64_t packed;            /* of them */
    uint64_t label_width;       /* most labels of a record */
    struct written_shard shard; /* the one being written, as far as it is */
    uint64_t list_bytes, list_crc;
    uint64_t complete; /* 1: every file is finished; only the renaming may be missing */
};

struct journal {
    struct sink *sink;
    struct buf pending;
};

/* What a journal says of the shards; NULL: there is none, or it does not say: version 1, or its
 * first line is torn. */
IMREC_NODISCARD enum imrec_status
journal_kind_of(const char *uri, const struct shard_kind **out, struct imrec_error *err);

IMREC_NODISCARD enum imrec_status journal_begin(const char *uri, uint64_t fingerprint,
                                                uint64_t total, const struct shard_kind *kind,
                                                struct journal *out, struct imrec_error *err);
/* Huffman tables that the set's JPEGs share, as text. */
IMREC_NODISCARD enum imrec_status
journal_tables(struct journal *j, const char *text, struct imrec_error *err);
/* `report`: the line of the report, without its end; n = 0 where there is none. */
IMREC_NODISCARD enum imrec_status journal_image(struct journal *j, const struct outcome *o,
                                                struct bytes report, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
journal_end_shard(struct journal *j, const struct written_shard *s, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
journal_mark(struct journal *j, const struct journal_mark *m, struct imrec_error *err);
void journal_leave(struct journal *j); /* keeps the file; zeroed memory is fine */
void journal_remove(struct journal *j);

struct journal_visitor {
    void *user;
    enum imrec_status (*image)(void *user, const struct outcome *o, struct bytes report,
                               struct imrec_error *err);
    enum imrec_status (*shard)(void *user, const struct written_shard *s, struct imrec_error *err);
    enum imrec_status (*tables)(void *user, struct bytes text, struct imrec_error *err);
    const struct stop *stop; /* ends the reading; or NULL */
};
/* Whether an interrupted run left a journal under `uri` that is of this list and these options. */
bool journal_is_of(const char *uri, uint64_t fingerprint, uint64_t total);
/* Reads the journal of an interrupted run at `uri`, passes all that is durable to the visitor, and
 * opens the journal to continue after the last mark before which at most `most_skips` images were
 * skipped (or after that of a complete set): the others are tried again. A journal of another list
 * or other options is IMREC_ERR_ARGUMENT; one without a complete first line is IMREC_END: nothing
 * was begun. */
IMREC_NODISCARD enum imrec_status
journal_resume(const char *uri, uint64_t fingerprint, uint64_t total, uint64_t most_skips,
               const struct journal_visitor *v, struct journal *out, struct journal_mark *mark,
               struct imrec_error *err);
#endif
