/* tests/storage/test_webhdfs_cache.c - files of HDFS through a cache: their time, length and number
 * are their version. */
#include "storage/cache/cache.h"
#include "tests/support/hdfs_case.h"

static struct traffic moved(struct cache *c)
{
    struct store_scope scope = {0};
    struct source *s;
    uint8_t *got = malloc(BYTES);
    cache_serve(c, &scope);
    struct store_scope *before = store_scope_enter(&scope);
    ck_assert_msg(source_open(at("/set/a.rec"), &s, &err) == IMREC_OK, "%s", err.message);
    (void)store_scope_enter(before);
    ck_assert_msg(source_read(s, 0, got, (size_t)s->size, &err) == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(memcmp(got, data, (size_t)s->size), 0);
    source_close(s);
    free(got);
    return scope.traffic;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(a_file_is_read_once_and_again_when_it_was_replaced, 0, 2)
{
    struct cache *c;
    struct traffic t;
    server->plain = _i == 1; /* which says no number */
    ck_assert_int_eq(cache_open(tmp_path(&dir, "cache"), 32 << 20, &c, &err), IMREC_OK);
    t = moved(c);
    ck_assert_uint_eq(t.store_bytes, BYTES);
    ck_assert_uint_eq(t.cache_bytes, 0);
    ck_assert_uint_gt(t.requests, 4);
    t = moved(c);
    ck_assert_uint_eq(t.store_bytes, 0);
    ck_assert_uint_eq(t.cache_bytes, BYTES);
    ck_assert_uint_eq(t.requests, 1); /* what it is */
    data[5] ^= 1;
    fake_hdfs_put(server, "/set/a.rec", data, BYTES);
    t = moved(c);
    ck_assert_uint_eq(t.store_bytes, BYTES);
    cache_close(c);
}
