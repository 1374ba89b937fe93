/* tests/support/http_proxy/scripted.h - the actions of rules on a request and on its answer. */
#ifndef IMREC_TESTS_HTTP_PROXY_SCRIPTED_H
#define IMREC_TESTS_HTTP_PROXY_SCRIPTED_H

#include "tests/support/http_proxy/connection.h"

/* Changes the request; the handler that answers it here, or NULL: the folder or the upstream. */
const struct handler *scripted_request(struct connection *c);
/* Changes the head of an answer and says where its body breaks. */
void scripted_answer(struct connection *c);
#endif
