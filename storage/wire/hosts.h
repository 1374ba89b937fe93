/* storage/wire/hosts.h - hosts that answered this process: one of them that cannot be reached later
 * may just begin again, and is worth waiting for. */
#ifndef IMREC_STORAGE_WIRE_HOSTS_H
#define IMREC_STORAGE_WIRE_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

/* A number of the URL's host and port. */
uint64_t wire_host_hash(const char *url);
/* Any thread. Of more than 256 hosts only the first are remembered. */
void wire_host_answered(const char *url);
bool wire_host_has_answered(const char *url);
#endif
