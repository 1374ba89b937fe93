/*
 * tests/support/suite.h - a test program is a file of tests, each named where it stands.
 *
 *     CASE(.timeout = 60, .setup = make, .teardown = forget) // for the tests below it
 *     TEST(a_sentence) { ... }
 *     LOOP_TEST(another, 0, COUNT(rows)) { ... rows[_i] ... }
 *
 * support/suite.c has main(), which runs them in their order. CK_VERBOSITY, CK_FORK and
 * CK_TAP_LOG_FILE_NAME come from outside.
 */
#ifndef IMREC_TESTS_SUITE_H
#define IMREC_TESTS_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

struct suite_case {
    bool (*begin)(void);              /* once, in the program: false leaves the case out */
    void (*end)(void);                /* behind the last test, where begin() was true or is NULL */
    void (*setup)(void);              /* around each test */
    void (*teardown)(void);           /* likewise */
    void (*all_setup)(void);          /* around all tests of the case */
    void (*all_teardown)(void);       /* likewise */
    int timeout;                      /* seconds a test; 0: libcheck's */
    struct suite_case *next;          /* suite.c's, as what follows */
    struct suite_test *first, **last; /* its tests */
};
struct suite_test {
    void (*add)(TCase *); /* once begin() was called */
    struct suite_test *next;
};

void suite_add_case(struct suite_case *c);
void suite_add_test(struct suite_test *t);

#define COUNT(rows) ((int)(sizeof(rows) / sizeof((rows)[0])))

#define SUITE_JOIN_(a, b)   a##b
#define SUITE_JOIN(a, b)    SUITE_JOIN_(a, b)
#define SUITE_AT_START(add) __attribute__((constructor)) static void add

#define CASE(...)                                                                                  \
    SUITE_AT_START(SUITE_JOIN(suite_case_at_, __LINE__)(void))                                     \
    {                                                                                              \
        static struct suite_case c = {__VA_ARGS__};                                                \
        suite_add_case(&c);                                                                        \
    }

#define TEST(name) LOOP_TEST(name, 0, 1)

#define LOOP_TEST(name, from, to)                                                                  \
    static void name##_of(int _i);                                                                 \
    START_TEST(name)                                                                               \
    {                                                                                              \
        name##_of(_i);                                                                             \
    }                                                                                              \
    END_TEST                                                                                       \
    static void name##_added(TCase *c)                                                             \
    {                                                                                              \
        tcase_add_loop_test(c, name, from, to);                                                    \
    }                                                                                              \
    SUITE_AT_START(name##_registered(void))                                                        \
    {                                                                                              \
        static struct suite_test t = {name##_added, NULL};                                         \
        suite_add_test(&t);                                                                        \
    }                                                                                              \
    static void name##_of(int _i CK_ATTRIBUTE_UNUSED)
#endif
