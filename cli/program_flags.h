/* cli/program_flags.h - the flags of im2rec and ctf2bin: the library's options, and those that are
 * about the program alone. */
#ifndef IMREC_CLI_PROGRAM_FLAGS_H
#define IMREC_CLI_PROGRAM_FLAGS_H

#include "imrec/convert.h"
#include "imrec/packer.h"

/* clang-format off */
#define CTF2BIN_PARAMS(X) \
    X(bool, quiet,  "0", 0, 1, "", "run", "no progress and no summary") \
    X(bool, json,   "0", 0, 1, "", "run", "one JSON object on stdout at the end")
#define IM2REC_PARAMS(X) \
    CTF2BIN_PARAMS(X) \
    X(bool, append, "0", 0, 1, "", "run", "append the images to the set OUT.rec (in C: imrec_append())") \
    X(const char *, plan, "", 0, 4000, "PLAN", "plan", "write a plan into the folder PLAN instead of packing: tasks for many machines; a plan of the same command is continued") \
    X(int64_t, tasks, "0", 0, 1 << 20, "N", "plan", "with --plan: number of tasks (default: one a shard with --shards, else one for about 2048 images)") \
    X(const char *, work, "", 0, 4000, "PLAN", "plan", "pack a task of the plan: operand K, from 0, or K/N for tasks K, K + N, ...; without, tasks that nobody works on until all are done") \
    X(const char *, finish, "", 0, 4000, "PLAN", "plan", "make the set of what the tasks have left") \
    X(const char *, status, "", 0, 4000, "PLAN", "plan", "say what of the plan is done, running and missing") \
    X(bool, mpi, "0", 0, 1, "", "plan", "under mpirun or srun: plan, work and finish by all ranks; the plan is OUT.plan, or --plan")
/* clang-format on */

/* The library's options come first: the rows of their table are also those of these structs. */
struct im2rec_flags {
    struct imrec_pack_options pack;
    IM2REC_PARAMS(IMREC_FIELD)
};
struct ctf2bin_flags {
    struct imrec_convert_options convert;
    CTF2BIN_PARAMS(IMREC_FIELD)
};
#endif
