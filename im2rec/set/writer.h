/* im2rec/set/writer.h - the ordered end of packing: records, in list order, into the files of a
 * set.
 *
 * One thread at a time. Everything is written under temporary names; writer_commit() renames,
 * the manifest last. A journal lists what is durable, so that a run can be resumed. */
#ifndef IMREC_IM2REC_SET_WRITER_H
#define IMREC_IM2REC_SET_WRITER_H

#include "im2rec/set/set_files.h"

struct writer;
struct writer_options {
    const struct imrec_pack_task *task;
    const struct imrec_pack_options *pack;
    const struct job *job;
    bool planned;            /* images come from the tasks of a plan, and stay as they are */
    bool once;               /* the run cannot be resumed: nothing is kept unless it is committed */
    const struct stop *stop; /* ends any of the calls below with IMREC_ERR_CANCELLED; or NULL */
    /* Of a set whose shards are written already, by others: struct set_files. Images are put
     * without their records, and after those of a shard writer_end_made() is called. */
    const char (*marks)[SET_WORK_MARK_BYTES];
};

/* Refuses outputs that exist (without force), or continues an interrupted run (with
 * resume). *done is the number of images that the job has to skip. */
IMREC_NODISCARD enum imrec_status writer_open(const struct writer_options *o, struct writer **out,
                                              uint64_t *done, struct imrec_error *err);
/* Huffman tables that the set's JPEGs share, as text: those of the run that is continued; NULL:
 * there are none yet. */
const char *writer_tables(const struct writer *w);
/* Notes them, before the first image, where there are none yet. */
IMREC_NODISCARD enum imrec_status
writer_take_tables(struct writer *w, const char *text, struct imrec_error *err);
/* The next image, packed or skipped. With on_error=stop a skipped one is IMREC_ERR_DATA. */
IMREC_NODISCARD enum imrec_status
writer_put(struct writer *w, const struct pack_item *p, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
writer_end_made(struct writer *w, const struct written_shard *s, struct imrec_error *err);
/* How many of them there are: a run that is continued has some. */
uint64_t writer_shards(const struct writer *w);
/* Makes the set real. */
IMREC_NODISCARD enum imrec_status writer_commit(struct writer *w, struct imrec_error *err);
/* Makes durable what can be, writes the report, and keeps all for a resume; or, of a run that
 * cannot be resumed and is not committed, removes all. */
void writer_leave(struct writer *w);
void writer_result(const struct writer *w, struct imrec_pack_result *out);
void writer_free(struct writer *w); /* after commit or leave; NULL is allowed */
#endif
