/* tests/minibatch/test_minibatch_plan.c - which sequences a minibatch is made of. */
#include "minibatch/plan/minibatch_plan.h"
#include "tests/support/suite.h"

#include <string.h>

/* The lengths that the text reader's packing is known by, in chunks of 3, 3 and 2 sequences. */
static const uint32_t lengths_of[3][3] = {{3, 1, 4}, {1, 5, 9}, {2, 6}};
static const struct timeline_chunk chunks[3] = {{3, 8}, {3, 15}, {2, 8}};
enum { SAMPLES = 31, SEQUENCES = 8 };

static enum imrec_status
length(void *context, uint32_t chunk, uint32_t sequence, uint32_t *out, struct imrec_error *err)
{
    (void)context, (void)err;
    *out = lengths_of[chunk][sequence];
    return IMREC_OK;
}

struct run {
    struct timeline *line;
    struct minibatch_plan plan;
};

static void begin(struct run *r, bool randomize, struct minibatch_plan_options o)
{
    const struct timeline_options t = {
        .randomize = randomize, .chunk = chunks, .chunks = 3, .length = length};
    o.epoch_size = o.epoch_size > 0 ? o.epoch_size : UINT64_MAX;
    o.ranks = o.ranks > 0 ? o.ranks : 1;
    o.randomized = randomize;
    ck_assert_int_eq(timeline_new(&t, &r->line, NULL), IMREC_OK);
    r->plan = (struct minibatch_plan){.o = o, .line = r->line};
}

static void end(struct run *r)
{
    minibatch_plan_free(&r->plan);
    timeline_free(r->line);
}

/* The minibatches as text: lengths, '|' after each, '.' where a sweep and ';' where an epoch ends.
 */
static void write_run(struct run *r, uint64_t size, int most, char *out)
{
    *out = '\0';
    for (int i = 0; i < most; i++) {
        const enum imrec_status st = minibatch_plan_next(&r->plan, size, NULL);
        if (st == IMREC_END) {
            strcat(out, "END");
            return;
        }
        ck_assert_int_eq(st, IMREC_OK);
        for (uint64_t k = 0; k < r->plan.items; k++) {
            char digit[2] = {(char)('0' + r->plan.item[k].length), '\0'};
            strcat(out, digit);
        }
        strcat(out, r->plan.sweep_end ? "." : "");
        strcat(out, r->plan.epoch_end ? ";" : "");
        strcat(out, "|");
    }
}

static const struct {
    uint64_t size, epoch, sweeps, samples;
    uint32_t ranks, rank;
    enum imrec_rank_mode mode;
    const char *text;
} runs[] = {
    {2, 0, 1, 0, 1, 0, 0, "3|1|4|1|5|9|2|6.|END"},
    {10, 0, 1, 0, 1, 0, 0, "3141|5|9|26.|END"},
    {31, 0, 1, 0, 1, 0, 0, "31415926.|END"},
    {20, 0, 2, 0, 1, 0, 0, "31415|9263.|14159|26.|END"},
    {200, 0, 2, 0, 1, 0, 0, "3141592631415926.|END"},
    {100, 0, 0, 10, 1, 0, 0, "31415|END"}, /* the one that crosses the end belongs to it */
    {100, 0, 0, 9, 1, 0, 0, "3141|END"},
    {100, 10, 1, 0, 1, 0, 0, "31415;|9;|26.;|END"}, /* epochs of 10 nominal samples */
    {4, 10, 0, 20, 1, 0, 0, "31|4|1|5;|9;|END"},
    {6, 0, 1, 0, 2, 0, IMREC_RANK_LOCAL, "3|4|5|2.|END"},
    {6, 0, 1, 0, 3, 1, IMREC_RANK_LOCAL, "1|5|6.|END"},
    {20, 0, 1, 0, 2, 0, IMREC_RANK_GLOBAL, "345|96.|END"},
    {20, 0, 1, 0, 2, 1, IMREC_RANK_GLOBAL, "11|2.|END"},
};

LOOP_TEST(minibatches_are_those_of_the_rules, 0, COUNT(runs))
{
    struct run r;
    char text[200];
    begin(&r, false,
          (struct minibatch_plan_options){.epoch_size = runs[_i].epoch,
                                          .max_sweeps = runs[_i].sweeps,
                                          .max_samples = runs[_i].samples,
                                          .ranks = runs[_i].ranks,
                                          .rank = runs[_i].rank,
                                          .mode = runs[_i].mode});
    write_run(&r, runs[_i].size, 40, text);
    ck_assert_str_eq(text, runs[_i].text);
    ck_assert_int_eq(minibatch_plan_next(&r.plan, 1, NULL), IMREC_END); /* and stays so */
    end(&r);
}

LOOP_TEST(ranks_share_every_sweep_without_rest, 1, 6) /* _i: ranks; both modes, both orders */
{
    for (int variant = 0; variant < 4; variant++) {
        int seen[2][3][3] = {{{0}}};
        for (uint32_t rank = 0; rank < (uint32_t)_i; rank++) {
            struct run r;
            begin(&r, variant & 1,
                  (struct minibatch_plan_options){.max_sweeps = 2,
                                                  .ranks = (uint32_t)_i,
                                                  .rank = rank,
                                                  .mode = variant & 2 ? IMREC_RANK_LOCAL
                                                                      : IMREC_RANK_GLOBAL});
            while (minibatch_plan_next(&r.plan, 7, NULL) == IMREC_OK)
                for (uint64_t k = 0; k < r.plan.items; k++) {
                    const struct timeline_item *i = &r.plan.item[k];
                    seen[i->sweep][i->chunk][i->sequence]++;
                }
            ck_assert_uint_eq(r.plan.mark.position, 2 * SAMPLES);
            end(&r);
        }
        for (int sweep = 0; sweep < 2; sweep++)
            for (uint32_t c = 0; c < 3; c++)
                for (uint32_t s = 0; s < chunks[c].sequences; s++)
                    ck_assert_int_eq(seen[sweep][c][s], 1);
    }
}

TEST(global_minibatches_do_not_depend_on_the_ranks)
{
    uint64_t ends[3][40];
    for (uint32_t ranks = 1; ranks <= 3; ranks++) {
        struct run r;
        begin(&r, true, (struct minibatch_plan_options){.ranks = ranks});
        for (int i = 0; i < 40; i++) {
            ck_assert_int_eq(minibatch_plan_next(&r.plan, 7, NULL), IMREC_OK);
            ends[ranks - 1][i] = r.plan.mark.position;
        }
        end(&r);
    }
    ck_assert_mem_eq(ends[0], ends[1], sizeof(ends[0]));
    ck_assert_mem_eq(ends[0], ends[2], sizeof(ends[0]));
}

LOOP_TEST(any_mark_goes_on_as_if_nothing_had_happened, 0, 25) /* _i: minibatches before it */
{
    struct run a, b;
    const struct minibatch_plan_options o = {.epoch_size = 13};
    begin(&a, true, o);
    begin(&b, true, o);
    for (int i = 0; i < _i; i++)
        ck_assert_int_eq(minibatch_plan_next(&a.plan, 5, NULL), IMREC_OK);
    ck_assert_int_eq(minibatch_plan_next(&b.plan, 50, NULL), IMREC_OK); /* anywhere */
    const struct minibatch_mark mark = a.plan.mark;
    ck_assert_int_eq(minibatch_plan_seek(&b.plan, &mark, NULL), IMREC_OK);
    ck_assert_uint_eq(minibatch_plan_epoch(&a.plan), minibatch_plan_epoch(&b.plan));
    for (int i = 0; i < 30; i++) {
        ck_assert_int_eq(minibatch_plan_next(&a.plan, 6, NULL), IMREC_OK);
        ck_assert_int_eq(minibatch_plan_next(&b.plan, 6, NULL), IMREC_OK);
        ck_assert_uint_eq(a.plan.items, b.plan.items);
        ck_assert_mem_eq(a.plan.item, b.plan.item, a.plan.items * sizeof(*a.plan.item));
        ck_assert_mem_eq(&a.plan.mark, &b.plan.mark, sizeof(a.plan.mark));
        ck_assert(a.plan.epoch == b.plan.epoch && a.plan.epoch_end == b.plan.epoch_end);
    }
    end(&a);
    end(&b);
}

static enum imrec_status
one_label(void *context, const struct timeline_item *item, uint64_t *out, struct imrec_error *err)
{
    (void)context, (void)item, (void)err;
    *out = 1;
    return IMREC_OK;
}

TEST(epochs_count_labels_not_samples)
{
    struct run r;
    char text[200];
    begin(&r, false,
          (struct minibatch_plan_options){.epoch_size = 3, .max_sweeps = 1, .labels = one_label});
    write_run(&r, 100, 40, text);
    ck_assert_str_eq(text, "314;|159;|26.|END");
    end(&r);
}
