/* How many bytes should be under way, by what answers took. */
#include "storage/wire/flow.h"
#include "tests/support/suite.h"

#define MS ((uint64_t)1000000)

/* A wire of a delay and a rate, kept full for `requests` answers; `now` moves on. */
static void
use(struct flow *f, uint64_t *now, uint64_t delay_ms, uint64_t rate, uint64_t piece, int requests)
{
    for (int i = 0; i < requests; i++) {
        const uint64_t many = flow_bytes(f) / piece + 1,
                       took = delay_ms * MS + many * piece * 1000 * MS / rate,
                       before = f->delivered;
        for (uint64_t k = 0; k < many; k++)
            flow_learn(
                f, &(struct flow_sample){piece, before, *now, *now + delay_ms * MS, *now + took});
        *now += took;
    }
}

CASE(.timeout = 20)

TEST(it_is_what_the_wire_takes_in_twice_the_delay)
{
    static const struct {
        uint64_t delay_ms, rate, least, most;
    } wires[] = {
        {50, 1000000000, 90000000, 110000000},
        {50, 100000000, FLOW_LEAST, 14000000},
        {1, 1000000000, FLOW_LEAST, FLOW_LEAST},
        {2000, 10000000000, FLOW_MOST, FLOW_MOST},
    };
    for (size_t i = 0; i < COUNT(wires); i++) {
        struct flow f = {0};
        uint64_t now = 1000 * MS;
        ck_assert_uint_eq(flow_bytes(&f), FLOW_FIRST);
        use(&f, &now, wires[i].delay_ms, wires[i].rate, 300000, 40);
        ck_assert_uint_ge(flow_bytes(&f), wires[i].least);
        ck_assert_uint_le(flow_bytes(&f), wires[i].most);
    }
}

TEST(it_follows_a_wire_that_changes)
{
    struct flow f = {0};
    uint64_t now = 1000 * MS;
    use(&f, &now, 50, 1000000000, 300000, 40);
    const uint64_t fast = flow_bytes(&f);
    use(&f, &now, 50, 50000000, 300000, 200);
    ck_assert_uint_lt(flow_bytes(&f), fast / 2);
    use(&f, &now, 50, 1000000000, 300000, 200);
    ck_assert_uint_gt(flow_bytes(&f), fast / 2);
}

TEST(answers_that_say_nothing_are_left_out)
{
    struct flow f = {0};
    flow_learn(&f, &(struct flow_sample){100, 0, 10 * MS, 11 * MS, 12 * MS});
    flow_learn(&f, &(struct flow_sample){1 << 20, 0, 10 * MS, 0, 12 * MS});
    flow_learn(&f, &(struct flow_sample){1 << 20, 0, 10 * MS, 11 * MS, 10 * MS});
    ck_assert_uint_eq(flow_bytes(&f), FLOW_FIRST);
    ck_assert_uint_eq(f.delivered, 100 + (2 << 20));
}
