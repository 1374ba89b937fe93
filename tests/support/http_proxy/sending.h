/* tests/support/http_proxy/sending.h - an answer on its way to the client. */
#ifndef IMREC_TESTS_HTTP_PROXY_SENDING_H
#define IMREC_TESTS_HTTP_PROXY_SENDING_H

#include "tests/support/http_proxy/connection.h"

/* Sends until the socket, the bandwidth, the source or a rule says to wait. Only in
 * STAGE_SENDING; ends with connection_done() or connection_reset() where the answer does. */
void connection_send(struct connection *c);
#endif
