/* Objects as callers read them: bytes of ranges, what is found, what fails. */
#include "base/alloc.h"
#include "imrec/object.h"
#include "imrec/store.h"
#include "storage/cache/cache.h"
#include "storage/mem.h"
#include "tests/support/http_proxy.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <string.h>

#define BYTES 100000

static struct tmpdir dir;
static struct imrec_error err;
static uint8_t content[BYTES];
static unsigned asked; /* reads of the store below */
static struct proxy *server;

/* ---- a store that counts ------------------------------------------------------------------- */

static enum imrec_status open_one(void *user, const char *name, void **object, uint64_t *size,
                                  uint64_t *modified, struct imrec_error *e)
{
    (void)user;
    (void)modified;
    *size = BYTES;
    *object = content;
    if (strcmp(name, "a.bin") == 0)
        return IMREC_OK;
    e->sys_errno = ENOENT;
    return IMREC_ERR_IO;
}

static enum imrec_status
read_one(void *user, void *object, uint64_t offset, void *to, size_t n, struct imrec_error *e)
{
    (void)user, (void)e;
    asked++;
    memcpy(to, (uint8_t *)object + offset, n);
    return IMREC_OK;
}

static void close_one(void *user, void *object)
{
    (void)user, (void)object;
}

static void setup(void)
{
    static const struct imrec_store calls = {
        .struct_size = sizeof(calls), .open = open_one, .read_at = read_one, .close = close_one};
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (uint8_t)(i * 31 + i / 256);
    asked = 0;
    dir = tmpdir_make();
    tmp_write(&dir, "a.bin", (const char *)content, BYTES);
    tmp_write(&dir, "b.bin", "b", 1);
    tmp_write(&dir, "c.txt", "c", 1);
    ck_assert_int_eq(imrec_store_register("counted", &calls, NULL, &err), IMREC_OK);
}

static void teardown(void)
{
    ck_assert_int_eq(imrec_store_unregister("counted", &err), IMREC_OK);
    mem_clear();
    tmpdir_remove(&dir);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.setup = setup, .teardown = teardown)

static struct imrec_object *opened(const char *uri, const struct imrec_object_options *o)
{
    struct imrec_object *out;
    ck_assert_msg(imrec_object_open(uri, o, &out, &err) == IMREC_OK, "%s", err.message);
    return out;
}

static void check_bytes(struct imrec_object *o, uint64_t offset, size_t n)
{
    static uint8_t got[BYTES];
    memset(got, 0xee, sizeof(got));
    ck_assert_msg(imrec_object_read(o, offset, got, n, &err) == IMREC_OK, "%s", err.message);
    ck_assert_mem_eq(got, content + offset, n);
    ck_assert(n == BYTES || got[n] == 0xee);
}

TEST(ranges_are_what_the_object_contains)
{
    const char *uris[] = {tmp_path(&dir, "a.bin"), "counted://a.bin"};
    for (size_t i = 0; i < 2; i++) {
        struct imrec_object *o = opened(uris[i], NULL);
        ck_assert_uint_eq(imrec_object_size(o), BYTES);
        check_bytes(o, 0, BYTES);
        check_bytes(o, 99, 1);
        check_bytes(o, BYTES - 7, 7);
        check_bytes(o, BYTES, 0);
        imrec_object_close(o);
    }
    imrec_object_close(NULL);
}

TEST(more_than_there_is_is_refused_by_name)
{
    static const struct {
        uint64_t offset;
        size_t n;
    } wrong[] = {{BYTES - 1, 2}, {BYTES + 1, 0}, {UINT64_MAX, 2}, {1, SIZE_MAX}};
    struct imrec_object *o = opened("counted://a.bin", NULL);
    uint8_t byte;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(imrec_object_read(o, wrong[i].offset, &byte, wrong[i].n, &err),
                         IMREC_ERR_ARGUMENT);
        ck_assert_msg(strstr(err.message, "counted://a.bin: it has 100000 bytes") != NULL, "%s",
                      err.message);
    }
    ck_assert_uint_eq(asked, 0);
    imrec_object_cancel(o);
    ck_assert_int_eq(imrec_object_read(o, 0, &byte, 1, &err), IMREC_ERR_CANCELLED);
    imrec_object_close(o);
}

TEST(what_cannot_be_opened_is_an_error)
{
    static const struct {
        const char *uri;
        enum imrec_status status;
    } wrong[] = {{NULL, IMREC_ERR_ARGUMENT},
                 {"", IMREC_ERR_ARGUMENT},
                 {"nobodys://a.bin", IMREC_ERR_UNSUPPORTED},
                 {"counted://b.bin", IMREC_ERR_IO},
                 {"mem://none", IMREC_ERR_IO}};
    struct imrec_object *o = (struct imrec_object *)content;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(imrec_object_open(wrong[i].uri, NULL, &o, &err), wrong[i].status);
        ck_assert(o == NULL && err.message[0] != '\0');
        ck_assert(wrong[i].status != IMREC_ERR_IO || err.sys_errno == ENOENT);
    }
    struct imrec_object_options with;
    imrec_object_options_init(&with);
    with.cache = dir.path;
    with.cache_size = -1;
    ck_assert_int_eq(imrec_object_open("counted://a.bin", &with, &o, &err), IMREC_ERR_ARGUMENT);
    with.cache_size = 4096;
    ck_assert_int_eq(imrec_object_open("counted://a.bin", &with, &o, &err), IMREC_ERR_ARGUMENT);
    with.struct_size = 0;
    ck_assert_int_eq(imrec_object_open("counted://a.bin", &with, &o, &err), IMREC_ERR_ARGUMENT);
}

static struct imrec_object *opened_there(const struct imrec_object_options *with)
{
    char uri[128];
    snprintf(uri, sizeof(uri), "%s/a.bin", server->url);
    return opened(uri, with);
}

/* Turn after turn: bytes that were read before come out of the cache, and not those of the version
 * before. */
TEST(a_cache_is_asked_first_for_the_same_version)
{
    struct imrec_object_options with;
    imrec_object_options_init(&with);
    with.cache = tmp_path(&dir, "cache");
    with.cache_size = (int64_t)CACHE_BYTES_MIN;
    server = proxy_start(dir.path, NULL);
    char before[128] = "";
    for (int turn = 0; turn < 4; turn++) {
        if (turn == 2) {
            content[20] ^= 1;
            tmp_write(&dir, "a.bin", (const char *)content, BYTES);
        }
        struct imrec_object *o = opened_there(&with);
        const double sent = proxy_stat(server, "body_bytes_out");
        check_bytes(o, 10, 50000);
        check_bytes(o, 10, 50000);
        const bool read = proxy_stat(server, "body_bytes_out") > sent;
        ck_assert_msg(read == (turn == 0 || turn == 2), "turn %d", turn);
        ck_assert_ptr_nonnull(imrec_object_identity(o));
        ck_assert_int_eq(strcmp(before, imrec_object_identity(o)) == 0, turn % 2 == 1);
        snprintf(before, sizeof(before), "%s", imrec_object_identity(o));
        imrec_object_close(o);
    }
    proxy_stop(server);
}

TEST(failures_of_a_server_are_tried_again_and_another_version_is_an_error)
{
    static uint8_t to[BYTES];
    server = proxy_start(dir.path, NULL);
    proxy_rules(server, "every=2 do=status=503");
    struct imrec_object *o = opened_there(NULL);
    check_bytes(o, 0, BYTES);
    check_bytes(o, 500, 9);
    ck_assert_int_gt(proxy_hits(server, 0), 0);
    proxy_rules(server, "do=changed");
    ck_assert_int_eq(imrec_object_read(o, 90000, to, 10, &err), IMREC_ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.message, server->url));
    imrec_object_cancel(o);
    ck_assert_int_eq(imrec_object_read(o, 90000, to, 10, &err), IMREC_ERR_CANCELLED);
    imrec_object_close(o);
    proxy_stop(server);
}

TEST(objects_are_found_by_patterns)
{
    static const struct {
        const char *pattern, *names[3];
    } cases[] = {{"@", {"a.bin", "b.bin"}},
                 {"@/*.bin", {"a.bin", "b.bin"}},
                 {"@/[bc].*", {"b.bin", "c.txt"}},
                 {"@/c.txt;@/a.bin", {"c.txt", "a.bin"}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char pattern[2 * sizeof(dir.path) + 32] = "";
        for (const char *p = cases[i].pattern; *p != '\0'; p++)
            snprintf(pattern + strlen(pattern), sizeof(pattern) - strlen(pattern),
                     *p == '@' ? "%s" : "%.1s", *p == '@' ? dir.path : p);
        struct imrec_uris found;
        ck_assert_msg(imrec_objects_find(pattern, ".bin", &found, &err) == IMREC_OK, "%s",
                      err.message);
        for (size_t k = 0; k < found.count; k++)
            ck_assert_str_eq(found.uri[k], tmp_path(&dir, cases[i].names[k]));
        ck_assert(cases[i].names[found.count] == NULL);
        imrec_uris_free(&found);
        imrec_uris_free(&found);
    }
    struct imrec_uris none = {1, NULL};
    ck_assert_int_eq(imrec_objects_find(tmp_path(&dir, "*.no"), ".bin", &none, &err),
                     IMREC_ERR_ARGUMENT);
    ck_assert(none.count == 0 && none.uri == NULL);
    ck_assert_int_eq(imrec_objects_find(NULL, ".bin", &none, &err), IMREC_ERR_ARGUMENT);
}

TEST(no_allocation_that_fails_leaks)
{
    struct imrec_object_options with;
    struct imrec_object *o;
    struct imrec_uris found;
    imrec_object_options_init(&with);
    with.cache = tmp_path(&dir, "cache");
    with.cache_size = (int64_t)CACHE_BYTES_MIN;
    STARVING(memory)
    {
        memory.st = imrec_object_open("counted://a.bin", &with, &o, &err);
        ck_assert(memory.st == IMREC_OK || o == NULL);
        imrec_object_close(o);
    }
    STARVING(memory)
    {
        memory.st = imrec_objects_find(dir.path, ".bin", &found, &err);
        ck_assert(memory.st == IMREC_OK || found.uri == NULL);
        imrec_uris_free(&found);
    }
}
