/* tests/formats/test_ctf_index.c - an index does not depend on the pieces that the text comes in,
 * nor on whether a line is looked at the fast way. */
#include "base/rng.h"
#include "tests/support/ctf_text.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>

enum { LINES = 300, ROUNDS = 300 };

static uint64_t draw(uint64_t round, uint64_t i)
{
    return rng_block((struct rng_key){31, 7}, round, (uint32_t)i, 0, RNG_AUGMENT).v[0];
}

/* Ids that mostly ascend, or none; samples, comments, blank lines, damage; one id may come again.
 */
static size_t make_text(char *to, uint64_t round)
{
    static const char *const ends[] = {"\n", "\n", "\n", "\r\n", " \n", "\t\n"};
    static const char *const rests[] = {"|a 1",       "|a 1 |b 2:3",
                                        "|# c",       "|# c |#d |a 2",
                                        "",           " |a 7",
                                        "\t|a 1",     "| a",
                                        "junk",       "|a",
                                        "|b 1",       "|a 1 |# x|a 2",
                                        "|aa 1 |a 3", "|a 1 2 3 4 5 6 7 8 9 10 11"};
    size_t n = 0;
    uint64_t id = 0;
    for (unsigned i = 0; i < LINES; i++) {
        const uint64_t r = draw(round, i);
        id += r % 3 == 0 ? r >> 60 : 0;
        if (round % 3 != 0 && r % 5 != 0)
            n += (size_t)sprintf(to + n, "%s%llu%s", r % 17 == 0 ? " " : "",
                                 (unsigned long long)(r % 97 == 0 ? r : id), r % 7 == 0 ? "" : " ");
        if (round % 8 == 3 && i == LINES / 2) /* one more than 64 bits hold */
            n += (size_t)sprintf(to + n, "18446744073709551616 ");
        n += (size_t)sprintf(
            to + n, "%s%s",
            rests[r >> 20 & (round % 2 ? 3 : 15) ? (r >> 24) % (sizeof(rests) / sizeof(*rests))
                                                 : 0],
            ends[(r >> 40) % (sizeof(ends) / sizeof(ends[0]))]);
    }
    return round % 5 == 0 ? n - 1 : n;
}

static bool same(const struct ctf_index *a, const struct ctf_index *b)
{
    bool is = a->sequences == b->sequences && a->chunks == b->chunks && a->samples == b->samples &&
              memcmp(a->sequence, b->sequence, a->sequences * sizeof(*a->sequence)) == 0;
    for (uint64_t i = 0; is && i < a->chunks; i++) {
        const struct ctf_chunk *p = &a->chunk[i], *q = &b->chunk[i];
        is = p->first == q->first && p->sequences == q->sequences && p->bytes == q->bytes &&
             p->offset == q->offset && p->samples == q->samples && p->line == q->line;
    }
    return is;
}

START_TEST(pieces_do_not_matter) /* loop: no main stream, one, others ignored */
{
    static char text[LINES * 64];
    const struct stream_info stream = {"a", "a", STREAM_DENSE, STREAM_FLOAT, 1, _i == 1};
    unsigned good = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const struct ctf_parse_options o = {.name = "t",
                                            .stream = &stream,
                                            .streams = 1,
                                            .skip_sequence_ids = round % 11 == 0,
                                            .ignore_unknown = _i == 2};
        struct ctf_text a, b;
        struct imrec_error ea = {0}, eb = {0};
        const size_t n = make_text(text, round);
        const enum imrec_status sa = ctf_text_open(&a, text, n, &o, 200, 1, &ea);
        const enum imrec_status sb = ctf_text_open(&b, text, n, &o, 200, n, &eb);
        ck_assert_int_eq(sa, sb);
        ck_assert_msg(ea.offset == eb.offset && strcmp(ea.message, eb.message) == 0, "%s, not %s",
                      ea.message, eb.message);
        ck_assert(sa != IMREC_OK || same(&a.index, &b.index));
        good += sa == IMREC_OK;
        ctf_text_close(&a);
        ctf_text_close(&b);
    }
    ck_assert(good > ROUNDS / 3 && good < ROUNDS);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ctf_index");
    TCase *t = tcase_create("index");
    tcase_add_loop_test(t, pieces_do_not_matter, 0, 3);
    suite_add_tcase(s, t);
    return suite_run(s);
}
