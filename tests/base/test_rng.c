/* Random bits are those that Random123 publishes, and become numbers below n without a bias. */
#include "base/fnv.h"
#include "base/rng.h"
#include "tests/support/suite.h"

__extension__ typedef unsigned __int128 wide;

TEST(bits_are_those_of_philox)
{
    static const uint64_t known[4] = {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b,
                                      0x7e68b68aec7ba23b}; /* Random123's kat_vectors */
    const struct rng_block b = rng_block((struct rng_key){0, 0}, 0, 0, 0, (enum rng_purpose)0);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(b.v[i], known[i]);
}

TEST(every_part_of_the_key_gives_other_bits)
{
    const struct rng_block one[] = {
        rng_block((struct rng_key){1, 2}, 3, 4, 5, RNG_AUGMENT),
        rng_block((struct rng_key){9, 2}, 3, 4, 5, RNG_AUGMENT),
        rng_block((struct rng_key){1, 9}, 3, 4, 5, RNG_AUGMENT),
        rng_block((struct rng_key){1, 2}, 9, 4, 5, RNG_AUGMENT),
        rng_block((struct rng_key){1, 2}, 3, 9, 5, RNG_AUGMENT),
        rng_block((struct rng_key){1, 2}, 3, 4, 9, RNG_AUGMENT),
        rng_block((struct rng_key){1, 2}, 3, 4, 5, RNG_PACKING),
    };
    for (int i = 0; i < COUNT(one); i++)
        for (int k = 0; k < i; k++)
            for (int j = 0; j < 4; j++)
                ck_assert_uint_ne(one[i].v[j], one[k].v[j]);
}

TEST(a_number_below_n_is_the_high_half_of_the_product)
{
    static const uint64_t n[] = {1,         2, 3, 1000, UINT32_MAX, 1ull << 32, 0x123456789abcdef,
                                 UINT64_MAX};
    static const uint64_t bits[] = {0, 1, UINT32_MAX, 1ull << 32, 1ull << 63, UINT64_MAX};
    for (int i = 0; i < COUNT(n); i++) {
        for (int k = 0; k < COUNT(bits); k++)
            ck_assert_uint_eq(rng_below(bits[k], n[i]), (uint64_t)((wide)bits[k] * n[i] >> 64));
        for (uint64_t k = 0; k < 1000; k++) {
            const uint64_t v = rng_block((struct rng_key){7, k}, 0, 0, 0, RNG_AUGMENT).v[0];
            ck_assert_uint_eq(rng_below(v, n[i]), (uint64_t)((wide)v * n[i] >> 64));
        }
    }
}

TEST(a_hash_is_that_of_fnv)
{
    ck_assert_uint_eq(fnv1a(FNV_START, "", 0), 0xcbf29ce484222325u);
    ck_assert_uint_eq(fnv1a(FNV_START, "foobar", 6), 0x85944171f73967e8u);
    ck_assert_uint_eq(fnv1a(fnv1a(FNV_START, "foo", 3), "bar", 3), 0x85944171f73967e8u);
}
