/* tests/support/tmp_socket.h - a name in a folder that is no file. */
#ifndef IMREC_TESTS_TMP_SOCKET_H
#define IMREC_TESTS_TMP_SOCKET_H

#include "tests/support/tmpdir.h"

#include <check.h>
#include <sys/socket.h>
#include <sys/un.h>

static inline void tmp_socket(const struct tmpdir *dir, const char *name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", tmp_path(dir, name));
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    close(fd);
}
#endif
