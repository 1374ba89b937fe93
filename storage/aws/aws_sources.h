/* storage/aws/aws_sources.h - where keys come from besides variables: each source of its own.
 * Private to this room.
 *
 * IMREC_END: there are none here, for the reason in *why; any other failure ends the search. */
#ifndef IMREC_STORAGE_AWS_AWS_SOURCES_H
#define IMREC_STORAGE_AWS_AWS_SOURCES_H

#include "base/buf.h"
#include "storage/aws/aws_profile.h"
#include "storage/aws/aws_settings.h"

/* Frees it, and nothing of it stays in the memory. */
void aws_wipe(struct buf *b);

/* The profile of that name, or (NULL) that of the settings, read from the files now.
 * IMREC_ERR_ARGUMENT where it is named and in neither. */
IMREC_NODISCARD enum imrec_status aws_profile_now(const struct aws_settings *s, const char *name,
                                                  struct aws_profile *out, struct imrec_error *err);
/* Bytes of a file, up to the bound of *out, without line ends at its end if `trim`. IMREC_END: it
 * is not there, or not to be read by us. */
IMREC_NODISCARD enum imrec_status
aws_file_read(const char *path, bool trim, struct buf *out, struct imrec_error *err);

/* ECS, EKS and others: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, _FULL_URI. */
IMREC_NODISCARD enum imrec_status
aws_container_keys(const struct aws_settings *s, struct aws_keys *out, struct imrec_error *err);

/* The role, by STS: with those keys, or (NULL) by the token of its file. `region`: "" or one. */
IMREC_NODISCARD enum imrec_status
aws_role_keys(const struct aws_settings *s, const struct aws_role *role, const char *region,
              const struct aws_keys *by, struct aws_keys *out, struct imrec_error *err);

struct aws_why {
    char s[200];
};
/* EC2: the role of the instance, by version 2 of its metadata service. */
IMREC_NODISCARD enum imrec_status aws_instance_keys(const struct aws_settings *s,
                                                    struct aws_keys *out, struct aws_why *why,
                                                    struct imrec_error *err);
#endif
