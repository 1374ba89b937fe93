/* tests/minibatch/test_minibatch_traffic.c - through a cache a second minibatch source of CNTK's
 * text or binary files takes no byte from the store. */
#include "base/alloc.h"
#include "imrec/convert.h"
#include "tests/support/http_proxy.h"
#include "tests/support/minibatches.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <stdio.h>

enum { LINES = 3000 };

static struct tmpdir dir;
static struct proxy *server;
static struct imrec_error err;

static void make_files(void)
{
    static char text[64 * LINES], path[3][600];
    static const char header[] = "f f dense 2\nl l sparse 2\n";
    struct imrec_convert_options o;
    struct imrec_convert_result made;
    size_t n = 0;
    for (int i = 0; i < LINES; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "|f %d %d |l %d:1\n", i, 7 * i, i % 2);
    tmp_write(&dir, "a.ctf", text, n);
    tmp_write(&dir, "header", header, sizeof(header) - 1);
    imrec_convert_options_init(&o);
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof(path[i]), "%s/%s", dir.path,
                 ((const char *const[]){"a.ctf", "header", "a.cbf"})[i]);
    o.input = path[0];
    o.header = path[1];
    o.output = path[2];
    o.chunk_size = 8192;
    ck_assert_msg(imrec_ctf_to_cbf(&o, NULL, NULL, &made, &err) == IMREC_OK, "%s", err.message);
}

static void setup(void)
{
    dir = tmpdir_make();
    make_files();
    server = proxy_start(dir.path, NULL);
}

static void teardown(void)
{
    proxy_stop(server);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* A sweep; the sum of its values. */
static double sweep(const char *name, struct imrec_traffic *t)
{
    static const char *const text[] = {"input.f.format=dense", "input.f.dim=2",
                                       "input.l.format=sparse", "input.l.dim=2"};
    char file[128], cache[600];
    const char *keys[8] = {file, cache, "max_sweeps=1"};
    struct imrec_minibatch m;
    double sum = 0;
    snprintf(file, sizeof(file), "file=%s/%s", server->url, name);
    snprintf(cache, sizeof(cache), "cache=%s/cache", dir.path);
    if (strstr(name, ".ctf") != NULL)
        memcpy(keys + 3, text, sizeof(text));
    proxy_reset(server);
    struct imrec_minibatch_source *s = mb_open(keys);
    while (imrec_minibatch_next(s, 0, NULL, 0, &m, &err) == IMREC_OK)
        for (uint64_t i = 0; i < m.stream[0].rows * m.stream[0].width * 2; i++)
            sum += (double)((const float *)m.stream[0].values)[i];
    imrec_minibatch_get_traffic(s, t);
    imrec_minibatch_source_close(s);
    return sum;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(a_second_source_takes_no_byte_from_the_store, 0, 2)
{
    const char *name = _i == 0 ? "a.ctf" : "a.cbf";
    struct imrec_traffic t;
    const double right = 4.0 * LINES * (LINES - 1);
    ck_assert(sweep(name, &t) == right);
    ck_assert_uint_eq(t.store_bytes, (uint64_t)tmp_size(tmp_path(&dir, name)));
    ck_assert_int_eq((int)proxy_stat(server, "body_bytes_out"), (int)t.store_bytes);
    ck_assert(sweep(name, &t) == right);
    ck_assert_uint_eq(t.store_bytes, 0);
    ck_assert_int_eq((int)proxy_stat(server, "body_bytes_out"), 0);
    ck_assert_uint_ge(t.cache_bytes, (uint64_t)tmp_size(tmp_path(&dir, name)));
}
