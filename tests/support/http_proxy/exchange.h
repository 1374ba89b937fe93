/* tests/support/http_proxy/exchange.h - a connection to the upstream, lent to one request at a
 * time. */
#ifndef IMREC_TESTS_HTTP_PROXY_EXCHANGE_H
#define IMREC_TESTS_HTTP_PROXY_EXCHANGE_H

#include "tests/support/http_proxy/connection.h"

#include <sys/types.h>

enum filled { FILLED, FILL_WAITS, FILL_ENDED, FILL_BROKEN };

/* Up to *n body bytes of the upstream's answer into answer.out; *n: how many. FILL_WAITS: it calls
 * connection_send() when there are some. */
enum filled exchange_fill(struct connection *c, size_t *n);
/* Whether the answer can go from socket to socket through a pipe, without a copy. */
bool exchange_is_plain(const struct connection *c);
/* At most `want` bytes into the pipe where it is empty; FILLED: *n bytes are in it. */
enum filled exchange_pump(struct connection *c, size_t want, size_t *n);
ssize_t
exchange_drain(struct connection *c, size_t n); /* from the pipe to the client, as splice() */
void exchange_release(struct connection *c);    /* the request is over, or given up */
bool exchange_resolve(struct server *s); /* the address of --upstream; false: it printed why not */
void exchange_close_idle(struct server *s);
#endif
