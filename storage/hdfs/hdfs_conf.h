/* storage/hdfs/hdfs_conf.h - the properties of Hadoop's configuration files. */
#ifndef IMREC_STORAGE_HDFS_CONF_H
#define IMREC_STORAGE_HDFS_CONF_H

#include "base/bytes.h"
#include "base/string_arena.h"
#include "imrec/error.h"

#define HDFS_CONF_BYTES  (4u << 20) /* of one file */
#define HDFS_VALUE_BYTES 4096       /* of one value, what it refers to put in */

struct hdfs_property {
    const char *name, *value;
    bool final; /* later files do not change it */
};
struct hdfs_conf { /* zeroed at first */
    struct hdfs_property *property;
    uint64_t count, room;
    struct string_arena texts;
};

/* Adds core-site.xml and hdfs-site.xml of a folder; one that does not exist adds nothing. */
IMREC_NODISCARD enum imrec_status
hdfs_conf_read(struct hdfs_conf *c, const char *folder, struct imrec_error *err);
/* Adds the properties of one file's text: of two values of a name the later counts, unless the
 * earlier is final. IMREC_ERR_CORRUPT names file and line; a DOCTYPE is refused. */
IMREC_NODISCARD enum imrec_status
hdfs_conf_add(struct hdfs_conf *c, const char *file, struct bytes text, struct imrec_error *err);
/* The value of "a.b", or with more parts of "a.b.PART.PART", in which ${...} are replaced: false
 * where there is none, or it is longer than HDFS_VALUE_BYTES - 1. A part that is NULL ends them. */
bool hdfs_conf_get(const struct hdfs_conf *c, char value[HDFS_VALUE_BYTES], const char *name,
                   const char *part, const char *part2);
void hdfs_conf_free(struct hdfs_conf *c); /* zeroed memory is fine */
#endif
