/* tests/support/suite.c - main() of every test program: its tests in the order of its file. */
#include "tests/support/suite.h"

#include <string.h>

enum { SKIPPED = 77 }; /* for ctest: something that all tests need is not here */

static struct suite_case unnamed, *first_case = &unnamed, *last_case = &unnamed;

void suite_add_case(struct suite_case *c)
{
    last_case = last_case->next = c;
}

void suite_add_test(struct suite_test *t)
{
    struct suite_test **last = last_case->last != NULL ? last_case->last : &last_case->first;
    *last = t;
    last_case->last = &t->next;
}

static void add(Suite *s, const struct suite_case *c, const char *name)
{
    TCase *tc = tcase_create(name);
    if (c->timeout > 0)
        tcase_set_timeout(tc, c->timeout);
    if (c->setup != NULL || c->teardown != NULL)
        tcase_add_checked_fixture(tc, c->setup, c->teardown);
    if (c->all_setup != NULL || c->all_teardown != NULL)
        tcase_add_unchecked_fixture(tc, c->all_setup, c->all_teardown);
    for (const struct suite_test *t = c->first; t != NULL; t = t->next)
        t->add(tc);
    suite_add_tcase(s, tc);
}

static int run(Suite *s)
{
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : "tests";
    Suite *s = suite_create(name);
    bool any = false;
    for (struct suite_case *c = first_case; c != NULL; c = c->next) {
        if (c->first == NULL || (c->begin != NULL && !c->begin())) {
            c->end = NULL;
            continue;
        }
        add(s, c, name);
        any = true;
    }
    const int status = run(s);
    for (struct suite_case *c = first_case; c != NULL; c = c->next)
        if (c->end != NULL)
            c->end();
    return any ? status : SKIPPED;
}
