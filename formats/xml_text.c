/* formats/xml_text.c - an XML reader without DTDs: bytes, text, markup, events. */
#include "formats/xml_text.h"

#include "base/error.h"
#include "formats/text.h"

#include <string.h>

void xml_begin(struct xml *x, const char *name, struct bytes text)
{
    x->name = name;
    x->all = text;
    x->at = text_mark(text.p, text.n);
    x->path[0] = x->text[0] = '\0';
    x->length = x->text_bytes = 0;
    x->depth = 0;
    x->closes = x->closed = x->ended = false;
}

static enum imrec_status wrong(const struct xml *x, const char *why, struct imrec_error *err)
{
    return imrec_error_at(err, IMREC_ERR_CORRUPT, x->at, "%s byte %zu: %s", x->name, x->at, why);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(uint8_t c)
{
    return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == ':';
}

static bool here(const struct xml *x, const char *text)
{
    const size_t n = strlen(text);
    return x->all.n - x->at >= n && memcmp(x->all.p + x->at, text, n) == 0;
}

/* Moves to the end of the next `end`. */
static enum imrec_status pass(struct xml *x, const char *end, struct imrec_error *err)
{
    const size_t from = x->at;
    for (; x->at < x->all.n; x->at++)
        if (here(x, end)) {
            x->at += strlen(end);
            return IMREC_OK;
        }
    x->at = from;
    return wrong(x, "the markup that begins here does not end", err);
}

/* ---- text ----------------------------------------------------------------------------------- */

static bool put(struct xml *x, const void *p, size_t n)
{
    if (x->text_bytes + n >= XML_TEXT_MAX)
        return false;
    memcpy(x->text + x->text_bytes, p, n);
    x->text_bytes += n;
    return true;
}

static size_t to_utf8(uint32_t c, char out[4])
{
    const uint32_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (uint32_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(lead[n] | c);
    return n;
}

/* "#233" or "#xe9" */
static bool read_code(const uint8_t *p, size_t n, uint32_t *out)
{
    const bool hex = n > 1 && p[1] == 'x';
    *out = 0;
    for (size_t i = hex ? 2 : 1; i < n; i++) {
        const uint8_t c = p[i];
        uint32_t digit = 99;
        if (c >= '0' && c <= '9')
            digit = c - (uint32_t)'0';
        else if (hex && (c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (c | 32u) - 'a' + 10;
        if (digit == 99 || *out > 0x10ffff)
            return false;
        *out = *out * (hex ? 16 : 10) + digit;
    }
    return n > (hex ? 2u : 1u) && *out != 0 && *out <= 0x10ffff &&
           !(*out >= 0xd800 && *out < 0xe000);
}

static enum imrec_status take_entity(struct xml *x, struct imrec_error *err)
{
    static const struct {
        const char *name, *text;
    } known[] = {{"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}, {"apos", "'"}};
    const uint8_t *p = x->all.p + x->at + 1;
    const size_t left = x->all.n - x->at - 1;
    size_t n = 0;
    uint32_t code;
    char bytes[4];
    while (n < left && n < 12 && p[n] != ';')
        n++;
    if (n == left || n == 12)
        return wrong(x, "an '&' that does not begin an entity", err);
    bool done =
        n > 1 && p[0] == '#' && read_code(p, n, &code) && put(x, bytes, to_utf8(code, bytes));
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, p, n) == 0)
            done = put(x, known[i].text, 1);
    if (!done)
        return wrong(x, "the entity is unknown or too long", err);
    x->at += n + 2;
    return IMREC_OK;
}

static enum imrec_status take_cdata(struct xml *x, struct imrec_error *err)
{
    const size_t from = x->at + strlen("<![CDATA[");
    IMREC_TRY(pass(x, "]]>", err));
    return put(x, x->all.p + from, x->at - 3 - from)
               ? IMREC_OK
               : wrong(x, "the text before it is too long", err);
}

/* ---- markup --------------------------------------------------------------------------------- */

/* <!DOCTYPE ...>, which may have a part in brackets. */
static enum imrec_status pass_doctype(struct xml *x, struct imrec_error *err)
{
    const size_t from = x->at;
    uint32_t brackets = 0;
    for (; x->at < x->all.n; x->at++) {
        const uint8_t c = x->all.p[x->at];
        brackets += c == '[';
        brackets -= c == ']' && brackets > 0;
        if (c == '>' && brackets == 0) {
            x->at++;
            return IMREC_OK;
        }
    }
    x->at = from;
    return wrong(x, "a DOCTYPE that does not end", err);
}

static struct bytes take_name(struct xml *x)
{
    const size_t from = x->at;
    while (x->at < x->all.n && is_name(x->all.p[x->at]))
        x->at++;
    return (struct bytes){x->all.p + from, x->at - from};
}

/* Attributes are skipped; "/>" or ">" ends the tag. */
static enum imrec_status end_tag(struct xml *x, struct imrec_error *err)
{
    while (x->at < x->all.n) {
        const uint8_t c = x->all.p[x->at];
        const char quote[2] = {(char)c, '\0'};
        x->at++;
        if (c == '>')
            return IMREC_OK;
        if (c == '/' && x->at < x->all.n && x->all.p[x->at] == '>') {
            x->at++;
            x->closes = true;
            return IMREC_OK;
        }
        if (c == '<')
            break;
        if (c == '"' || c == '\'')
            IMREC_TRY(pass(x, quote, err));
    }
    return wrong(x, "a tag that does not end", err);
}

static enum imrec_status open_element(struct xml *x, struct imrec_error *err)
{
    x->at++;
    const struct bytes name = take_name(x);
    if (name.n == 0)
        return wrong(x, "the name of an element is missing", err);
    if (x->ended)
        return wrong(x, "an element after the root element", err);
    if (x->depth == XML_DEPTH_MAX || x->length + name.n + 2 > XML_PATH_MAX)
        return wrong(x, "elements are nested too deep", err);
    x->path[x->length] = '/';
    memcpy(x->path + x->length + 1, name.p, name.n);
    x->length += name.n + 1;
    x->path[x->length] = '\0';
    x->depth++;
    x->text_bytes = 0;
    return end_tag(x, err);
}

static void trim_text(struct xml *x)
{
    size_t from = 0;
    while (x->text_bytes > 0 && is_blank((uint8_t)x->text[x->text_bytes - 1]))
        x->text_bytes--;
    while (from < x->text_bytes && is_blank((uint8_t)x->text[from]))
        from++;
    x->text_bytes -= from;
    memmove(x->text, x->text + from, x->text_bytes);
    x->text[x->text_bytes] = '\0';
}

static enum imrec_status close_element(struct xml *x, struct imrec_error *err)
{
    x->at += 2;
    const struct bytes name = take_name(x);
    if (x->depth == 0 || x->length < name.n + 1 || x->path[x->length - name.n - 1] != '/' ||
        memcmp(x->path + x->length - name.n, name.p, name.n) != 0)
        return wrong(x, "the end tag does not match the element that is open", err);
    while (x->at < x->all.n && is_blank(x->all.p[x->at]))
        x->at++;
    if (x->at == x->all.n || x->all.p[x->at] != '>')
        return wrong(x, "a tag that does not end", err);
    x->at++;
    return IMREC_OK;
}

/* A closed element leaves the path with the event after its CLOSE. */
static void leave_closed(struct xml *x)
{
    if (!x->closed)
        return;
    x->closed = false;
    while (x->length > 0 && x->path[--x->length] != '/')
        ;
    x->path[x->length] = '\0';
    x->depth--;
    x->ended = x->depth == 0;
    x->text_bytes = 0;
}

static enum imrec_status closed(struct xml *x, enum xml_event *event)
{
    trim_text(x);
    x->closes = false;
    x->closed = true;
    *event = XML_CLOSE;
    return IMREC_OK;
}

/* One piece of the text: a character, an entity, markup; *got: it is an event. */
static enum imrec_status
step(struct xml *x, enum xml_event *event, bool *got, struct imrec_error *err)
{
    const uint8_t c = x->all.p[x->at];
    if (here(x, "<!--"))
        return pass(x, "-->", err);
    if (here(x, "<?"))
        return pass(x, "?>", err);
    if (here(x, "<![CDATA[") && x->depth > 0)
        return take_cdata(x, err);
    if (here(x, "<!"))
        return pass_doctype(x, err);
    *got = c == '<';
    if (here(x, "</")) {
        IMREC_TRY(close_element(x, err));
        return closed(x, event);
    }
    if (c == '<') {
        *event = XML_OPEN;
        return open_element(x, err);
    }
    if (x->depth == 0 && !is_blank(c))
        return wrong(x, "text outside the root element", err);
    if (c == '&')
        return take_entity(x, err);
    if (c == '\0')
        return wrong(x, "a NUL in the text", err);
    if (x->depth > 0 && !put(x, &c, 1))
        return wrong(x, "the text is too long", err);
    x->at++;
    return IMREC_OK;
}

enum imrec_status xml_next(struct xml *x, enum xml_event *event, struct imrec_error *err)
{
    bool got = false;
    if (x->closes)
        return closed(x, event);
    leave_closed(x);
    while (!got && x->at < x->all.n)
        IMREC_TRY(step(x, event, &got, err));
    if (got)
        return IMREC_OK;
    return x->ended ? IMREC_END : wrong(x, "the text ends inside an element, or has none", err);
}
