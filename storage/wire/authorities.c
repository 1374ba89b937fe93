/* storage/wire/authorities.c - which file of a machine lists the authorities whose certificates are
 * trusted. */
#include "storage/wire/authorities.h"

#include <curl/curl.h>

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* Where systems keep them: Debian, Fedora, openSUSE, RHEL, Alpine and BSD. */
static const char *const places[] = {"/etc/ssl/certs/ca-certificates.crt",
                                     "/etc/pki/tls/certs/ca-bundle.crt",
                                     "/etc/ssl/ca-bundle.pem",
                                     "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
                                     "/etc/ssl/cert.pem",
                                     NULL};

static bool readable(const char *path)
{
    return path != NULL && access(path, R_OK) == 0;
}

const char *authorities_of(const char *own_file, const char *own_folder, const char *const *known)
{
    if (readable(own_file) || readable(own_folder))
        return NULL;
    for (; *known != NULL; known++)
        if (readable(*known))
            return *known;
    return NULL;
}

const char *authorities(void)
{
    const curl_version_info_data *own = curl_version_info(CURLVERSION_NOW);
    return authorities_of(own->cainfo, own->capath, places);
}
