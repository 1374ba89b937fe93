/* tests/support/http_proxy/server.h - all that one process holds. */
#ifndef IMREC_TESTS_HTTP_PROXY_SERVER_H
#define IMREC_TESTS_HTTP_PROXY_SERVER_H

#include "tests/support/http_proxy/settings.h"
#include "tests/support/http_proxy/stats.h"
#include "tests/support/http_proxy/throttle.h"

#include <sys/socket.h>

struct connection;
struct exchange;
struct server {
    struct settings set;
    struct loop loop;
    struct rules rules;
    struct stats stats;
    struct throttle throttle;
    struct watch listening, input;
    struct connection *connections;
    int folder; /* descriptor of --folder */
    unsigned uploads;
    struct exchange *idle; /* connections to the upstream that wait for work */
    struct sockaddr_storage upstream;
    socklen_t upstream_size;
};

bool server_open(struct server *s); /* listens; false: it has printed why not */
int server_port(const struct server *s);
void server_close(struct server *s);
#endif
