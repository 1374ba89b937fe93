/* storage/aws/aws_values.c - what keys, regions and endpoints may be made of. */
#include "storage/aws/aws_values.h"

#include "base/error.h"

#include <string.h>
#include <strings.h>

static enum imrec_status kept(char *to, const char *text, size_t n)
{
    memcpy(to, text, n);
    to[n] = '\0';
    return IMREC_OK;
}

enum imrec_status aws_key_copy(char *to, size_t room, const char *text, size_t n, const char *where,
                               const char *what, struct imrec_error *err)
{
    if (n >= room)
        return imrec_fail(err, IMREC_ERR_LIMIT, "%s: %s has more than %zu bytes", where, what,
                          room - 1);
    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return IMREC_REFUSE(err,
                                "%s: byte %zu of %s is a blank, a control character or beyond "
                                "ASCII, which no key contains",
                                where, i + 1, what);
    return kept(to, text, n);
}

enum imrec_status aws_endpoint_copy(char to[AWS_URL_BYTES], const char *text, size_t n,
                                    const char *where, struct imrec_error *err)
{
    while (n != 0 && text[n - 1] == '/')
        n--;
    const size_t scheme = n > 8 && strncasecmp(text, "https://", 8) == 0  ? 8
                          : n > 7 && strncasecmp(text, "http://", 7) == 0 ? 7
                                                                          : 0;
    bool good = scheme != 0 && text[scheme] != '/' && n < AWS_URL_BYTES;
    for (size_t i = 0; i < n; i++)
        good = good && text[i] > ' ' && text[i] <= '~' && strchr("?#@\\\"<>", text[i]) == NULL;
    if (!good)
        return IMREC_REFUSE(err,
                            "%s: the endpoint must be http://HOST or https://HOST, with a port "
                            "or a path where it has one, of at most %d bytes",
                            where, AWS_URL_BYTES - 1);
    return kept(to, text, n);
}

enum imrec_status aws_region_copy(char to[AWS_REGION_BYTES], const char *text, size_t n,
                                  const char *where, struct imrec_error *err)
{
    static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    bool ok = n < AWS_REGION_BYTES;
    for (size_t i = 0; i < n; i++)
        ok = ok && text[i] != '\0' && strchr(good, text[i]) != NULL;
    if (!ok) /* it becomes a part of a host's name */
        return IMREC_REFUSE(err,
                            "%s: the region must have letters, digits and '-', at most %d, like "
                            "us-east-1",
                            where, AWS_REGION_BYTES - 1);
    return kept(to, text, n);
}
