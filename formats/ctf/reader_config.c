/* formats/ctf/reader_config.c - a CNTK configuration as a tree.
 *
 * Sections are read in two ways: strict, inside readers, and loose elsewhere, where the language
 * has more than this file knows. Names and values are copied after the tree's head: each
 * takes a byte of the text or more, so with their NULs they need at most twice its size. */
#include "formats/ctf/reader_config.h"

#include "base/alloc.h"
#include "base/error.h"
#include "formats/text.h"

#include <string.h>

enum { MAX_DEPTH = 32, MAX_BRACKETS = 256 };

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
    struct imrec_error passed_over; /* the first text at the top that is not an entry; "": none */
};

enum how { LOOSE, STRICT };

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

static bool starts_with(const struct parser *p, const char *two)
{
    return p->end - p->p >= 2 && p->p[0] == two[0] && p->p[1] == two[1];
}

static void skip_line(struct parser *p)
{
    while (peek(p) != '\n' && peek(p) != '\0')
        step(p);
}

/* '#' is part of a word unless it follows a blank, as in CNTK. */
static bool is_comment(const struct parser *p)
{
    const bool apart = p->p == p->line_begin || is_blank(p->p[-1]);
    return peek(p) == '#' && apart;
}

/* A comment of BrainScript, where a value cannot begin. */
static bool skip_slashes(struct parser *p)
{
    if (starts_with(p, "//")) {
        skip_line(p);
        return true;
    }
    if (!starts_with(p, "/*"))
        return false;
    step(p);
    step(p);
    while (peek(p) != '\0' && !starts_with(p, "*/"))
        step(p);
    if (peek(p) != '\0') {
        step(p);
        step(p);
    }
    return true;
}

/* Blanks, comments, elisions, line ends and separators of entries or of values of an array. */
static void skip_space(struct parser *p, bool array)
{
    for (;;) {
        const char c = peek(p);
        if (is_blank(c) || c == '\n' || c == ';' || c == ',' || (array && c == ':'))
            step(p);
        else if (c == '#' || is_elision(p))
            skip_line(p);
        else if (array || !skip_slashes(p))
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
    const char *end = p->p;
    if (end == begin)
        return expected(p, "a name");
    while (is_blank(peek(p)))
        step(p);
    if (peek(p) != '=' || starts_with(p, "=="))
        return expected(p, "'=' after the name");
    *out = keep(p, begin, end);
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

static bool is_closing(char c)
{
    return c == ']' || c == '}' || c == ')';
}

static bool ends_word(const struct parser *p)
{
    const char c = peek(p);
    return c == '\0' || c == '\n' || c == ';' || c == ',' || is_closing(c) || is_comment(p);
}

static void keep_trimmed(struct parser *p, const char *begin, const char **out)
{
    const char *end = p->p;
    while (end > begin && is_blank(end[-1]))
        end--;
    if (end > begin)
        *out = keep(p, begin, end);
}

static enum imrec_status read_word(struct parser *p, const char **out)
{
    const char *begin = p->p;
    while (!ends_word(p))
        step(p);
    keep_trimmed(p, begin, out);
    return **out != '\0' ? IMREC_OK : expected(p, "a value");
}

static char closing_of(char c)
{
    return c == '[' ? ']' : c == '{' ? '}' : c == '(' ? ')' : '\0';
}

/* Over a text in quotes, or over the quote alone where its line has no other. */
static void skip_quoted(struct parser *p)
{
    const char quote = peek(p);
    const char *end = p->p + 1;
    while (end < p->end && *end != '\n' && *end != quote)
        end++;
    p->p = end < p->end && *end == quote ? end + 1 : p->p + 1;
}

/* One byte outside of quotes and comments; the brackets that are open are in `open`. */
static enum imrec_status skip_byte(struct parser *p, char open[MAX_BRACKETS], int *n)
{
    const char c = peek(p), quoted[] = {'\'', *n > 0 ? open[*n - 1] : '\0', '\'', '\0'};
    if (c == '\0' || (is_closing(c) && c != quoted[1]))
        return expected(p, quoted);
    if (closing_of(c) != '\0' && *n == MAX_BRACKETS)
        return imrec_error_at(p->err, IMREC_ERR_LIMIT, (uint64_t)(p->p - p->begin),
                              "%s: line %u: brackets more than %d deep", p->name, p->line,
                              MAX_BRACKETS);
    if (closing_of(c) != '\0')
        open[(*n)++] = closing_of(c);
    *n -= is_closing(c);
    step(p);
    return IMREC_OK;
}

/* Over a piece of another language: to the end of its line, or entry, outside of brackets. */
static enum imrec_status skip_statement(struct parser *p)
{
    const char *begin = p->p;
    char open[MAX_BRACKETS];
    int n = 0;
    while (n > 0 || !ends_word(p)) {
        const bool comment = starts_with(p, "//") || starts_with(p, "/*");
        if (n == 0 && comment && p->p > begin && is_blank(p->p[-1]))
            return IMREC_OK;
        if (is_comment(p))
            skip_line(p);
        else if (peek(p) == '"' || peek(p) == '\'')
            skip_quoted(p);
        else if (n == 0 || !skip_slashes(p))
            IMREC_TRY(skip_byte(p, open, &n));
    }
    return IMREC_OK;
}

/* ---- the tree ---------------------------------------------------------------------------- */

static enum imrec_status
read_list(struct parser *p, struct config_node *into, char closing, enum how how, uint32_t depth);

bool config_is_reader(const struct config_node *n)
{
    static const char end[] = "reader";
    const size_t bytes = strlen(n->name);
    return n->kind == CONFIG_SECTION && bytes >= sizeof(end) - 1 &&
           config_same_name(n->name + bytes - (sizeof(end) - 1), end);
}

/* A word, or an expression with brackets in it; at the top there has to be one. */
static enum imrec_status read_loose_word(struct parser *p, uint32_t depth, const char **out)
{
    const char *begin = p->p;
    IMREC_TRY(skip_statement(p));
    keep_trimmed(p, begin, out);
    return depth > 0 || **out != '\0' ? IMREC_OK : expected(p, "a value");
}

static enum imrec_status
read_value(struct parser *p, struct config_node *n, enum how how, uint32_t depth)
{
    while (is_blank(peek(p)))
        step(p);
    const char c = peek(p);
    if (c == '"' || c == '\'')
        return read_quoted(p, &n->text);
    if (how == LOOSE && c != '[' && c != '{')
        return read_loose_word(p, depth, &n->text);
    if (closing_of(c) == '\0')
        return read_word(p, &n->text);
    n->kind = c == '(' ? CONFIG_ARRAY : CONFIG_SECTION;
    step(p);
    return read_list(p, n, closing_of(c), config_is_reader(n) ? STRICT : how, depth + 1);
}

/* A name and '='. Loose, *none: there is no entry here, and the text was skipped. */
static enum imrec_status
read_key(struct parser *p, struct config_node *n, enum how how, uint32_t depth, bool *none)
{
    const char *begin = p->p;
    struct imrec_error *err = p->err, why = {0};
    if (how == STRICT || peek(p) == '\0' || is_closing(peek(p)))
        return read_name(p, &n->name);
    p->err = &why;
    *none = read_name(p, &n->name) != IMREC_OK;
    p->err = err;
    if (!*none)
        return IMREC_OK;
    if (depth == 0 && p->passed_over.status == IMREC_OK)
        p->passed_over = why;
    p->p = begin;
    return skip_statement(p);
}

/* An entry, or a value of an array, at *last, where there is one. */
static enum imrec_status
read_entry(struct parser *p, struct config_node **last, bool array, enum how how, uint32_t depth)
{
    bool none = false;
    struct config_node *n = imrec_zalloc(1, sizeof(*n));
    if (n == NULL)
        return IMREC_NO_MEMORY(p->err, "%s: no memory for a configuration", p->name);
    *n = (struct config_node){.line = p->line, .name = "", .text = ""};
    *last = n; /* the tree owns it, also when it is half read */
    if (!array)
        IMREC_TRY(read_key(p, n, how, depth, &none));
    if (!none)
        return read_value(p, n, how, depth);
    *last = NULL;
    imrec_free(n);
    return IMREC_OK;
}

static enum imrec_status
read_list(struct parser *p, struct config_node *into, char closing, enum how how, uint32_t depth)
{
    const bool array = into->kind == CONFIG_ARRAY;
    struct config_node **last = &into->first;
    if (depth > MAX_DEPTH)
        return imrec_error_at(p->err, IMREC_ERR_LIMIT, (uint64_t)(p->p - p->begin),
                              "%s: line %u: sections more than %d deep", p->name, p->line,
                              MAX_DEPTH);
    for (skip_space(p, array); peek(p) != closing; skip_space(p, array)) {
        IMREC_TRY(read_entry(p, last, array, how, depth));
        last = *last != NULL ? &(*last)->next : last;
    }
    if (closing != '\0')
        step(p);
    return IMREC_OK;
}

bool config_is_whole(const struct config_tree *t)
{
    for (const struct config_node *n = t->root.first; n != NULL; n = n->next)
        if ((n->kind == CONFIG_SECTION && !config_is_reader(n)) ||
            config_same_name(n->name, "command"))
            return true;
    return false;
}

static enum imrec_status read_document(struct parser *p, struct config_tree *t)
{
    IMREC_TRY(read_list(p, &t->root, '\0', LOOSE, 0));
    if (p->passed_over.status == IMREC_OK || config_is_whole(t))
        return IMREC_OK;
    if (p->err != NULL)
        *p->err = p->passed_over;
    return p->passed_over.status;
}

enum imrec_status
config_parse(const char *name, struct bytes text, struct config_tree **out, struct imrec_error *err)
{
    *out = NULL;
    if (text.n > READER_CONFIG_MAX_BYTES)
        return imrec_fail(err, IMREC_ERR_LIMIT,
                          "%s: a configuration of %zu bytes; the limit is %zu", name, text.n,
                          READER_CONFIG_MAX_BYTES);
    const void *nul = text.n > 0 ? memchr(text.p, 0, text.n) : NULL;
    if (nul != NULL)
        return imrec_error_at(err, IMREC_ERR_ARGUMENT, (uint64_t)((const uint8_t *)nul - text.p),
                              "%s: byte %zu is NUL; a configuration is text", name,
                              (size_t)((const uint8_t *)nul - text.p));
    struct config_tree *t = imrec_zalloc(1, sizeof(*t) + 2 * text.n + 2);
    if (t == NULL)
        return IMREC_NO_MEMORY(err, "%s: no memory for a configuration", name);
    const char *begin = text.n > 0 ? (const char *)text.p : "";
    t->root = (struct config_node){.kind = CONFIG_SECTION, .line = 1, .name = "", .text = ""};
    struct parser p = {.name = name,
                       .p = begin,
                       .end = begin + text.n,
                       .begin = begin,
                       .line_begin = begin,
                       .line = 1,
                       .room = t->text,
                       .err = err};
    p.p += text_mark(text.p, text.n);
    const enum imrec_status st = read_document(&p, t);
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
