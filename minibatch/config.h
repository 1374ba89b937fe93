/* minibatch/config.h - the options of a minibatch source, out of text. */
#ifndef IMREC_MINIBATCH_CONFIG_H
#define IMREC_MINIBATCH_CONFIG_H

#include "base/param.h"
#include "base/string_arena.h"
#include "imrec/minibatch.h"

extern const struct param minibatch_params[], deserializer_params[];

struct config_variable { /* "NAME=VALUE", as imrec_minibatch_config_define() has it */
    const char *name, *value;
    bool used; /* a value referred to it, or a document has it */
    struct config_variable *next;
};

struct imrec_minibatch_config {
    struct imrec_minibatch_options options;
    struct imrec_deserializer common; /* of the files to come */
    struct imrec_deserializer *files;
    uint64_t room;              /* of files */
    struct imrec_stream *loose; /* streams described before any file */
    uint32_t loose_streams;
    const char *action; /* which reader of a document; "": its only one */
    bool any_file;      /* `file` of a document does not matter */
    struct config_variable *variable;
    struct string_arena kept; /* text that all of it points to */
};

/* config.c: what config_document.c builds on. d: the file that a key is of, or NULL: of all. */
IMREC_NODISCARD enum imrec_status config_keep(struct imrec_minibatch_config *c, const char *text,
                                              size_t n, const char **out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
config_set_key(struct imrec_minibatch_config *c, struct imrec_deserializer *d, bool of_file_only,
               const char *key, const char *text, struct imrec_error *err);
/* action=ACTION: which reader of a configuration is read. */
IMREC_NODISCARD enum imrec_status
config_choose_reader(struct imrec_minibatch_config *c, const char *action, struct imrec_error *err);
/* Whether config_set_key() knows a key. */
bool config_knows(const char *key);
IMREC_NODISCARD enum imrec_status config_add_file(struct imrec_minibatch_config *c,
                                                  struct imrec_deserializer **out,
                                                  struct imrec_error *err);
struct imrec_stream *config_find_stream(const struct imrec_stream *s, uint32_t n, const char *name);
/* The stream called name[0..n) of d (NULL: of no file yet), a new one where there is none. */
IMREC_NODISCARD enum imrec_status
config_stream(struct imrec_minibatch_config *c, struct imrec_deserializer *d, const char *name,
              size_t n, struct imrec_stream **out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status config_set_of_stream(struct imrec_minibatch_config *c,
                                                       struct imrec_stream *s, const char *key,
                                                       const char *text, struct imrec_error *err);
#endif
