/* formats/set/class_list.h - classes: one name a line, its number the line's, from 0.
 * docs/formats/class_list.md is the specification. */
#ifndef IMREC_FORMATS_SET_CLASS_LIST_H
#define IMREC_FORMATS_SET_CLASS_LIST_H

#include "base/buf.h"
#include "base/bytes.h"
#include "imrec/error.h"

/* A label is a float, which has every whole number up to this one. */
#define CLASS_LIST_MAX (1u << 24)

struct class_entry;
struct class_list { /* zeroed memory is an empty list; owns copies of the names */
    struct buf text;
    struct class_entry *entries; /* by number */
    uint32_t *sorted;            /* numbers by name; NULL until class_list_seal() */
    uint32_t count;
    uint64_t cap;
};

/* Appends a name, which gets the next number. A name that is empty, not UTF-8, or holds a tab, a
 * line end or a NUL is IMREC_ERR_ARGUMENT; more than CLASS_LIST_MAX are IMREC_ERR_LIMIT. */
IMREC_NODISCARD enum imrec_status
class_list_add(struct class_list *l, struct bytes name, struct imrec_error *err);
/* Appends the names of another list. */
IMREC_NODISCARD enum imrec_status
class_list_add_all(struct class_list *l, const struct class_list *other, struct imrec_error *err);
/* After the last name: makes class_list_find() work. Two equal names are IMREC_ERR_ARGUMENT. */
IMREC_NODISCARD enum imrec_status class_list_seal(struct class_list *l, struct imrec_error *err);

/* Reads and seals a whole file; `name` is the file's, for messages, which name the line. On
 * failure *out is empty. */
IMREC_NODISCARD enum imrec_status class_list_read(const char *name, struct bytes text,
                                                  struct class_list *out, struct imrec_error *err);
IMREC_NODISCARD enum imrec_status
class_list_write(const struct class_list *l, struct buf *out, struct imrec_error *err);

struct bytes class_list_name(const struct class_list *l, uint32_t number); /* number < count */
/* False: no such class. The list is sealed. */
bool class_list_find(const struct class_list *l, struct bytes name, uint32_t *number);
void class_list_free(struct class_list *l);
#endif
