/* tools/top/top_fetch.h - the text of a loader's metrics, from where metrics= has put it. */
#ifndef IMREC_TOOLS_TOP_TOP_FETCH_H
#define IMREC_TOOLS_TOP_TOP_FETCH_H

#include "base/buf.h"

#define TOP_TEXT_BYTES ((size_t)1 << 20)

/* FILE, unix:PATH or HOST:PORT, whose host may be a name. *out is filled from its beginning; *at_ns
 * is when the numbers were true: of a file when it was written. A server has 3 seconds. */
IMREC_NODISCARD enum imrec_status
top_fetch(const char *where, struct buf *out, uint64_t *at_ns, struct imrec_error *err);
/* Whether it is a file, which is renewed every 5 seconds. */
bool top_is_file(const char *where);
uint64_t top_wall_ns(void); /* the clock of *at_ns */
#endif
