/* storage/hdfs/hdfs_place.c - a URI into NameNodes, path and user; URLs out of them. */
#include "storage/hdfs/hdfs_place.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/fnv.h"
#include "formats/text.h"
#include "storage/hdfs/hdfs_nodes.h"
#include "storage/wire/url.h"
#include "storage/wire/wire.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which NameNode of a pair answered last, of all pairs of the process: a hint, a wrong one costs a
 * request. */
static atomic_uint g_active[16];

static atomic_uint *hint_of(const struct hdfs_place *p)
{
    return &g_active[fnv1a(FNV_START, p->node[0], strlen(p->node[0])) % 16];
}

static enum imrec_status no_memory(struct imrec_error *err)
{
    return IMREC_NO_MEMORY(err, "no memory to open a file of HDFS");
}

/* ---- names -------------------------------------------------------------------------------- */

static const char *scheme_text(enum hdfs_scheme scheme)
{
    return scheme == HDFS_BY_NAME ? "hdfs://" : scheme == HDFS_WEB ? "webhdfs://" : "swebhdfs://";
}

/* HDFS has no such names; on the way there they would become others. */
static enum imrec_status check_path(const char *shown, const char *path, struct imrec_error *err)
{
    const size_t n = strlen(path);
    if (!text_is_utf8((struct bytes){(const uint8_t *)path, n}))
        return IMREC_REFUSE(err, "%s: the name is not UTF-8, which HDFS needs", shown);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)path[i] < ' ' || path[i] == 0x7f)
            return IMREC_REFUSE(err, "%s: the name has a control character, byte 0x%02x of it",
                                shown, (unsigned char)path[i]);
    for (const char *part = path; *part != '\0';) {
        part += strspn(part, "/");
        const size_t m = strcspn(part, "/");
        if ((m == 1 && part[0] == '.') || (m == 2 && part[0] == '.' && part[1] == '.'))
            return IMREC_REFUSE(err, "%s: HDFS has no '.' and '..' in a path", shown);
        part += m;
    }
    return IMREC_OK;
}

static enum imrec_status
take_path(struct hdfs_place *p, const char *path, const char *suffix, struct imrec_error *err)
{
    size_t n = strlen(path);
    struct buf b = BUF_INIT(HDFS_URL_BYTES);
    while (n > 0 && path[n - 1] == '/')
        n--;
    enum imrec_status st = n == 0 ? buf_append(&b, "/", 1, err) : IMREC_OK;
    if (st == IMREC_OK)
        st = url_append_encoded(&b, path, n, true, err);
    if (st == IMREC_OK)
        st = url_append_encoded(&b, suffix, strlen(suffix), true, err);
    if (st == IMREC_OK)
        st = buf_append(&b, "", 1, err);
    p->path = (char *)b.p;
    if (st == IMREC_ERR_LIMIT)
        st = IMREC_REFUSE(err, "%s: the name is too long", p->shown);
    return st;
}

/* ---- who asks ----------------------------------------------------------------------------- */

static enum imrec_status
set_who(struct hdfs_place *p, const char *key, const char *text, size_t n, struct imrec_error *err)
{
    struct buf b = BUF_INIT(4 * HDFS_TOKEN_BYTES);
    enum imrec_status st = buf_append(&b, key, strlen(key), err);
    if (st == IMREC_OK)
        st = url_append_encoded(&b, text, n, false, err);
    if (st == IMREC_OK)
        st = buf_append(&b, "", 1, err);
    p->who = (char *)b.p;
    return st;
}

static enum imrec_status set_system_user(struct hdfs_place *p, struct imrec_error *err)
{
    struct passwd entry, *found = NULL;
    char text[4096];
    if (getpwuid_r(geteuid(), &entry, text, sizeof(text), &found) != 0 || found == NULL)
        return set_who(p, "", "", 0, err); /* the server has a name for such */
    return set_who(p, "&user.name=", entry.pw_name, strlen(entry.pw_name), err);
}

static enum imrec_status find_who(struct hdfs_place *p, const struct hdfs_conf *c, const char *user,
                                  size_t user_bytes, struct imrec_error *err)
{
    const char *token = getenv("HADOOP_DELEGATION_TOKEN"), *name = getenv("HADOOP_USER_NAME");
    char value[HDFS_VALUE_BYTES];
    if (token != NULL && strlen(token) > HDFS_TOKEN_BYTES)
        return IMREC_REFUSE(err, "%s: HADOOP_DELEGATION_TOKEN is longer than %d bytes", p->shown,
                            HDFS_TOKEN_BYTES);
    if (token != NULL && token[0] != '\0')
        return set_who(p, "&delegation=", token, strlen(token), err);
    p->negotiate = hdfs_conf_get(c, value, "hadoop.security.authentication", NULL, NULL) &&
                   strcmp(value, "kerberos") == 0;
    if (p->negotiate && !wire_can_negotiate())
        return imrec_fail(err, IMREC_ERR_UNSUPPORTED,
                          "%s: HADOOP_CONF_DIR asks for Kerberos, which this libcurl does not have "
                          "(SPNEGO); set HADOOP_DELEGATION_TOKEN",
                          p->shown);
    if (p->negotiate)
        return set_who(p, "", "", 0, err);
    if (user_bytes != 0)
        return set_who(p, "&user.name=", user, user_bytes, err);
    if (name != NULL && name[0] != '\0')
        return set_who(p, "&user.name=", name, strlen(name), err);
    return set_system_user(p, err);
}

/* ---- a place ------------------------------------------------------------------------------ */

static enum imrec_status find_all(struct hdfs_place *p, enum hdfs_scheme scheme,
                                  const char *authority, const char *user, size_t user_bytes,
                                  struct imrec_error *err)
{
    const char *folder = getenv("HADOOP_CONF_DIR");
    struct hdfs_conf c = {0};
    enum imrec_status st = IMREC_OK;
    if (folder != NULL && folder[0] != '\0')
        st = hdfs_conf_read(&c, folder, err);
    if (st == IMREC_OK)
        st = hdfs_nodes_find(&c, scheme, authority, p, err);
    if (st == IMREC_OK && p->nodes == 0)
        st = IMREC_REFUSE(err, "%s: HADOOP_CONF_DIR names no NameNode of it", p->shown);
    if (st == IMREC_OK)
        st = find_who(p, &c, user, user_bytes, err);
    hdfs_conf_free(&c);
    return st;
}

static enum imrec_status fill(struct hdfs_place *p, enum hdfs_scheme scheme, const char *name,
                              const char *suffix, struct imrec_error *err)
{
    const char *path = name + strcspn(name, "/"), *at = path;
    while (at > name && at[-1] != '@') /* after the last '@' of the authority, or its begin */
        at--;
    const char *head = scheme_text(scheme);
    char *uri = imrec_joined(head, strlen(head), at),
         *authority = imrec_joined(at, (size_t)(path - at), "");
    p->shown = uri != NULL ? imrec_joined(uri, strlen(uri), suffix) : NULL;
    enum imrec_status st = p->shown == NULL || authority == NULL ? no_memory(err) : IMREC_OK;
    if (st == IMREC_OK)
        st = check_path(p->shown, path, err);
    if (st == IMREC_OK)
        st = take_path(p, path, suffix, err);
    if (st == IMREC_OK && memchr(name, ':', (size_t)(at - name)) != NULL)
        st = IMREC_REFUSE(err, "%s: a password before the host is of no use to HDFS", p->shown);
    if (st == IMREC_OK)
        st = find_all(p, scheme, authority, name, at > name ? (size_t)(at - name - 1) : 0, err);
    IMREC_FREE(authority, uri);
    return st;
}

enum imrec_status hdfs_place_make(enum hdfs_scheme scheme, const char *name, const char *suffix,
                                  struct hdfs_place *out, struct imrec_error *err)
{
    *out = (struct hdfs_place){.traffic = store_scope_traffic()};
    const enum imrec_status st = fill(out, scheme, name, suffix, err);
    if (st != IMREC_OK)
        hdfs_place_free(out);
    else
        atomic_init(&out->active, atomic_load(hint_of(out)) % out->nodes);
    return st;
}

enum imrec_status hdfs_place_url(const struct hdfs_place *p, uint32_t node, const char *query,
                                 struct buf *url, struct imrec_error *err)
{
    const char *const parts[] = {p->node[node], "/webhdfs/v1", p->path, "?", query, p->who};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        IMREC_TRY(buf_append(url, parts[i], strlen(parts[i]), err));
    return buf_append(url, "", 1, err);
}

void hdfs_place_answered(struct hdfs_place *p, uint32_t node)
{
    atomic_store(&p->active, node);
    atomic_store(hint_of(p), node);
}

void hdfs_place_free(struct hdfs_place *p)
{
    for (uint32_t i = 0; i < p->nodes; i++)
        imrec_free(p->node[i]);
    IMREC_FREE(p->who, p->path, p->shown);
    *p = (struct hdfs_place){0};
}
