/* minibatch/source_state.h - what a minibatch source is made of. Private to this folder.
 *
 * One thread of the source's own (assemble.c) plans minibatches and has the blocks of their
 * sequences loaded; then any thread packs them into cells of a ring (fill.c), and the consumer
 * takes the cells in order. While the planning thread is paused its things are the consumer's. */
#ifndef IMREC_MINIBATCH_SOURCE_STATE_H
#define IMREC_MINIBATCH_SOURCE_STATE_H

#include "minibatch/corpus/blocks.h"
#include "minibatch/corpus/joint.h"
#include "minibatch/minibatch_options.h"
#include "minibatch/plan/minibatch_plan.h"
#include "minibatch/plan/truncated_plan.h"
#include "minibatch/sequence_pack.h"
#include "parallel/ring.h"
#include "storage/cache/cache.h"

enum { SOURCE_DROPPED_KEPT = 1000 }; /* messages of what was dropped */

struct minibatch_place { /* the place of a source, as a position holds it */
    struct minibatch_mark mark;
    bool nominal; /* mark.position is all that is known: CNTK's minibatchSourcePosition */
    struct truncated_held *held; /* with truncation: what its slots hold */
    uint64_t helds, held_room;
};

struct minibatch_tally { /* bad samples and sequences, which were skipped */
    uint64_t errors, charges, messages;
    uint64_t loud; /* errors of deserializers with trace_level 1 or more */
};

struct minibatch_cell {                       /* of the ring: a minibatch */
    struct reuse_buffer spots, pieces, views; /* what is to be packed */
    uint64_t planned, rows;                   /* sequences, or pieces of them; in how many rows */
    struct packed_stream *packed;
    struct imrec_minibatch_stream *stream;
    struct reuse_buffer ids;
    uint64_t dropped;                 /* sequences that were planned and are not there */
    struct imrec_minibatch minibatch; /* but for .stream */
    struct minibatch_place behind;
    struct minibatch_tally tally; /* so far */
    enum imrec_status status;
    struct imrec_error error;
};

struct imrec_minibatch_source {
    struct minibatch_options options;
    struct cache *cache;      /* that it reads through; NULL: none */
    struct store_scope scope; /* of what it opens; counts */
    struct joint joint;
    struct blocks *blocks;
    struct timeline *line;
    struct minibatch_plan plan;
    struct truncated_plan truncated;
    uint64_t window_chunks, window_samples; /* 0: no bound */
    uint32_t label_stream;                  /* UINT32_MAX: the timeline's own */
    uint32_t threads;

    /* of the planning thread */
    uint64_t want_sweep, want_group;
    bool wants;
    uint64_t *list, lists; /* blocks to want */
    uint32_t *stamp, stamps;
    uint8_t *met;      /* [blocks]: it has been in use */
    uint64_t *counted; /* [blocks]: problems that have cost an error */
    uint64_t *errors;  /* [corpora] */
    struct charge {
        uint64_t block, problems;
        uint32_t corpus;
    } * charge; /* in their order: what was made ahead and is forgotten is taken back */
    uint64_t charge_room;
    struct minibatch_tally tally;
    struct minibatch_last { /* block that was looked into, while a minibatch is gathered */
        uint64_t number;
        const struct block *block;
    } * last;       /* [corpora] */
    uint64_t asked; /* samples of a minibatch; 0: the schedule's */

    /* between both */
    struct ring ring;
    struct minibatch_cell *cell; /* [ring.depth] */
    struct thread thread;
    struct mutex lock;
    struct cond change;
    bool run, idle, stop;
    bool touches;                   /* what is gathered is probably in no core's cache */
    char **message;                 /* of what was dropped, [tally.messages] */
    bool loud[SOURCE_DROPPED_KEPT]; /* of each: it may be logged */

    /* of the consumer */
    bool started, holds; /* a cell */
    bool astray;         /* the plan is not at `place` */
    enum imrec_status final;
    struct imrec_error final_error;
    struct minibatch_place place;
    struct minibatch_tally delivered;
    uint64_t dropped_sequences;
    uint64_t told, listed; /* errors of the sweep that were counted, and had a line */
    char *position;
    struct imrec_minibatch_stream *mapped; /* streams as a call wants them */
    uint64_t mapped_room;
    struct imrec_stream *described;
    char fingerprint[17]; /* of the data, 16 hex digits */
};

static inline bool minibatch_truncates(const struct imrec_minibatch_source *s)
{
    return s->options.o.truncation_length > 0;
}

/* Chunks of a binary file that are read as a whole. */
static inline bool minibatch_has_large_blocks(const struct imrec_minibatch_source *s)
{
    return s->joint.corpus[0]->block[0].bytes > 2 * CORPUS_TEXT_BLOCK;
}

/* minibatch_memory.c */
IMREC_NODISCARD enum imrec_status minibatch_check_memory(const struct imrec_minibatch_source *s,
                                                         const struct timeline_options *t,
                                                         struct imrec_error *err);

/* fill.c: struct blocks_task: packs cell `number` of the ring, and publishes it. */
void minibatch_fill(void *source, uint64_t number);

/* assemble.c */
void *minibatch_main(void *source);
/* For struct minibatch_plan_options: samples of the stream that epochs count. */
IMREC_NODISCARD enum imrec_status minibatch_labels(void *source, const struct timeline_item *item,
                                                   uint64_t *out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status minibatch_place_copy(struct minibatch_place *to,
                                                       const struct minibatch_place *from,
                                                       struct imrec_error *err);
/* The thread must be idle. known: the place was met before. */
IMREC_NODISCARD enum imrec_status minibatch_go(struct imrec_minibatch_source *s,
                                               const struct minibatch_place *place, bool known,
                                               struct imrec_error *err);

/* minibatch_position.c */
IMREC_NODISCARD enum imrec_status minibatch_position_write(const struct imrec_minibatch_source *s,
                                                           const struct minibatch_place *place,
                                                           char **text, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
minibatch_position_read(struct imrec_minibatch_source *s, const char *text,
                        struct minibatch_place *out, struct imrec_error *err);
void minibatch_fingerprint(const struct imrec_minibatch_source *s, char out[17]);
#endif
