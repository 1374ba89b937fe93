/* minibatch/minibatch_memory.c - what a source will hold at most, before it holds it. */
#include "base/error.h"
#include "minibatch/source_state.h"

#include <inttypes.h>

static uint64_t largest_chunk(const struct corpus *c, uint64_t *all)
{
    uint64_t most = 0;
    *all = 0;
    for (uint32_t i = 0; i < c->chunks; i++) {
        uint64_t bytes = 0;
        for (uint32_t k = 0; k < c->chunk[i].blocks; k++)
            bytes += c->block[c->chunk[i].block + k].bytes;
        most = bytes > most ? bytes : most;
        *all += bytes;
    }
    return most;
}

/* Bytes in storage of the chunks of a corpus that are in memory at once. */
static uint64_t resident_bytes(const struct imrec_minibatch_source *s, const struct corpus *c,
                               const struct timeline_options *t)
{
    uint64_t all;
    const uint64_t most = largest_chunk(c, &all), none = t->window_chunks | t->window_samples;
    double bytes;
    if (c->o.keep_data_in_memory || (s->options.o.randomize && none == 0))
        return all;
    if (!s->options.o.randomize) /* in use, ahead, and one that is let go */
        bytes = (double)most * (2 * (double)s->threads + 2);
    else if (t->window_chunks > 0)
        bytes = (double)most * ((double)t->window_chunks + 2);
    else
        bytes =
            (double)all * (double)t->window_samples / (double)(c->samples + 1) + 2 * (double)most;
    return bytes < (double)all ? (uint64_t)bytes : all;
}

static bool has_doubles(const struct corpus *c)
{
    bool yes = false;
    for (uint32_t i = 0; i < c->streams; i++)
        yes |= c->stream[i].element == STREAM_DOUBLE;
    return yes;
}

enum imrec_status minibatch_check_memory(const struct imrec_minibatch_source *s,
                                         const struct timeline_options *t, struct imrec_error *err)
{
    const uint64_t limit = (uint64_t)s->options.o.memory_limit;
    uint64_t sum = joint_memory(&s->joint); /* minibatches' sizes are asked for later */
    for (uint32_t k = 0; k < s->joint.corpora; k++) {
        const struct corpus *c = s->joint.corpus[k];
        /* "0 " is a value: of two bytes of text four or eight are made; binary: those that are
         * converted are there twice */
        const uint64_t grows = c->text && has_doubles(c) ? 4 : 2;
        sum += grows * resident_bytes(s, c, t) +
               (c->text ? s->threads * (uint64_t)CORPUS_TEXT_BLOCK : 0);
    }
    if (limit == 0 || sum <= limit)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_LIMIT,
                      "memory_limit is %" PRIu64 " bytes, the tables and the chunks of the "
                      "randomization window may need %" PRIu64
                      "; a smaller randomizationWindow or smaller chunks need less",
                      limit, sum);
}
