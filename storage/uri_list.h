/* storage/uri_list.h - "a.rec;b.rec", a directory, a glob or a range into the list of objects it
 * names. */
#ifndef IMREC_STORAGE_URI_LIST_H
#define IMREC_STORAGE_URI_LIST_H

#include "imrec/error.h"

enum uri_origin {                /* what was given: */
                  URI_NAMED,     /* it itself */
                  URI_IN_FOLDER, /* its folder */
                  URI_MATCHED,   /* a glob */
                  URI_LISTED,    /* a file that names it: for uri_list_add() */
};

struct uri_list {
    char **uri;
    size_t count;
    enum uri_origin *origin; /* of each */
    uint64_t uri_room, origin_room;
};

/* An explicit list keeps its order; a directory means its *SUFFIX files, a glob its matches,
 * both sorted by bytes; a range ("a-{00..31}.rec", storage/uri_range.h) each of its names. An
 * element that names or matches nothing is IMREC_ERR_ARGUMENT and named in the message. */
IMREC_NODISCARD enum imrec_status uri_list_expand(const char *spec, const char *suffix,
                                                  struct uri_list *out, struct imrec_error *err);
/* Appends a copy of a[0..n) and b as one URI. */
IMREC_NODISCARD enum imrec_status uri_list_add(struct uri_list *l, const char *a, size_t n,
                                               const char *b, enum uri_origin origin,
                                               struct imrec_error *err);
void uri_list_free(struct uri_list *l); /* zeroed memory is fine */
#endif
