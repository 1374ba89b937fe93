/* tests/container/test_extents_far.c - the index of an archive on a web server: what else is
 * called like one, as the pages that some servers answer with for every name, is none. */
#include "base/alloc.h"
#include "container/container.h"
#include "imrec/dataset.h"
#include "tests/support/http_proxy.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"
#include "tests/support/tmpdir.h"

#include <stdlib.h>

enum { SAMPLES = 20, ROOM = 1 << 16 };

static struct tmpdir dir;
static struct proxy *server;
static struct buf g_tar;
static uint8_t g_index[ROOM];
static size_t g_index_bytes;
static struct imrec_error g_err;

/* An archive with its index; then its heads are gone, so that only the index has its samples. */
static void setup(void)
{
    struct imrec_index_result r;
    char name[20];
    dir = tmpdir_make();
    g_tar = BUF_INIT((size_t)1 << 20);
    for (int i = 0; i < SAMPLES; i++) {
        (void)snprintf(name, sizeof(name), "%d.jpg", i);
        tar_text(&g_tar, name, "image");
    }
    tar_end(&g_tar);
    tmp_write(&dir, "a.tar", g_tar.p, g_tar.n);
    ck_assert_int_eq(
        imrec_dataset_index(tmp_path(&dir, "a.tar"), NULL, IMREC_KEYS_ID, false, &r, &g_err),
        IMREC_OK);
    FILE *f = fopen(tmp_path(&dir, "a.tar.idxb"), "rb");
    ck_assert_ptr_nonnull(f);
    g_index_bytes = fread(g_index, 1, ROOM, f);
    fclose(f);
    memset(g_tar.p + 4096, 'x', g_tar.n - 4096);
    tmp_write(&dir, "a.tar", g_tar.p, g_tar.n);
    server = proxy_start(dir.path, NULL);
}

static void teardown(void)
{
    proxy_stop(server);
    buf_free(&g_tar);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* Samples that are whole where the index's name has these bytes. */
static uint64_t whole(const void *p, size_t n)
{
    char uri[100];
    struct container c;
    uint64_t found = 0;
    tmp_write(&dir, "a.tar.idxb", p, n);
    (void)snprintf(uri, sizeof(uri), "%s/a.tar", server->url);
    const struct container_options o = {
        .path_imgrec = uri, .path_imgidx = "auto", .num_parts = 1, .cell_bytes = 4096};
    ck_assert_msg(container_open(&o, &c, &g_err) == IMREC_OK, "%s", g_err.message);
    for (uint64_t i = 0; i < c.unit_count; i++)
        found += c.kind->lost(&c, i) == NULL;
    container_close(&c);
    return found;
}

CASE(.setup = setup, .teardown = teardown, .timeout = 60)

TEST(an_index_next_to_an_archive_is_read)
{
    ck_assert_uint_eq(whole(g_index, g_index_bytes), SAMPLES);
}

TEST(what_is_called_like_an_index_is_none)
{
    static const char page[] = "<!DOCTYPE html><html><body>There is no such page. Go to the first "
                               "one, or search for what you want: it may have moved.</body></html>";
    ck_assert_uint_eq(whole(page, sizeof(page) - 1), 4); /* of the heads that are left */
    ck_assert_uint_eq(whole(page, 20), 4);
    ck_assert_uint_eq(whole("", 0), 4);
    g_index[0] ^= 1;
    ck_assert_uint_eq(whole(g_index, g_index_bytes), 4);
}
