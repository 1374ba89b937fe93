/* formats/ctf/ctf_look.h - finds the inputs of a text that has no description; refuses nothing. */
#ifndef IMREC_FORMATS_CTF_CTF_LOOK_H
#define IMREC_FORMATS_CTF_CTF_LOOK_H

#include "base/bytes.h"
#include "imrec/error.h"

enum { CTF_LOOK_INPUTS = 256, CTF_LOOK_ALIAS = 255 }; /* more, and longer ones, are skipped */

struct ctf_seen {
    char alias[CTF_LOOK_ALIAS + 1];
    bool sparse;      /* the first sample that has values has a colon in the first */
    bool varies;      /* dense: samples have different numbers of values */
    uint64_t samples; /* of them, those with values: */
    uint64_t filled;
    uint64_t width;   /* values of the first one that has some */
    uint64_t largest; /* sparse: index */
};

struct ctf_look {
    struct ctf_seen *input; /* in the order of their first samples */
    uint32_t inputs;
    uint64_t room;
};

/* Whole lines, or the last one without its end. False: no memory. */
IMREC_NODISCARD bool ctf_look_at(struct ctf_look *l, struct bytes piece);
void ctf_look_free(struct ctf_look *l); /* zeroed memory is fine */

/* Whether the first line of a file with this beginning, blank ones aside, is one of such a text: an
 * id or none, then a pipe. */
bool ctf_looks_so(struct bytes begin);
#endif
