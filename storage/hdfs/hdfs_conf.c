/*
 * storage/hdfs/hdfs_conf.c - Hadoop's configuration files, read by expat.
 *
 *     <configuration>
 *       <property><name>fs.defaultFS</name><value>hdfs://ns</value><final>true</final></property>
 *     </configuration>
 *
 * Hadoop's own rules: the last value of a name counts, blanks around a text do not, ${name} in a
 * value is the value of that property.
 */
#include "storage/hdfs/hdfs_conf.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES      65536u /* of one element */
#define PROPERTIES_MOST 16384
#define REPLACED_MOST   20 /* ${...} in one value, those of the values put in too: as in Hadoop */

/* ---- one file's XML ----------------------------------------------------------------------- */

enum field { NAME, VALUE, FINAL, FIELDS };

struct reading {
    struct hdfs_conf *conf;
    XML_Parser parser;
    const char *file;
    uint32_t depth;
    struct buf text[FIELDS];
    struct buf *into; /* of the element that is open; NULL: of none that counts */
    enum imrec_status st;
    struct imrec_error *err;
};

static void stop_with(struct reading *r, enum imrec_status st)
{
    r->st = st;
    (void)XML_StopParser(r->parser, XML_FALSE);
}

static void wrong(struct reading *r, const char *why)
{
    const unsigned long line = (unsigned long)XML_GetCurrentLineNumber(r->parser);
    const XML_Index byte = XML_GetCurrentByteIndex(r->parser);
    stop_with(r, imrec_error_at(r->err, IMREC_ERR_CORRUPT,
                                byte >= 0 ? (uint64_t)byte : IMREC_NO_OFFSET, "%s line %lu: %s",
                                r->file, line, why));
}

static void on_doctype(void *user, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    wrong(user, "a DOCTYPE, which configuration files do not need");
}

static void on_open(void *user, const XML_Char *name, const XML_Char **attributes)
{
    static const char *const fields[FIELDS] = {"name", "value", "final"};
    struct reading *r = user;
    (void)attributes;
    r->into = NULL;
    r->depth++;
    if (r->depth == 1 && strcmp(name, "configuration") != 0)
        wrong(r, "the root element is not <configuration>");
    if (r->depth == 2)
        for (int i = 0; i < FIELDS; i++)
            r->text[i].n = 0;
    if (r->depth == 2 && strcmp(name, "xi:include") == 0)
        imrec_log(IMREC_LOG_WARNING, "%s line %lu: the file that it includes is not read", r->file,
                  (unsigned long)XML_GetCurrentLineNumber(r->parser));
    for (int i = 0; r->depth == 3 && i < FIELDS; i++)
        if (strcmp(name, fields[i]) == 0)
            r->into = &r->text[i];
}

static void on_text(void *user, const XML_Char *text, int n)
{
    struct reading *r = user;
    if (r->into == NULL || r->st != IMREC_OK)
        return;
    const enum imrec_status st = buf_append(r->into, text, (size_t)n, r->err);
    if (st == IMREC_ERR_LIMIT)
        wrong(r, "the text of an element is longer than 65536 bytes");
    else if (st != IMREC_OK)
        stop_with(r, st);
}

static struct bytes trimmed(const struct buf *b)
{
    struct bytes t = {b->p, b->n};
    while (t.n > 0 && strchr(" \t\r\n", t.p[0]) != NULL) {
        t.p++;
        t.n--;
    }
    while (t.n > 0 && strchr(" \t\r\n", t.p[t.n - 1]) != NULL)
        t.n--;
    return t;
}

static const char *keep(struct hdfs_conf *c, struct bytes text)
{
    char *to = string_arena_put(&c->texts, NULL, text.n + 1);
    if (to == NULL)
        return NULL;
    if (text.n != 0)
        memcpy(to, text.p, text.n);
    to[text.n] = '\0';
    return to;
}

static struct hdfs_property *find(const struct hdfs_conf *c, const char *name, size_t n)
{
    for (uint64_t i = 0; i < c->count; i++)
        if (strncmp(c->property[i].name, name, n) == 0 && c->property[i].name[n] == '\0')
            return &c->property[i];
    return NULL;
}

static enum imrec_status add_property(struct reading *r)
{
    struct hdfs_conf *c = r->conf;
    const struct bytes name = trimmed(&r->text[NAME]), final = trimmed(&r->text[FINAL]);
    struct hdfs_property *p = name.n != 0 ? find(c, (const char *)name.p, name.n) : NULL;
    if (name.n == 0 || (p != NULL && p->final))
        return IMREC_OK;
    if (p == NULL && c->count == PROPERTIES_MOST)
        return imrec_fail(r->err, IMREC_ERR_LIMIT, "%s: there are more than %d properties", r->file,
                          PROPERTIES_MOST);
    const char *value = keep(c, trimmed(&r->text[VALUE]));
    if (p == NULL && value != NULL && IMREC_GROW(c->property, c->room, c->count + 1)) {
        p = &c->property[c->count];
        p->name = keep(c, name);
        c->count += p->name != NULL;
    }
    if (value == NULL || p == NULL || p->name == NULL)
        return IMREC_NO_MEMORY(r->err, "%s: no memory for its properties", r->file);
    p->value = value;
    p->final = final.n == 4 && memcmp(final.p, "true", 4) == 0;
    return IMREC_OK;
}

static void on_close(void *user, const XML_Char *name)
{
    struct reading *r = user;
    r->into = NULL;
    if (r->depth-- == 2 && r->st == IMREC_OK && strcmp(name, "property") == 0) {
        const enum imrec_status st = add_property(r);
        if (st != IMREC_OK)
            stop_with(r, st);
    }
}

static enum imrec_status parse(struct reading *r, struct bytes text)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_open, on_close);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    if (XML_Parse(r->parser, (const char *)text.p, (int)text.n, 1) != XML_STATUS_OK &&
        r->st == IMREC_OK)
        wrong(r, XML_ErrorString(XML_GetErrorCode(r->parser)));
    return r->st;
}

enum imrec_status
hdfs_conf_add(struct hdfs_conf *c, const char *file, struct bytes text, struct imrec_error *err)
{
    struct reading r = {.conf = c, .file = file, .err = err};
    if (text.n > HDFS_CONF_BYTES)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%s: is longer than %u bytes", file,
                          HDFS_CONF_BYTES);
    for (int i = 0; i < FIELDS; i++)
        r.text[i] = BUF_INIT(TEXT_BYTES);
    r.parser = XML_ParserCreate(NULL);
    enum imrec_status st =
        r.parser != NULL ? parse(&r, text) : IMREC_NO_MEMORY(err, "%s: no memory for it", file);
    if (r.parser != NULL)
        XML_ParserFree(r.parser);
    for (int i = 0; i < FIELDS; i++)
        buf_free(&r.text[i]);
    return st;
}

/* ---- files -------------------------------------------------------------------------------- */

static enum imrec_status cannot(const char *path, int code, struct imrec_error *err)
{
    imrec_fail(err, IMREC_ERR_IO, "%s: cannot read it: %s", path, strerror(code));
    imrec_error_errno(err, code);
    return IMREC_ERR_IO;
}

static enum imrec_status
add_open_file(struct hdfs_conf *c, const char *path, int fd, struct imrec_error *err)
{
    struct stat info;
    struct buf text = BUF_INIT(HDFS_CONF_BYTES + 1);
    uint8_t piece[4096];
    enum imrec_status st = IMREC_OK;
    ssize_t n = -1;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return IMREC_REFUSE(err, "%s: is no regular file, which a configuration is", path);
    while (st == IMREC_OK && text.n <= HDFS_CONF_BYTES && (n = read(fd, piece, sizeof(piece))) > 0)
        st = buf_append(&text, piece, (size_t)n, NULL);
    if (st == IMREC_ERR_NO_MEMORY)
        st = IMREC_NO_MEMORY(err, "%s: no memory for it", path);
    else if (n < 0)
        st = cannot(path, errno, err);
    else
        st = hdfs_conf_add(c, path, (struct bytes){text.p, text.n}, err);
    buf_free(&text);
    return st;
}

static enum imrec_status add_file(struct hdfs_conf *c, const char *path, struct imrec_error *err)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? IMREC_OK : cannot(path, errno, err);
    const enum imrec_status st = add_open_file(c, path, fd, err);
    (void)close(fd);
    return st;
}

enum imrec_status hdfs_conf_read(struct hdfs_conf *c, const char *folder, struct imrec_error *err)
{
    static const char *const names[] = {"/core-site.xml", "/hdfs-site.xml"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = imrec_joined(folder, strlen(folder), names[i]);
        const enum imrec_status st =
            path != NULL ? add_file(c, path, err) : IMREC_NO_MEMORY(err, "no memory for a path");
        imrec_free(path);
        IMREC_TRY(st);
    }
    return IMREC_OK;
}

/* ---- values ------------------------------------------------------------------------------- */

/* The first ${name} of a value becomes what that property has; false: there is none of it, or no
 * room. */
static bool replace_one(const struct hdfs_conf *c, char value[HDFS_VALUE_BYTES])
{
    char *from = strstr(value, "${"), *end = from != NULL ? strchr(from, '}') : NULL;
    if (end == NULL)
        return false;
    const struct hdfs_property *p = find(c, from + 2, (size_t)(end - from - 2));
    const size_t n = p != NULL ? strlen(p->value) : 0, rest = strlen(end + 1) + 1;
    if (p == NULL || (size_t)(from - value) + n + rest > HDFS_VALUE_BYTES)
        return false;
    memmove(from + n, end + 1, rest);
    memcpy(from, p->value, n);
    return true;
}

bool hdfs_conf_get(const struct hdfs_conf *c, char value[HDFS_VALUE_BYTES], const char *name,
                   const char *part, const char *part2)
{
    char key[1024];
    const int n =
        snprintf(key, sizeof(key), "%s%s%s%s%s", name, part != NULL ? "." : "",
                 part != NULL ? part : "", part2 != NULL ? "." : "", part2 != NULL ? part2 : "");
    const struct hdfs_property *p =
        n > 0 && (size_t)n < sizeof(key) ? find(c, key, (size_t)n) : NULL;
    const size_t bytes = p != NULL ? strlen(p->value) : 0;
    if (bytes == 0 || bytes >= HDFS_VALUE_BYTES)
        return false;
    memcpy(value, p->value, bytes + 1);
    for (int i = 0; i < REPLACED_MOST && replace_one(c, value); i++)
        ;
    return value[0] != '\0';
}

void hdfs_conf_free(struct hdfs_conf *c)
{
    imrec_free(c->property);
    string_arena_free(&c->texts);
    *c = (struct hdfs_conf){0};
}
