/* tests/iter/test_iter_traffic.c - an iterator counts what it moved, and with a cache a second one
 * moves nothing: not at opening either, nor of what lies beside the shards. */
#include "base/clock.h"
#include "tests/support/http_proxy.h"
#include "tests/support/small_set.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { RECORDS = 400 };

static struct tmpdir dir;
static struct proxy *server;
static struct imrec_error err;
static char rec[SMALL_NAME_BYTES], uri[256];

static void setup(void)
{
    dir = tmpdir_make();
    snprintf(rec, sizeof(rec), "%s/a.rec", dir.path);
    small_shard(rec, 0, RECORDS);
    ck_assert_uint_eq(small_checksums(rec), RECORDS);
    server = proxy_start(dir.path, NULL);
    snprintf(uri, sizeof(uri), "%s/a.rec", server->url);
}

static void teardown(void)
{
    proxy_stop(server);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Windows of the next sweep are on their way: what was counted is in the end what the server sent.
 * Its body of a 404 is "no such file\n", after a GET, and no object's. */
static void settle(struct imrec_iter *it, struct imrec_traffic *t)
{
    double sent, objects;
    do {
        clock_sleep_ms(1);
        imrec_iter_get_traffic(it, t);
        sent = proxy_stat(server, "body_bytes_out");
        objects = sent - 13 * proxy_stat(server, "404") - 20 * proxy_stat(server, "503");
    } while (t->requests != (uint64_t)proxy_stat(server, "requests") ||
             (double)t->store_bytes > sent || (double)t->store_bytes < objects);
}

/* A sweep with its index and checksums; the sum of its bytes. */
static uint64_t sweep(const char *path, bool cached, struct imrec_traffic *t)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    struct imrec_batch b;
    uint64_t sum = 0;
    proxy_reset(server);
    imrec_iter_options_init(&o);
    o.path_imgrec = path;
    o.path_imgidx = "auto";
    o.verify_checksums = true;
    o.data_shape = (struct imrec_shape){3, 24, 24};
    o.batch_size = 20;
    o.shuffle = true;
    o.cache = cached ? tmp_path(&dir, "cache") : "";
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_OK, "%s", err.message);
    while (imrec_iter_next(it, &b, &err) == IMREC_OK)
        sum = crc32c((uint32_t)sum, b.data, (size_t)b.count * 3 * 24 * 24 * sizeof(float)) +
              (sum >> 32);
    settle(it, t);
    imrec_iter_close(it);
    ck_assert_uint_eq(t->struct_size, sizeof(*t));
    return sum;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(what_is_counted_is_what_the_server_sent)
{
    struct imrec_traffic t;
    const uint64_t local = sweep(rec, false, &t);
    ck_assert_uint_eq(t.store_bytes + t.cache_bytes + t.requests + t.wait_ns, 0);
    ck_assert_uint_eq(sweep(uri, false, &t), local);
    ck_assert_uint_ge(t.store_bytes, (uint64_t)tmp_size(rec));
    ck_assert_uint_gt(t.wait_ns, 0);
    ck_assert_uint_eq(t.retries + t.cache_bytes, 0);
}

TEST(failures_that_pass_are_retries)
{
    struct imrec_traffic t;
    const uint64_t local = sweep(rec, false, &t);
    proxy_rules(server, "match=/a.rec skip=1 times=3 do=status=503\n");
    ck_assert_uint_eq(sweep(uri, false, &t), local);
    ck_assert_uint_eq(t.retries, 3);
}

TEST(through_a_cache_a_second_iterator_takes_no_byte_from_the_store)
{
    struct imrec_traffic t;
    const uint64_t local = sweep(rec, false, &t);
    ck_assert_uint_eq(sweep(uri, true, &t), local);
    ck_assert_uint_ge(t.cache_misses, 3); /* a block of each file */
    ck_assert_uint_ge(t.store_bytes, (uint64_t)tmp_size(rec));
    ck_assert_uint_eq(sweep(uri, true, &t), local);
    ck_assert_uint_eq(t.store_bytes, 0);
    ck_assert_uint_eq(t.cache_misses, 0);
    ck_assert_uint_gt(t.cache_hits, 0);
    ck_assert_int_eq((int)proxy_stat(server, "206"), 0);
    ck_assert_uint_ge(t.cache_bytes, (uint64_t)tmp_size(rec));
}

/* URLs may be signed for GET alone; a server may know no ranges, and then small objects work. */
LOOP_TEST(servers_without_head_or_ranges_are_read_through_the_cache_as_without_one, 0, 3)
{
    static const char *const rules[] = {"method=HEAD do=status=403\n",
                                        "method=GET match=.crc do=ignore-range\n",
                                        "method=HEAD do=header=Content-Length:\n"};
    struct imrec_traffic t;
    const uint64_t local = sweep(rec, false, &t);
    proxy_rules(server, rules[_i]);
    for (int k = 0; k < 2; k++)
        ck_assert_uint_eq(sweep(uri, true, &t), local);
}

/* Between the question for its version and the first byte. */
TEST(a_small_object_that_changes_under_its_reader_is_an_error)
{
    struct imrec_iter_options o;
    struct imrec_iter *it;
    proxy_rules(server, "method=GET match=.crc do=changed\n");
    imrec_iter_options_init(&o);
    o.path_imgrec = uri;
    o.verify_checksums = true;
    o.data_shape = (struct imrec_shape){3, 24, 24};
    o.batch_size = 20;
    o.cache = tmp_path(&dir, "cache");
    ck_assert_msg(imrec_iter_open(&o, &it, &err) == IMREC_ERR_IO, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(err.message, "another version"));
}
