/* tests/support/proxy_pair.h - a folder with a file, a server of it, and a proxy before that. */
#ifndef IMREC_TESTS_PROXY_PAIR_H
#define IMREC_TESTS_PROXY_PAIR_H

#include "tests/support/http_proxy.h"
#include "tests/support/http_wire.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

enum { FILE_BYTES = 200000 };

static struct tmpdir dir;
static struct proxy *origin, *front;
static char content[FILE_BYTES];

static inline void pair_start(void)
{
    char upstream[64];
    dir = tmpdir_make();
    for (int i = 0; i < FILE_BYTES; i++)
        content[i] = (char)("0123456789abcdef"[i % 16] ^ (i / 4096 & 15));
    tmp_write(&dir, "file", content, sizeof(content));
    origin = proxy_start(dir.path, "--writable", NULL);
    snprintf(upstream, sizeof(upstream), "127.0.0.1:%d", origin->port);
    front = proxy_start(NULL, "--upstream", upstream, NULL);
}

static inline void pair_stop(void)
{
    proxy_stop(front);
    proxy_stop(origin);
    tmpdir_remove(&dir);
}

static inline struct raw_answer get(const struct proxy *p, const char *target, const char *fields)
{
    return raw_ask(p->port, "GET", target, fields, NULL);
}

/* Sends a request and keeps the connection. */
static inline struct raw_answer
on(int fd, const char *method, const char *target, const char *fields)
{
    char head[1024];
    snprintf(head, sizeof(head), "%s %s HTTP/1.1\r\nHost: test\r\n%s\r\n", method, target, fields);
    raw_send(fd, head);
    return raw_read(fd, strcmp(method, "HEAD") == 0, 60000);
}
#endif
