/* Files on a web server are split as those of a folder are; what fails there is named. */
#include "tests/support/http_proxy.h"
#include "tests/support/splitting.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { LINES = 60000, WIDTH = 20 };

static struct tmpdir dir;
static struct proxy *server;
static char local[600], remote[600];

static void setup(void)
{
    char *text = malloc(LINES * WIDTH + 1);
    dir = tmpdir_make();
    for (size_t i = 0; i < LINES; i++)
        sprintf(text + i * WIDTH, "line %014zu\n", i);
    tmp_write(&dir, "a", text, LINES * WIDTH);
    tmp_write(&dir, "b", text, 1000 * WIDTH);
    free(text);
    server = proxy_start(dir.path, NULL);
    snprintf(local, sizeof(local), "%s/a;%s/b", dir.path, dir.path);
    snprintf(remote, sizeof(remote), "%s/a;%s/b", server->url, server->url);
}

static void teardown(void)
{
    proxy_stop(server);
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

LOOP_TEST(parts_are_those_of_the_folder, 0, 2)
{
    for (uint64_t part = 0; part < 3; part++) {
        struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, part, 3, 1 << 16);
        o.shuffle = _i == 1;
        struct takings want = split_read(local, &o, false);
        proxy_rules(server, "every=5 times=3 do=status=503\n");
        struct takings got = split_read(remote, &o, false);
        takings_equal(&got, &want);
        takings_free(&got);
        takings_free(&want);
    }
}

/* A position is of names, sizes and order: it is good for the same files elsewhere. */
TEST(a_position_of_the_folder_is_good_for_the_server)
{
    const struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 0, 2, 1 << 16);
    struct imrec_input_split *s = split_open(local, &o), *t = split_open(remote, &o);
    struct takings first = {0}, want, got;
    struct imrec_error err;
    char *place;
    split_take(s, false, 12345, &first);
    ck_assert_int_eq(imrec_input_split_position(s, &place, &err), IMREC_OK);
    ck_assert_msg(imrec_input_split_restore(t, place, &err) == IMREC_OK, "%s", err.message);
    want = split_all(s, false);
    got = split_all(t, false);
    takings_equal(&got, &want);
    ck_assert_uint_eq(first.count + want.count, 30501); /* the line at the cut, too */
    imrec_input_split_position_free(place);
    imrec_input_split_close(s);
    imrec_input_split_close(t);
    takings_free(&first);
    takings_free(&want);
    takings_free(&got);
}

/* A part reads its own bytes, and little else. */
TEST(a_part_reads_its_share)
{
    const struct imrec_input_split_options o = splitting(IMREC_SPLIT_TEXT, 5, 10, 1 << 16);
    proxy_reset(server);
    struct takings got = split_read(remote, &o, false);
    ck_assert_uint_gt(got.count, LINES / 11);
    ck_assert_int_lt((int)proxy_stat(server, "body_bytes_out"), LINES * WIDTH / 2 + (1 << 18));
    takings_free(&got);
}
