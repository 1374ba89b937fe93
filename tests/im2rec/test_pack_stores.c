/* tests/im2rec/test_pack_stores.c - images that are read from a store: many at once, and what is
 * packed is what a folder of them gives. */
#include "base/alloc.h"
#include "im2rec/item/fetch.h"
#include "tests/support/http_proxy.h"
#include "tests/support/packing.h"
#include "tests/support/suite.h"
#include "tests/support/tars.h"

enum { LARGE = 200000, AT_ONCE = 4 };

static struct packing p;
static struct proxy *server;
static char uri[256];

/* source.lst has all of them, and two that are not there, in the middle and at the end. */
static void write_list(void)
{
    static const char *const classes[MADE_CLASSES] = {"ant", "bee", "cow"};
    char text[4096];
    int n = 0, k = 0;
    for (int c = 0; c < MADE_CLASSES; c++) {
        for (int i = 0; i < MADE_EACH; i++, k++)
            n += sprintf(text + n, "%d\t%d\t%s/%02d.jpg\n", k, c, classes[c], i);
        n += sprintf(text + n, "%d\t%d\t%s\n", k, c, c == 0 ? "bee/torn.jpg" : "bee/none.jpg");
        k++;
    }
    tmp_write(&p.dir, "source.lst", text, (size_t)n);
}

static void setup(void)
{
    packing_make(&p, true);
    write_list();
    p.o.threads = 1;
    server = proxy_start(p.source, "--delay", "200", NULL);
}

static void teardown(void)
{
    proxy_stop(server);
    packing_remove(&p);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

static enum imrec_status pack(const char *root, const char *name)
{
    char out[512], list[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, name));
    snprintf(list, sizeof(list), "%s", tmp_path(&p.dir, "source.lst"));
    const struct imrec_pack_task task = {.root = root, .list = list, .out = out};
    return imrec_pack(&task, &p.o, &p.result, &p.err);
}

static void expect_same(void)
{
    static const char *const files[] = {".rec", ".idx", ".lst", ".crc"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        expect_same_file(&p, "here", "there", files[i]);
}

static void pack_here(void)
{
    ck_assert_msg(pack(p.source, "here.rec") == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.skipped, 3);
}

static void pack_there(void)
{
    ck_assert_msg(pack(server->url, "there.rec") == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.skipped, 3);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(one_worker_has_many_images_read_at_once)
{
    pack_here();
    pack_there();
    expect_same();
    ck_assert_double_ge(proxy_stat(server, "in_flight_most"), AT_ONCE);
    ck_assert_double_eq(proxy_stat(server, "GET"), MADE_GOOD + 3); /* each once */
}

TEST(copies_and_shares_of_a_list_are_those_of_a_folder)
{
    p.o.copies = 3;
    p.o.augment = "rand_mirror=1";
    p.o.part = (struct imrec_share){1, 2};
    ck_assert_msg(pack(p.source, "here.rec") == IMREC_OK, "%s", p.err.message);
    ck_assert_msg(pack(server->url, "there.rec") == IMREC_OK, "%s", p.err.message);
    expect_same();
}

TEST(a_server_that_refuses_an_image_ends_the_run_there_and_resume_goes_on)
{
    pack_here();
    proxy_rules(server, "match=/cow/03.jpg do=status=400\n");
    ck_assert_int_eq(pack(server->url, "there.rec"), IMREC_ERR_IO);
    ck_assert_ptr_nonnull(strstr(p.err.message, "/cow/03.jpg"));
    ck_assert_ptr_nonnull(strstr(p.err.message, "resume continues"));
    proxy_rules(server, "");
    p.o.resume = true;
    pack_there();
    expect_same();
}

/* source/x.tar has the images of ant, each with its label. */
static void write_archive(void)
{
    struct buf tar = BUF_INIT((size_t)1 << 24);
    char name[64];
    for (int i = 0; i < MADE_EACH; i++) {
        snprintf(name, sizeof(name), "source/ant/%02d.jpg", i);
        const struct bytes jpeg = read_whole(tmp_path(&p.dir, name));
        snprintf(name, sizeof(name), "%02d.cls", i);
        tar_text(&tar, name, "3");
        snprintf(name, sizeof(name), "%02d.jpg", i);
        tar_put(&tar, name, '0', jpeg.p, jpeg.n);
        free((void *)(uintptr_t)jpeg.p);
    }
    tar_end(&tar);
    tmp_write(&p.dir, "source/x.tar", tar.p, tar.n);
    buf_free(&tar);
}

static void pack_archive(const char *root, const char *name)
{
    char out[512], all[512];
    snprintf(out, sizeof(out), "%s", tmp_path(&p.dir, name));
    snprintf(all, sizeof(all), "%s/x.tar", root);
    const struct imrec_pack_task task = {.root = all, .out = out};
    ck_assert_msg(imrec_pack(&task, &p.o, &p.result, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_uint_eq(p.result.packed, MADE_EACH);
}

TEST(pieces_of_an_archive_are_read_at_once)
{
    write_archive();
    pack_archive(p.source, "here.rec");
    pack_archive(server->url, "there.rec");
    expect_same();
    ck_assert_double_ge(proxy_stat(server, "in_flight_most"), AT_ONCE);
    /* its headers in one read, twice; a read of each image; few of which open it */
    ck_assert_double_le(proxy_stat(server, "GET"), MADE_EACH + 4 + AT_ONCE);
}

TEST(fields_of_an_archive_in_a_store_are_read_as_here)
{
    write_archive();
    p.o.fields = "cls";
    pack_archive(p.source, "here.rec");
    pack_archive(server->url, "there.rec");
    expect_same();
    const struct bytes rec = read_whole(tmp_path(&p.dir, "there.rec"));
    bool within = false;
    for (size_t at = 0; !within && at + 4 <= rec.n; at++)
        within = memcmp(rec.p + at, "cls3", 4) == 0;
    ck_assert(within);
    free((void *)(uintptr_t)rec.p);
}

static struct fetch *begun(struct fetcher *f, const char *name)
{
    snprintf(uri, sizeof(uri), "%s/%s", server->url, name);
    struct fetch *x = fetch_begin(f, uri, 0, FETCH_ALL);
    ck_assert_ptr_nonnull(x);
    ck_assert(fetch_is_of(x, uri) && !fetch_is_of(x, "http://elsewhere/"));
    return x;
}

static void expect_bytes(struct fetch *x, const uint8_t *data)
{
    uint8_t *got = malloc(LARGE);
    ck_assert_msg(fetch_read(x, got, &p.err) == IMREC_OK, "%s", p.err.message);
    ck_assert_int_eq(memcmp(got, data, LARGE), 0);
    free(got);
}

TEST(what_has_no_room_is_opened_and_read_when_it_is_wanted)
{
    uint8_t *data = malloc(LARGE);
    struct fetcher *f;
    uint64_t size = 0;
    for (size_t i = 0; i < LARGE; i++)
        data[i] = (uint8_t)(i * 131 + i / 257);
    tmp_write(&p.dir, "source/large", data, LARGE);
    ck_assert_int_eq(fetcher_new(LARGE + LARGE / 2, &f, &p.err), IMREC_OK);
    struct fetch *first = begun(f, "large");
    ck_assert_int_eq(fetch_wait(first, &size, &p.err), IMREC_OK);
    ck_assert_uint_eq(size, LARGE);
    ck_assert_double_eq(proxy_stat(server, "GET"), 2); /* its head, and the rest */
    struct fetch *second = begun(f, "large");
    ck_assert_int_eq(fetch_wait(second, &size, &p.err), IMREC_OK);
    ck_assert_double_eq(proxy_stat(server, "GET"), 3);
    expect_bytes(second, data);
    expect_bytes(first, data);
    ck_assert_double_eq(proxy_stat(server, "GET"), 4);
    fetch_drop(first);
    struct fetch *third = begun(f, "large"); /* there is room again */
    ck_assert_int_eq(fetch_wait(third, &size, &p.err), IMREC_OK);
    ck_assert_double_eq(proxy_stat(server, "GET"), 6);
    fetch_drop(second);
    fetch_drop(third);
    fetch_drop(begun(f, "large")); /* never waited for */
    fetcher_free(f);
    free(data);
}
