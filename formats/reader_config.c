/* formats/reader_config.c - the sections in which CNTK's pages describe a reader, as a tree.
 *
 * Names and values are copied behind the tree's head: each is at least a byte of the text, so
 * with their NULs they need twice its room at most. */
#include "formats/reader_config.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

enum { MAX_DEPTH = 32 };

struct config_tree {
    struct config_node root;
    char text[];
};

struct parser {
    const char *name; /* of the file */
    const char *p, *end, *begin, *line_begin;
    uint32_t line;
    char *room; /* for the next name or value */
    struct imrec_error *err;
};

static void free_nodes(struct config_node *n)
{
    while (n != NULL) {
        struct config_node *next = n->next;
        free_nodes(n->first); /* as deep as MAX_DEPTH */
        imrec_free(n);
        n = next;
    }
}

void config_free(struct config_tree *t)
{
    if (t != NULL)
        free_nodes(t->root.first);
    imrec_free(t);
}

const struct config_node *config_root(const struct config_tree *t)
{
    return &t->root;
}

/* ---- bytes ------------------------------------------------------------------------------- */

static char peek(const struct parser *p)
{
    return p->p < p->end ? *p->p : '\0';
}

static void step(struct parser *p)
{
    if (*p->p++ == '\n') {
        p->line++;
        p->line_begin = p->p;
    }
}

static const char *keep(struct parser *p, const char *from, const char *to)
{
    char *kept = p->room;
    memcpy(kept, from, (size_t)(to - from));
    kept[to - from] = '\0';
    p->room += to - from + 1;
    return kept;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static enum imrec_status expected(const struct parser *p, const char *what)
{
    const char c = peek(p);
    char found[24] = "the end of the text";
    if (c != '\0') {
        memcpy(found, "'?'", 4);
        if (c >= ' ' && c < 127)
            found[1] = c;
    }
    if (c == '\n')
        memcpy(found, "the line's end", 15);
    return imrec_error_at(p->err, IMREC_ERR_ARGUMENT, (uint64_t)(p->p - p->begin),
                          "%s: line %u, column %u: %s expected, but %s found", p->name, p->line,
                          (unsigned)(p->p - p->line_begin) + 1, what, found);
}

static bool is_elision(const struct parser *p)
{
    const char *at = p->p;
    if (p->end - at < 3 || memcmp(at, "...", 3) != 0)
        return false;
    while (at < p->end && (*at == '.' || is_blank(*at)))
        at++;
    return at == p->end || *at == '\n';
}

static void skip_line(struct parser *p)
{
    while (peek(p) != '\n' && peek(p) != '\0')
        step(p);
}

/* Blanks, comments, elisions, line ends and ';', and in an array ','. */
static void skip_space(struct parser *p, bool array)
{
    for (;;) {
        const char c = peek(p);
        if (is_blank(c) || c == '\n' || c == ';' || (array && c == ','))
            step(p);
        else if (c == '#' || is_elision(p))
            skip_line(p);
        else
            return;
    }
}

/* ---- tokens ------------------------------------------------------------------------------ */

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || (unsigned char)c >= 0x80;
}

static enum imrec_status read_name(struct parser *p, const char **out)
{
    const char *begin = p->p;
    while (is_name_byte(peek(p)))
        step(p);
    if (p->p == begin)
        return expected(p, "a name");
    *out = keep(p, begin, p->p);
    while (is_blank(peek(p)))
        step(p);
    if (peek(p) != '=')
        return expected(p, "'=' behind the name");
    step(p);
    return IMREC_OK;
}

static enum imrec_status read_quoted(struct parser *p, const char **out)
{
    const char quote = peek(p);
    step(p);
    const char *begin = p->p;
    while (peek(p) != quote) {
        if (peek(p) == '\n' || peek(p) == '\0')
            return expected(p, "the quote that ends a text");
        step(p);
    }
    *out = keep(p, begin, p->p);
    step(p);
    return IMREC_OK;
}

static bool ends_word(char c, bool array)
{
    return c == '\0' || c == '\n' || c == ';' || c == '#' || c == ']' || c == '}' || c == ')' ||
           (array && c == ',');
}

static enum imrec_status read_word(struct parser *p, bool array, const char **out)
{
    const char *begin = p->p;
    while (!ends_word(peek(p), array))
        step(p);
    const char *end = p->p;
    while (end > begin && is_blank(end[-1]))
        end--;
    if (end == begin)
        return expected(p, "a value");
    *out = keep(p, begin, end);
    return IMREC_OK;
}

/* ---- the tree ---------------------------------------------------------------------------- */

static enum imrec_status
read_list(struct parser *p, struct config_node *into, char closing, uint32_t depth);

static enum imrec_status
read_value(struct parser *p, struct config_node *n, bool array, uint32_t depth)
{
    while (is_blank(peek(p)))
        step(p);
    const char c = peek(p);
    const char closing = c == '[' ? ']' : c == '{' ? '}' : c == '(' ? ')' : '\0';
    if (c == '"' || c == '\'')
        return read_quoted(p, &n->text);
    if (closing == '\0')
        return read_word(p, array, &n->text);
    n->kind = c == '(' ? CONFIG_ARRAY : CONFIG_SECTION;
    step(p);
    return read_list(p, n, closing, depth + 1);
}

static enum imrec_status
read_entry(struct parser *p, struct config_node *n, bool array, uint32_t depth)
{
    n->line = p->line;
    if (!array)
        IMREC_TRY(read_name(p, &n->name));
    return read_value(p, n, array, depth);
}

static enum imrec_status
read_list(struct parser *p, struct config_node *into, char closing, uint32_t depth)
{
    const bool array = into->kind == CONFIG_ARRAY;
    struct config_node **last = &into->first;
    if (depth > MAX_DEPTH)
        return imrec_error_at(p->err, IMREC_ERR_LIMIT, (uint64_t)(p->p - p->begin),
                              "%s: line %u: sections more than %d deep", p->name, p->line,
                              MAX_DEPTH);
    for (skip_space(p, array); peek(p) != closing; skip_space(p, array)) {
        struct config_node *n = imrec_zalloc(1, sizeof(*n));
        if (n == NULL)
            return imrec_error_at(p->err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                                  "%s: no memory for a configuration", p->name);
        n->name = n->text = "";
        *last = n; /* the tree owns it, also when it is half read */
        last = &n->next;
        IMREC_TRY(read_entry(p, n, array, depth));
    }
    if (closing != '\0')
        step(p);
    return IMREC_OK;
}

enum imrec_status
config_parse(const char *name, struct bytes text, struct config_tree **out, struct imrec_error *err)
{
    *out = NULL;
    if (text.n > READER_CONFIG_MAX_BYTES)
        return imrec_error_at(err, IMREC_ERR_LIMIT, IMREC_NO_OFFSET,
                              "%s: a configuration of %zu bytes; the limit is %zu", name, text.n,
                              READER_CONFIG_MAX_BYTES);
    const void *nul = text.n > 0 ? memchr(text.p, 0, text.n) : NULL;
    if (nul != NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, (uint64_t)((const uint8_t *)nul - text.p),
                              "%s: byte %zu is NUL; a configuration is text", name,
                              (size_t)((const uint8_t *)nul - text.p));
    struct config_tree *t = imrec_zalloc(1, sizeof(*t) + 2 * text.n + 2);
    if (t == NULL)
        return imrec_error_at(err, IMREC_ERR_NO_MEMORY, IMREC_NO_OFFSET,
                              "%s: no memory for a configuration", name);
    const char *begin = text.n > 0 ? (const char *)text.p : "";
    t->root = (struct config_node){.kind = CONFIG_SECTION, .line = 1, .name = "", .text = ""};
    struct parser p = {name, begin, begin + text.n, begin, begin, 1, t->text, err};
    if (text.n >= 3 && memcmp(begin, "\xEF\xBB\xBF", 3) == 0)
        p.p += 3;
    const enum imrec_status st = read_list(&p, &t->root, '\0', 0);
    if (st != IMREC_OK)
        config_free(t);
    else
        *out = t;
    return st;
}

/* ---- names ------------------------------------------------------------------------------- */

static char next_letter(const char **s)
{
    while (**s == '_' || **s == '-')
        ++*s;
    const char c = **s;
    if (c != '\0')
        ++*s;
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool config_same_name(const char *a, const char *b)
{
    for (;;) {
        const char x = next_letter(&a), y = next_letter(&b);
        if (x != y)
            return false;
        if (x == '\0')
            return true;
    }
}

const struct config_node *config_find(const struct config_node *section, const char *name)
{
    for (const struct config_node *n = section->first; n != NULL; n = n->next)
        if (config_same_name(n->name, name))
            return n;
    return NULL;
}
