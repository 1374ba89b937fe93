/* base/plugin.h - what a user plugs in, called by a word: NAME or NAME(params) of a registered
 * one, PATH:NAME or PATH:NAME(params) of a symbol in a shared library. */
#ifndef IMREC_BASE_PLUGIN_H
#define IMREC_BASE_PLUGIN_H

#include "base/threads.h"

enum { PLUGIN_WORDS = 16, PLUGIN_MOST = 64 };

struct plugin_kind {
    const char *option;       /* that has the word: "aug_seq" */
    const char *noun, *a;     /* "augmenter", "an" */
    const char *macro, *rest; /* "IMREC_AUGMENTER", ", function": how one is defined */
    const char *header;       /* that says what a definition is */
    uint32_t magic, abi;      /* a definition begins with them */
    size_t bytes;             /* of a definition, at most 8 * PLUGIN_WORDS */
    const char *const *taken; /* names that cannot be registered; NULL at the end */
};

struct plugin {
    char name[64];    /* or the symbol's */
    char params[256]; /* "" where none are given */
    void *user;       /* of the registration */
    uint64_t definition[PLUGIN_WORDS];
};

struct plugin_table { /* of one kind; nothing is ever taken out */
    const struct plugin_kind *kind;
    struct mutex lock;
    struct plugin entry[PLUGIN_MOST];
    uint32_t count;
};

IMREC_NODISCARD enum imrec_status plugin_register(struct plugin_table *t, const char *name,
                                                  const void *definition, void *user,
                                                  struct imrec_error *err);

/* A registered name, or one that only a library or parameters can be meant by. */
bool plugin_is_known(struct plugin_table *t, const char *item, size_t n);

/* `item` is n bytes. A library that was found is never unloaded. */
IMREC_NODISCARD enum imrec_status plugin_find(struct plugin_table *t, const char *item, size_t n,
                                              struct plugin *out, struct imrec_error *err);

/* What a callback of p said of its failure, with its kind and name before it. END is no failure's
 * name. */
IMREC_NODISCARD enum imrec_status plugin_blame(const struct plugin_kind *k, const struct plugin *p,
                                               enum imrec_status st, struct imrec_error *why,
                                               struct imrec_error *err);
#endif
