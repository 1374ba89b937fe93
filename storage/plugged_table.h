/* storage/plugged_table.h - the stores that a user has registered, and who is using them. */
#ifndef IMREC_STORAGE_PLUGGED_TABLE_H
#define IMREC_STORAGE_PLUGGED_TABLE_H

#include "imrec/store.h"

#define PLUGGED_SCHEME_BYTES 31

struct plugged { /* never changed while somebody uses it */
    struct imrec_store calls;
    void *user;
    uint64_t users; /* of the table: calls, and what they opened */
    char scheme[PLUGGED_SCHEME_BYTES + 1];
};

/* Whether the n bytes of a URI before "://" are a registered scheme. */
bool plugged_is_known(const char *uri, size_t n);
/* The store of a URI until plugged_release(), and the name in it. IMREC_ERR_UNSUPPORTED: it is no
 * longer registered. */
IMREC_NODISCARD enum imrec_status
plugged_use(const char *uri, struct plugged **out, const char **name, struct imrec_error *err);
void plugged_release(struct plugged *p);
/* What a function of p said of its failure, with its URI in front of it. */
enum imrec_status plugged_blame(const struct plugged *p, const char *name, const char *call,
                                enum imrec_status st, struct imrec_error *why,
                                struct imrec_error *err);
#endif
