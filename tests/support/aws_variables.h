/* tests/support/aws_variables.h - an environment in which AWS's tools would find nothing, and
 * variables in it. */
#ifndef IMREC_TESTS_AWS_VARIABLES_H
#define IMREC_TESTS_AWS_VARIABLES_H

#include "tests/support/tmpdir.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

static inline void aws_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        _exit(99);
}

/* Takes all out that begins with AWS_, proxies too, and makes `home` the home folder. */
static inline void aws_variables_forget(const char *home)
{
    char name[256];
    for (char **e = environ; *e != NULL;) {
        const size_t n = strcspn(*e, "=");
        if (strncmp(*e, "AWS_", 4) != 0 || n >= sizeof(name)) {
            e++;
            continue;
        }
        memcpy(name, *e, n);
        name[n] = '\0';
        unsetenv(name);
        e = environ;
    }
    static const char *const proxies[] = {"http_proxy", "all_proxy", "ALL_PROXY", "no_proxy",
                                          "NO_PROXY"};
    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++)
        unsetenv(proxies[i]);
    aws_variable("HOME", home);
    aws_variable("AWS_EC2_METADATA_DISABLED", "true");
}
#endif
