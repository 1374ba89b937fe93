/* formats/set/class_list.c - names of classes: by number an array, by name a sorted one. */
#include "formats/set/class_list.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"

#include <inttypes.h>
#include <string.h>

struct class_entry { /* of the text: it may move while it grows */
    size_t at, n;
};

struct bytes class_list_name(const struct class_list *l, uint32_t number)
{
    return (struct bytes){l->text.p + l->entries[number].at, l->entries[number].n};
}

static const char *why_not(struct bytes name)
{
    if (name.n == 0)
        return "is empty";
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] == '\t' || name.p[i] == '\n' || name.p[i] == '\r' || name.p[i] == '\0')
            return "holds a tab, a line end or a NUL";
    return text_is_utf8(name) ? NULL : "is not UTF-8";
}

enum imrec_status class_list_add(struct class_list *l, struct bytes name, struct imrec_error *err)
{
    const char *why = why_not(name);
    if (why != NULL)
        return IMREC_REFUSE(err, "the name of class %u, %s, %s", l->count, text_quote(name).s, why);
    if (l->count == CLASS_LIST_MAX)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "more than %u classes: a label of 32 bits cannot number them",
                          CLASS_LIST_MAX);
    if (!IMREC_GROW(l->entries, l->cap, l->count + 1u))
        return IMREC_NO_MEMORY(err, "no memory for %u classes", l->count + 1);
    l->text.max = SIZE_MAX / 4;
    const size_t at = l->text.n;
    IMREC_TRY(buf_append(&l->text, name.p, name.n, err));
    l->entries[l->count++] = (struct class_entry){at, name.n};
    imrec_free(l->sorted);
    l->sorted = NULL;
    return IMREC_OK;
}

static int compare(struct bytes a, struct bytes b)
{
    const size_t both = a.n < b.n ? a.n : b.n;
    const int order = both != 0 ? memcmp(a.p, b.p, both) : 0;
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

/* Lets the entry at `root` sink in the heap of n. Sorting in place: qsort() has no context to
 * find the names by, and some take memory that no limit knows of. */
static void sink(const struct class_list *l, uint32_t root, uint32_t n)
{
    for (uint32_t child; (child = 2 * root + 1) < n; root = child) {
        uint32_t *s = l->sorted;
        if (child + 1 < n &&
            compare(class_list_name(l, s[child]), class_list_name(l, s[child + 1])) < 0)
            child++;
        if (compare(class_list_name(l, s[root]), class_list_name(l, s[child])) >= 0)
            return;
        const uint32_t moved = s[root];
        s[root] = s[child];
        s[child] = moved;
    }
}

static void sort(struct class_list *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        l->sorted[i] = i;
    for (uint32_t i = l->count / 2; i-- > 0;)
        sink(l, i, l->count);
    for (uint32_t n = l->count; n > 1; n--) {
        const uint32_t largest = l->sorted[0];
        l->sorted[0] = l->sorted[n - 1];
        l->sorted[n - 1] = largest;
        sink(l, 0, n - 1);
    }
}

/* The earliest number whose name an earlier one has; count: none has. *first is the other. */
static uint32_t duplicate(const struct class_list *l, uint32_t *first)
{
    uint32_t found = l->count;
    for (uint32_t i = 1; i < l->count; i++) {
        const uint32_t a = l->sorted[i - 1], b = l->sorted[i], later = a < b ? b : a;
        if (later < found && compare(class_list_name(l, a), class_list_name(l, b)) == 0) {
            found = later;
            *first = a < b ? a : b;
        }
    }
    return found;
}

/* The list sorted; *again < count: that name was there before, as *first. */
static enum imrec_status
seal(struct class_list *l, uint32_t *again, uint32_t *first, struct imrec_error *err)
{
    imrec_free(l->sorted);
    l->sorted = imrec_realloc(NULL, l->count != 0 ? l->count : 1, sizeof(*l->sorted));
    if (l->sorted == NULL)
        return IMREC_NO_MEMORY(err, "no memory for %u classes", l->count);
    sort(l);
    *again = duplicate(l, first);
    return IMREC_OK;
}

enum imrec_status
class_list_add_all(struct class_list *l, const struct class_list *other, struct imrec_error *err)
{
    for (uint32_t i = 0; i < other->count; i++)
        IMREC_TRY(class_list_add(l, class_list_name(other, i), err));
    return IMREC_OK;
}

enum imrec_status class_list_seal(struct class_list *l, struct imrec_error *err)
{
    uint32_t again, first = 0;
    IMREC_TRY(seal(l, &again, &first, err));
    if (again == l->count)
        return IMREC_OK;
    return IMREC_REFUSE(err, "classes %u and %u are both called %s", first, again,
                        text_quote(class_list_name(l, again)).s);
}

static enum imrec_status
read_lines(const char *name, struct bytes text, struct class_list *out, struct imrec_error *err)
{
    struct text_lines lines;
    struct bytes line;
    uint32_t again, first = 0;
    for (text_lines_begin(&lines, text, 0, 0); text_lines_next(&lines, &line);) {
        const char *why = why_not(line);
        if (why != NULL)
            return imrec_error_at(err, IMREC_ERR_CORRUPT, lines.offset,
                                  "%s line %" PRIu64 ": the name of a class %s: %s", name,
                                  lines.number, why, text_quote(line).s);
        IMREC_TRY(class_list_add(out, line, err));
    }
    IMREC_TRY(seal(out, &again, &first, err));
    if (again == out->count)
        return IMREC_OK;
    return imrec_fail(err, IMREC_ERR_CORRUPT, "%s line %u: class %s is already on line %u", name,
                      again + 1, text_quote(class_list_name(out, again)).s, first + 1);
}

enum imrec_status class_list_read(const char *name, struct bytes text, struct class_list *out,
                                  struct imrec_error *err)
{
    *out = (struct class_list){0};
    const enum imrec_status st = read_lines(name, text, out, err);
    if (st != IMREC_OK)
        class_list_free(out);
    return st;
}

enum imrec_status
class_list_write(const struct class_list *l, struct buf *out, struct imrec_error *err)
{
    const size_t before = out->n;
    enum imrec_status st = IMREC_OK;
    for (uint32_t i = 0; i < l->count && st == IMREC_OK; i++) {
        const struct bytes name = class_list_name(l, i);
        st = buf_append(out, name.p, name.n, err);
        if (st == IMREC_OK)
            st = buf_append(out, "\n", 1, err);
    }
    if (st != IMREC_OK)
        out->n = before;
    return st;
}

bool class_list_find(const struct class_list *l, struct bytes name, uint32_t *number)
{
    uint32_t lo = 0, hi = l->count;
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        const int order = compare(class_list_name(l, l->sorted[mid]), name);
        if (order == 0) {
            *number = l->sorted[mid];
            return true;
        }
        lo = order < 0 ? mid + 1 : lo;
        hi = order < 0 ? hi : mid;
    }
    return false;
}

void class_list_free(struct class_list *l)
{
    buf_free(&l->text);
    IMREC_FREE(l->entries, l->sorted);
    *l = (struct class_list){0};
}
