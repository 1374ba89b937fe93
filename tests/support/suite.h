/* tests/support/suite.h - the end of every test program with one suite. */
#ifndef IMREC_TESTS_SUITE_H
#define IMREC_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/* CK_VERBOSITY, CK_FORK and CK_TAP_LOG_FILE_NAME come from outside. */
static inline int suite_run(Suite *s)
{
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    const int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
#endif
