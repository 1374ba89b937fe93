/* formats/ctf/reader_config.h - a CNTK configuration, or the sections of one that describe a
 * reader, as a tree.
 *
 *     document = {entry}          entries are separated by line ends, ';' or ','
 *     entry    = name '=' value
 *     value    = '[' {entry} ']' | '{' {entry} '}' | '(' {value} ')' | '"' text '"' | word
 *
 * '#' at the beginning of a line or after a blank begins a comment, as do "//" and a slash with a
 * star where an entry may begin. Quoted text is taken literally: a backslash is a backslash, as in
 * the path of a Windows file. A word ends at a line's end, ';', ',', a comment or a closing
 * bracket, without the blanks around it. Values of an array are separated by line ends, ';', ',' or
 * ':'. A line of dots alone is an elision, as in CNTK's documentation.
 *
 * A section whose name ends in "reader" has to follow this grammar. Other sections are CNTK's own
 * (its trainer, its network in BrainScript): brackets and quotes in them have to be paired, and
 * what is not an entry is skipped. The same holds at the top of a document that has such a section
 * or the entry `command`, a whole configuration; at the top of any other document it is an error.
 */
#ifndef IMREC_FORMATS_CTF_READER_CONFIG_H
#define IMREC_FORMATS_CTF_READER_CONFIG_H

#include "base/bytes.h"
#include "imrec/error.h"

#define READER_CONFIG_MAX_BYTES ((size_t)1 << 20)

enum config_kind { CONFIG_TEXT, CONFIG_SECTION, CONFIG_ARRAY };

struct config_node {
    enum config_kind kind;
    uint32_t line;                    /* of its name (in an array: of its value), from 1 */
    const char *name;                 /* "" in an array */
    const char *text;                 /* CONFIG_TEXT; else "" */
    struct config_node *first, *next; /* entries in their order; the next neighbour */
};

struct config_tree;

/* Reads a whole text. An error names `name`, line and column, and the expected text. */
IMREC_NODISCARD enum imrec_status config_parse(const char *name, struct bytes text,
                                               struct config_tree **out, struct imrec_error *err);
/* A section without a name that holds the document's entries. */
const struct config_node *config_root(const struct config_tree *t);
/* Whether it is a whole configuration, of which a reader is only a part. */
bool config_is_whole(const struct config_tree *t);
/* Whether a section describes a reader, by its name: reader, cvReader, ... */
bool config_is_reader(const struct config_node *n);
void config_free(struct config_tree *t); /* NULL is allowed */

/* The entry called `name`, without case, '_' and '-', or NULL. */
const struct config_node *config_find(const struct config_node *section, const char *name);
/* Whether two names are the same but for case, '_' and '-'. */
bool config_same_name(const char *a, const char *b);
#endif
