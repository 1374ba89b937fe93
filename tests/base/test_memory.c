/* Memory: what is counted and refused, buffers that know their ceiling, texts that never move,
 * rooms that grow. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/reuse_buffer.h"
#include "base/string_arena.h"
#include "tests/support/suite.h"

#include <string.h>

static void teardown(void)
{
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

CASE(.teardown = teardown)

TEST(blocks_are_counted_and_zeroed_and_sizes_never_overflow)
{
    char *p = imrec_zalloc(10, 10), *q = imrec_realloc(NULL, 1, 1);
    ck_assert_int_eq(imrec_alloc_live(), 2);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(p[i], 0);
    q = imrec_realloc(q, 3, 100);
    ck_assert_int_eq(imrec_alloc_live(), 2);
    ck_assert_ptr_null(imrec_realloc(NULL, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(imrec_zalloc(SIZE_MAX / 2, 3));
    ck_assert_ptr_null(imrec_realloc(NULL, 0, 3));
    imrec_free(p);
    imrec_free(q);
    imrec_free(NULL);
}

TEST(the_request_that_is_to_fail_fails_alone)
{
    void *p[4];
    imrec_alloc_fail_after(2);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(imrec_alloc_has_failed(), i == 3);
        p[i] = imrec_realloc(NULL, 1, 8);
        ck_assert_int_eq(p[i] == NULL, i == 2);
    }
    imrec_alloc_fail_after(-1);
    imrec_alloc_fail_above(100);
    ck_assert_ptr_null(imrec_realloc(NULL, 1, 101));
    p[2] = imrec_realloc(NULL, 1, 100);
    ck_assert_ptr_nonnull(p[2]);
    imrec_alloc_fail_above(0);
    for (int i = 0; i < 4; i++)
        imrec_free(p[i]);
}

TEST(a_buffer_ends_at_its_ceiling_and_keeps_what_it_has)
{
    struct buf b = BUF_INIT(1000);
    struct imrec_error err;
    char bytes[1000];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)(i * 7);
    ck_assert_int_eq(buf_append(&b, NULL, 0, &err), IMREC_OK);
    for (size_t n = 0; n < 1000; n += 10) {
        ck_assert_int_eq(buf_append(&b, bytes + n, 10, &err), IMREC_OK);
        ck_assert(b.n == n + 10 && b.cap >= b.n);
        if (n == 490)
            ck_assert_int_eq(buf_append(&b, bytes, 501, &err), IMREC_ERR_LIMIT);
    }
    ck_assert_int_eq(buf_append(&b, bytes, 1, &err), IMREC_ERR_LIMIT);
    ck_assert_uint_eq(b.n, 1000);
    ck_assert_mem_eq(b.p, bytes, 1000);
    buf_free(&b);
    ck_assert(b.p == NULL && b.n == 0 && b.cap == 0 && b.max == 1000);
}

TEST(a_buffer_takes_what_is_reserved_without_another_request)
{
    struct buf b = BUF_INIT(1000);
    struct imrec_error err;
    char bytes[700] = {0};
    ck_assert_int_eq(buf_reserve(&b, 1001, &err), IMREC_OK); /* append() will say it */
    ck_assert_uint_eq(b.cap, 0);
    ck_assert_int_eq(buf_reserve(&b, 700, &err), IMREC_OK);
    ck_assert_uint_eq(b.cap, 700);
    ck_assert_int_eq(buf_reserve(&b, 699, &err), IMREC_OK);
    ck_assert_uint_eq(b.cap, 700);
    imrec_alloc_fail_after(0);
    ck_assert_int_eq(buf_append(&b, bytes, 700, &err), IMREC_OK);
    ck_assert_int_eq(buf_append(&b, bytes, 1, &err), IMREC_ERR_NO_MEMORY);
    imrec_alloc_fail_after(-1);
    ck_assert_uint_eq(b.n, 700);
    buf_free(&b);
}

TEST(texts_stay_where_they_are_whatever_comes_after)
{
    enum { MANY = 3000, MOST = 999 };
    static char *text[MANY];
    struct string_arena a = {0};
    char bytes[MOST];
    for (int i = 0; i < MANY; i++) {
        memset(bytes, i, sizeof(bytes));
        text[i] = string_arena_put(&a, bytes, (size_t)i % MOST);
        ck_assert(text[i] != NULL && (uintptr_t)text[i] % 4 == 0);
    }
    ck_assert_int_gt(imrec_alloc_live(), 1);
    ck_assert_int_lt(imrec_alloc_live(), 4); /* 1.5 MB in blocks of 1 MiB */
    char *huge = string_arena_put(&a, NULL, 3 << 20);
    memset(huge, 1, 3 << 20);
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < i % MOST; k++)
            ck_assert_int_eq(text[i][k], (char)i);
    string_arena_free(&a);
    ck_assert(a.newest == NULL && a.left == 0);
    imrec_alloc_fail_after(0);
    ck_assert_ptr_null(string_arena_put(&a, "x", 1));
    imrec_alloc_fail_after(-1);
}

TEST(a_room_is_used_again_until_it_is_too_small)
{
    struct reuse_buffer r = {0};
    struct imrec_error err;
    ck_assert_int_eq(reuse_buffer_reserve(&r, 0, 4, "a thing", &err), IMREC_OK);
    ck_assert_ptr_nonnull(r.p);
    for (size_t n = 100; n < 4 << 20; n *= 3) { /* small, and of huge pages */
        ck_assert_int_eq(reuse_buffer_reserve(&r, n, 4, "a thing", &err), IMREC_OK);
        ck_assert_uint_ge(r.bytes, 4 * n);
        memset(r.p, 1, 4 * n);
        const void *before = r.p;
        ck_assert_int_eq(reuse_buffer_reserve(&r, n / 2, 4, "a thing", &err), IMREC_OK);
        ck_assert_ptr_eq(r.p, before);
        ck_assert_int_eq(imrec_alloc_live(), 1);
    }
    ck_assert_int_eq(reuse_buffer_reserve(&r, UINT64_MAX, 4, "a thing", &err), IMREC_ERR_LIMIT);
    ck_assert_int_eq(reuse_buffer_reserve(&r, SIZE_MAX / 2 + 1, 1, "a thing", &err),
                     IMREC_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.message, "a thing of 9223372036854775808 items of 1 bytes"));
    imrec_alloc_fail_after(0);
    ck_assert_int_eq(reuse_buffer_reserve(&r, 64 << 20, 4, "a thing", &err), IMREC_ERR_NO_MEMORY);
    imrec_alloc_fail_after(-1);
    ck_assert(r.p == NULL && r.bytes == 0);
    reuse_buffer_free(&r);
}
