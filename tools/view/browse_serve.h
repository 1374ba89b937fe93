/* tools/view/browse_serve.h - a set in a browser, until Ctrl-C. */
#ifndef IMREC_TOOLS_VIEW_BROWSE_SERVE_H
#define IMREC_TOOLS_VIEW_BROWSE_SERVE_H

#include "imrec/reader_options.h"

struct browse_serve {
    const char *name;      /* of the command, for messages */
    const char *listen;    /* HOST:PORT or unix:PATH */
    const char *host_name; /* which Host may name, besides addresses and localhost; "": none */
    bool network;          /* addresses that others reach are allowed */
    uint64_t max_records;
    bool as_json; /* what is said of it on stdout */
    const struct imrec_reader_options *reader;
};

/* Returns an exit status. */
int browse_serve(const struct browse_serve *s, const char *uri);
#endif
