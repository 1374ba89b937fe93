/* formats/set/set_names.h - names of the files of a packed set.
 *
 * One shard:   OUT.rec OUT.idx OUT.crc | OUT.lst OUT.classes.txt OUT.manifest.json
 * N shards:    OUT-00000-of-0000N.{rec,idx,crc} | OUT.lst OUT.classes.txt OUT.manifest.json
 * The first three belong to a shard, the others to the set. */
#ifndef IMREC_FORMATS_SET_SET_NAMES_H
#define IMREC_FORMATS_SET_SET_NAMES_H

#include "imrec/error.h"

#include <stddef.h>
#include <stdint.h>

enum set_file {
    SET_REC,
    SET_INDEX,
    SET_CHECKSUMS,
    SET_LIST,
    SET_CLASSES,
    SET_MANIFEST,
    SET_BINARY_INDEX, /* of a shard; no manifest lists it, it can always be made again */
};

/* Bytes enough for every name made of a path of `n` bytes, NUL included. */
#define SET_NAME_ROOM(n) ((n) + 64)

/* The file `what` of the set of the shard `rec`, in the same folder: `rec` is "OUT.rec" or
 * "OUT-00003-of-00010.rec", with any path or scheme before it, or ends in ".cbf"; without
 * either suffix it is taken as OUT. Writes at most SET_NAME_ROOM(strlen(rec)) bytes. */
void set_name(const char *rec, enum set_file what, char *out);

/* The same in memory of imrec_realloc(); NULL: no memory. */
char *set_path(const char *rec, enum set_file what);
/* The file `name` in the folder of `path`, likewise. */
char *set_beside(const char *path, const char *name);

/* "DIR/OUT.rec" -> "DIR/OUT-00003-of-00010.rec"; `rec` itself when count is 1 and `numbered`
 * is false. Room as above. */
void set_shard_name(const char *rec, uint64_t shard, uint64_t count, bool numbered, char *out);

/* The parts of a shard's name, also of a tar archive or a TFRecord file. `stem`: bytes before
 * "-00003-of-00010.rec", or before ".rec".
 * `rest`: where the text after its number begins, "-of-00010.rec". count 0: the name has no number
 * (or one that is not below its count), rest is stem. */
struct set_number {
    size_t stem, rest;
    uint64_t number, count;
};
struct set_number set_number_of(const char *rec);

/* The last component of a path, which is what a manifest holds. */
const char *set_base_name(const char *path);
#endif
