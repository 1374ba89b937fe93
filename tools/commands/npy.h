/* tools/commands/npy.h - NumPy files (format 1.0) whose number of rows is known only at the end. */
#ifndef IMREC_TOOLS_COMMANDS_NPY_H
#define IMREC_TOOLS_COMMANDS_NPY_H

#include "cli/output.h"

#include <stddef.h>
#include <stdint.h>

struct npy {
    struct cli_output out;
    const char *descr; /* "<f4", "<u8", "|u1", ...: the digit is a value's bytes */
    uint64_t shape[4]; /* of a row */
    int dims;          /* of a row: 0 = the file is a vector */
    size_t row_bytes;
    uint64_t rows;
};

/* Each says what is wrong on stderr, begun with `name`, and returns false. */
bool npy_open(struct npy *n, const char *name, const char *path, const char *descr,
              const uint64_t *shape, int dims);
bool npy_append(struct npy *n, const char *name, const void *rows, uint64_t count);
bool npy_commit(struct npy *n, const char *name);
void npy_abort(struct npy *n); /* zeroed or committed is fine */
#endif
