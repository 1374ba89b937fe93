/* storage/hdfs/hdfs_nodes.c - NameNodes by the properties of Hadoop's configuration. */
#include "storage/hdfs/hdfs_nodes.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define AUTHORITY_BYTES 256
#define RPC_PORT        "8020"

struct search {
    const struct hdfs_conf *conf;
    bool tls;
    struct hdfs_place *place;
    struct imrec_error *err;
};

static const char *address_key(bool tls)
{
    return tls ? "dfs.namenode.https-address" : "dfs.namenode.http-address";
}

/* Of "host", "host:port", "[::1]:port". */
static size_t host_bytes(const char *authority)
{
    const char *bracket = strchr(authority, ']');
    return bracket != NULL ? (size_t)(bracket + 1 - authority) : strcspn(authority, ":");
}

static bool is_authority(const char *a)
{
    static const char *const good =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
    return a[0] != '\0' && strlen(a) < AUTHORITY_BYTES && a[strspn(a, good)] == '\0';
}

/* "0.0.0.0:9870", ":9870": the host is to be known from elsewhere. */
static bool is_any_host(const char *authority)
{
    return authority[0] == ':' || strncmp(authority, "0.0.0.0:", 8) == 0;
}

static enum imrec_status add(const struct search *s, const char *host, size_t n, const char *port)
{
    struct hdfs_place *p = s->place;
    char url[AUTHORITY_BYTES * 2];
    if (p->nodes == HDFS_NODES_MOST)
        return imrec_fail(s->err, IMREC_ERR_LIMIT, "%s: has more than %d NameNodes", p->shown,
                          HDFS_NODES_MOST);
    const int bytes =
        snprintf(url, sizeof(url), "%s://%.*s:%s", s->tls ? "https" : "http", (int)n, host, port);
    p->node[p->nodes] = imrec_joined(url, (size_t)bytes, "");
    if (p->node[p->nodes] == NULL)
        return IMREC_NO_MEMORY(s->err, "%s: no memory to open it", p->shown);
    p->nodes++;
    return IMREC_OK;
}

/* "host:port", as a configuration or a URI has it; `rpc` names the host where it does not. */
static enum imrec_status add_address(const struct search *s, const char *address, const char *rpc)
{
    const char *host = is_any_host(address) && rpc != NULL ? rpc : address;
    const size_t n = host_bytes(address);
    if (!is_authority(host) || !is_authority(address) || host_bytes(host) == 0)
        return IMREC_REFUSE(s->err, "%s: '%s' is no address of a NameNode; HOST:PORT is right",
                            s->place->shown, address);
    return add(s, host, host_bytes(host),
               address[n] == ':' ? address + n + 1
               : s->tls          ? "9871"
                                 : "9870");
}

/* ---- name services ------------------------------------------------------------------------ */

/* The next of "nn1, nn2"; *rest moves on. */
static bool next_id(const char **rest, char id[AUTHORITY_BYTES])
{
    *rest += strspn(*rest, ", \t\r\n");
    const size_t n = strcspn(*rest, ", \t\r\n");
    if (n == 0 || n >= AUTHORITY_BYTES)
        return false;
    memcpy(id, *rest, n);
    id[n] = '\0';
    *rest += n;
    return true;
}

static bool is_in_list(const char *list, const char *what)
{
    char id[AUTHORITY_BYTES];
    while (next_id(&list, id))
        if (strcmp(id, what) == 0)
            return true;
    return false;
}

/* A NameNode of a service; `id` is NULL where it has but one. */
static enum imrec_status add_of_service(const struct search *s, const char *service, const char *id)
{
    char address[HDFS_VALUE_BYTES], rpc[HDFS_VALUE_BYTES];
    const bool knows_rpc = hdfs_conf_get(s->conf, rpc, "dfs.namenode.rpc-address", service, id);
    if (hdfs_conf_get(s->conf, address, address_key(s->tls), service, id))
        return add_address(s, address, knows_rpc ? rpc : NULL);
    if (knows_rpc && is_authority(rpc))
        return add(s, rpc, host_bytes(rpc), s->tls ? "9871" : "9870");
    return IMREC_REFUSE(s->err, "%s: HADOOP_CONF_DIR has no property %s.%s%s%s", s->place->shown,
                        address_key(s->tls), service, id != NULL ? "." : "", id != NULL ? id : "");
}

static enum imrec_status add_service(const struct search *s, const char *service)
{
    char ids[HDFS_VALUE_BYTES], id[AUTHORITY_BYTES];
    if (!hdfs_conf_get(s->conf, ids, "dfs.ha.namenodes", service, NULL))
        return add_of_service(s, service, NULL);
    for (const char *rest = ids; next_id(&rest, id);)
        IMREC_TRY(add_of_service(s, service, id));
    return IMREC_OK;
}

/* ---- by RPC address ----------------------------------------------------------------------- */

static bool is_same_rpc(const char *a, const char *b)
{
    const size_t n = host_bytes(a);
    const char *port_a = a[n] == ':' ? a + n + 1 : RPC_PORT, *port_b = b + host_bytes(b);
    return host_bytes(b) == n && strncasecmp(a, b, n) == 0 &&
           strcmp(port_a, *port_b == ':' ? port_b + 1 : RPC_PORT) == 0;
}

/* Whether NameNode `id` of `service` has this RPC address; of it then is the web address. */
static bool
rpc_is(const struct search *s, const char *authority, const char *service, const char *id)
{
    char rpc[HDFS_VALUE_BYTES];
    return hdfs_conf_get(s->conf, rpc, "dfs.namenode.rpc-address", service, id) &&
           is_same_rpc(rpc, authority);
}

/* The service, and in it the NameNode, of an RPC address; false: the configuration has none. */
static bool find_rpc(const struct search *s, const char *authority, char service[AUTHORITY_BYTES],
                     char id[AUTHORITY_BYTES])
{
    char services[HDFS_VALUE_BYTES], ids[HDFS_VALUE_BYTES];
    if (!hdfs_conf_get(s->conf, services, "dfs.nameservices", NULL, NULL))
        return false;
    for (const char *rest = services; next_id(&rest, service);) {
        id[0] = '\0';
        if (rpc_is(s, authority, service, NULL))
            return true;
        if (!hdfs_conf_get(s->conf, ids, "dfs.ha.namenodes", service, NULL))
            continue;
        for (const char *more = ids; next_id(&more, id);)
            if (rpc_is(s, authority, service, id))
                return true;
    }
    return false;
}

static bool is_default(const struct search *s, const char *authority)
{
    char value[HDFS_VALUE_BYTES];
    if (rpc_is(s, authority, NULL, NULL))
        return true;
    if (!hdfs_conf_get(s->conf, value, "fs.defaultFS", NULL, NULL) ||
        strncasecmp(value, "hdfs://", 7) != 0)
        return false;
    value[7 + strcspn(value + 7, "/")] = '\0';
    return is_same_rpc(value + 7, authority);
}

static enum imrec_status add_of_rpc(const struct search *s, const char *authority)
{
    char service[AUTHORITY_BYTES], id[AUTHORITY_BYTES], address[HDFS_VALUE_BYTES];
    if (find_rpc(s, authority, service, id))
        return add_of_service(s, service, id[0] != '\0' ? id : NULL);
    if (is_default(s, authority) &&
        hdfs_conf_get(s->conf, address, address_key(s->tls), NULL, NULL))
        return add_address(s, address, authority);
    if (!is_authority(authority))
        return add_address(s, authority, NULL); /* which refuses it */
    return add(s, authority, host_bytes(authority), s->tls ? "9871" : "9870");
}

/* ---- all of them -------------------------------------------------------------------------- */

static bool is_service(const struct search *s, const char *authority)
{
    char value[HDFS_VALUE_BYTES];
    return strchr(authority, ':') == NULL &&
           ((hdfs_conf_get(s->conf, value, "dfs.nameservices", NULL, NULL) &&
             is_in_list(value, authority)) ||
            hdfs_conf_get(s->conf, value, "dfs.ha.namenodes", authority, NULL));
}

/* fs.defaultFS, of which the scheme counts, too. */
static enum imrec_status
find_default(struct search *s, enum hdfs_scheme *scheme, char authority[AUTHORITY_BYTES])
{
    static const struct {
        const char *text;
        enum hdfs_scheme scheme;
    } known[] = {
        {"hdfs://", HDFS_BY_NAME}, {"webhdfs://", HDFS_WEB}, {"swebhdfs://", HDFS_WEB_TLS}};
    char value[HDFS_VALUE_BYTES];
    if (!hdfs_conf_get(s->conf, value, "fs.defaultFS", NULL, NULL) &&
        !hdfs_conf_get(s->conf, value, "fs.default.name", NULL, NULL))
        return IMREC_REFUSE(s->err,
                            "%s: names no host, and no file of HADOOP_CONF_DIR has fs.defaultFS; "
                            "hdfs://HOST:PORT/PATH is right",
                            s->place->shown);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const size_t head = strlen(known[i].text), n = strcspn(value + head, "/");
        if (strncasecmp(value, known[i].text, head) != 0 || n == 0 || n >= AUTHORITY_BYTES)
            continue;
        memcpy(authority, value + head, n);
        authority[n] = '\0';
        *scheme = known[i].scheme;
        return IMREC_OK;
    }
    return IMREC_REFUSE(s->err, "%s: fs.defaultFS is '%s'; hdfs://HOST:PORT is right",
                        s->place->shown, value);
}

enum imrec_status hdfs_nodes_find(const struct hdfs_conf *c, enum hdfs_scheme scheme,
                                  const char *authority, struct hdfs_place *p,
                                  struct imrec_error *err)
{
    struct search s = {.conf = c, .place = p, .err = err};
    char given[AUTHORITY_BYTES], policy[HDFS_VALUE_BYTES];
    if (authority[0] == '\0') {
        IMREC_TRY(find_default(&s, &scheme, given));
        authority = given;
    }
    s.tls = scheme == HDFS_WEB_TLS ||
            (scheme == HDFS_BY_NAME && hdfs_conf_get(c, policy, "dfs.http.policy", NULL, NULL) &&
             strcmp(policy, "HTTPS_ONLY") == 0);
    if (is_service(&s, authority))
        return add_service(&s, authority);
    return scheme == HDFS_BY_NAME ? add_of_rpc(&s, authority) : add_address(&s, authority, NULL);
}
