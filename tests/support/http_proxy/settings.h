/* tests/support/http_proxy/settings.h - the command line. */
#ifndef IMREC_TESTS_HTTP_PROXY_SETTINGS_H
#define IMREC_TESTS_HTTP_PROXY_SETTINGS_H

#include "tests/support/http_proxy/rules.h"

struct settings {
    const char *folder, *upstream; /* one of them */
    int port;                      /* 0: a free one */
    int64_t delay_ms, connect_delay_ms, bandwidth;
    bool writable, until_eof;
};

/* -1: run. Otherwise the exit status; usage or what is wrong was printed. */
int settings_read(struct settings *s, struct rules *rules, int argc, char **argv);
#endif
