/* tests/minibatch/test_truncated_plan.c - sequences cut into pieces, for one rank and for several.
 */
#include "base/alloc.h"
#include "minibatch/plan/truncated_plan.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

/* The lengths that CNTK's packing was recorded with, in chunks of 3, 3 and 2 sequences. */
static const uint32_t recorded[3][3] = {{3, 1, 4}, {1, 5, 9}, {2, 6}};
static const struct timeline_chunk recorded_chunks[3] = {{3, 8}, {3, 15}, {2, 8}};
/* Sequences without samples at the end of the sweep, and between. */
static const uint32_t hollow[3][3] = {{2, 0, 3}, {0, 0, 4}, {0, 0}};
static const struct timeline_chunk hollow_chunks[3] = {{3, 5}, {3, 4}, {2, 0}};

static enum imrec_status
length(void *context, uint32_t chunk, uint32_t sequence, uint32_t *out, struct imrec_error *err)
{
    (void)err;
    *out = ((const uint32_t(*)[3])context)[chunk][sequence];
    return IMREC_OK;
}

struct run {
    struct timeline *line;
    struct truncated_plan plan;
};

static void begin(struct run *r, bool is_hollow, bool randomize, struct minibatch_plan_options o)
{
    union {
        const uint32_t (*in)[3];
        void *out;
    } lengths = {.in = is_hollow ? hollow : recorded}; /* length() only reads them */
    const struct timeline_options t = {.randomize = randomize,
                                       .chunk = is_hollow ? hollow_chunks : recorded_chunks,
                                       .chunks = 3,
                                       .length = length,
                                       .context = lengths.out};
    o.epoch_size = o.epoch_size > 0 ? o.epoch_size : UINT64_MAX;
    o.ranks = o.ranks > 0 ? o.ranks : 1;
    o.randomized = randomize;
    ck_assert_int_eq(timeline_new(&t, &r->line, NULL), IMREC_OK);
    r->plan = (struct truncated_plan){.o = o, .line = r->line};
}

static void end(struct run *r)
{
    truncated_plan_free(&r->plan);
    timeline_free(r->line);
}

/* A minibatch as text: its rows with '/' between them, of each the pieces, a sequence's number and
 * how many samples; '.' where a sweep and ';' where an epoch ends. */
static void write_minibatch(const struct truncated_plan *p, char *out)
{
    uint32_t row = 0;
    for (uint64_t i = 0; i < p->pieces; i++) {
        const struct truncated_piece *k = &p->piece[i];
        for (; row < k->row; row++)
            strcat(out, "/");
        sprintf(out + strlen(out), "%s%d:%u", k->column > 0 ? " " : "", (int)k->item.number,
                k->count);
    }
    strcat(out, p->sweep_end ? "." : "");
    strcat(out, p->epoch_end ? ";" : "");
}

static void write_run(struct run *r, uint64_t size, int most, char *out)
{
    *out = '\0';
    for (int i = 0; i < most; i++) {
        const enum imrec_status st = truncated_plan_next(&r->plan, size, NULL);
        if (st == IMREC_END) {
            strcat(out, "END");
            return;
        }
        ck_assert_int_eq(st, IMREC_OK);
        write_minibatch(&r->plan, out);
        strcat(out, "|");
    }
}

static const struct {
    bool hollow;
    uint64_t size;
    struct minibatch_plan_options o;
    const char *text;
} runs[] = {
    {false,
     8,
     {.truncation = 4, .max_sweeps = 1},
     "0:3 1:1/3:1 4:3|2:4/4:2 6:2|5:4/7:4|5:4/7:2|5:1.|END"},
    {false,
     8,
     {.truncation = 4, .max_sweeps = 1, .ranks = 2, .mode = IMREC_RANK_LOCAL},
     "0:3 2:1|2:3 4:1|4:4|6:2.|END"},
    {false,
     8,
     {.truncation = 4, .max_sweeps = 1, .ranks = 2, .rank = 1, .mode = IMREC_RANK_LOCAL},
     "1:1 3:1 5:2|5:4|5:3 7:1|7:4|7:1.|END"},
    /* of three slots the first rank has two */
    {false,
     12,
     {.truncation = 4, .max_sweeps = 1, .ranks = 2, .mode = IMREC_RANK_LOCAL},
     "0:3 2:1/4:4|2:3 6:1/4:1|6:1.|END"},
    /* a rank that has no sequence at all goes from end to end */
    {false,
     36,
     {.truncation = 4, .max_sweeps = 2, .ranks = 9, .rank = 8, .mode = IMREC_RANK_LOCAL},
     ".|.|END"},
    {false, 4, {.truncation = 4, .max_samples = 9, .epoch_size = 4}, "0:3 1:1;|2:4;|3:1|END"},
    {false,
     4,
     {.truncation = 40, .max_sweeps = 2}, /* both sweeps are held at once */
     "0:3 1:1 2:4 3:1 4:5 5:9 6:2 7:6 0:3 1:1 2:4 3:1.|4:5 5:9 6:2 7:6.|END"},
    {true,
     2,
     {.truncation = 2, .max_sweeps = 2},
     "0:2|2:2|2:1 5:1|5:2|5:1 0:1.|0:1 2:1|2:2|5:2|5:2.|END"},
    {true, 9, {.truncation = 9, .max_sweeps = 2}, "0:2 2:3 5:4.|0:2 2:3 5:4.|END"},
};

LOOP_TEST(pieces_are_those_of_the_rules, 0, COUNT(runs))
{
    char text[512];
    struct run r;
    begin(&r, runs[_i].hollow, false, runs[_i].o);
    write_run(&r, runs[_i].size, 50, text);
    ck_assert_str_eq(text, runs[_i].text);
    end(&r);
}

LOOP_TEST(every_rank_sees_the_end_of_every_sweep, 0, 2) /* _i: randomized, or not */
{
    for (uint32_t ranks = 1; ranks <= 9; ranks++) {
        uint64_t samples = 0;
        for (uint32_t rank = 0; rank < ranks; rank++) {
            struct run r;
            uint64_t ends = 0;
            begin(&r, false, _i != 0,
                  (struct minibatch_plan_options){.truncation = 3,
                                                  .max_sweeps = 4,
                                                  .ranks = ranks,
                                                  .rank = rank,
                                                  .mode = IMREC_RANK_LOCAL});
            while (truncated_plan_next(&r.plan, 30, NULL) == IMREC_OK) {
                ends += r.plan.sweep_end;
                samples += r.plan.samples;
                for (uint64_t i = 0; i < r.plan.pieces; i++) {
                    const struct timeline_item *k = &r.plan.piece[i].item;
                    ck_assert_uint_eq((_i != 0 ? k->chunk_place : k->number) % ranks, rank);
                }
            }
            ck_assert_uint_ge(ends, 1); /* one minibatch may hold the ends of several */
            ck_assert(r.plan.sweep_end && r.plan.over);
            end(&r);
        }
        ck_assert_uint_eq(samples, 4 * 31);
    }
}

LOOP_TEST(any_place_goes_on_as_if_nothing_had_happened, 0, 12) /* _i: minibatches before it */
{
    for (uint32_t rank = 0; rank < 2; rank++)
        for (int randomize = 0; randomize < 2; randomize++) {
            struct run a, b;
            char want[2048], got[2048];
            struct truncated_held *held = NULL;
            uint64_t room = 0, count = 0;
            const struct minibatch_plan_options o = {.truncation = 3,
                                                     .max_sweeps = 3,
                                                     .ranks = 2,
                                                     .rank = rank,
                                                     .mode = IMREC_RANK_LOCAL};
            begin(&a, false, randomize != 0, o);
            begin(&b, false, randomize != 0, o);
            write_run(&a, 10, _i, want);
            ck_assert_int_eq(truncated_plan_held(&a.plan, &held, &room, &count, NULL), IMREC_OK);
            const struct minibatch_mark mark = a.plan.mark;
            ck_assert_int_eq(truncated_plan_seek(&b.plan, &mark, held, count, NULL), IMREC_OK);
            ck_assert_uint_eq(b.plan.given, a.plan.given);
            write_run(&a, 10, 60, want);
            write_run(&b, 10, 60, got);
            ck_assert_str_eq(want, got);
            imrec_free(held);
            end(&a);
            end(&b);
        }
}

TEST(too_few_slots_for_the_ranks_are_an_error)
{
    struct imrec_error err;
    struct run r;
    begin(&r, false, false,
          (struct minibatch_plan_options){.truncation = 4, .ranks = 3, .mode = IMREC_RANK_LOCAL});
    ck_assert_int_eq(truncated_plan_next(&r.plan, 8, &err), IMREC_ERR_ARGUMENT);
    ck_assert_str_eq(err.message, "a minibatch of 8 samples has 2 slots of truncationLength 4, too "
                                  "few for 3 ranks; ask for 12 samples or more");
    end(&r);
}
