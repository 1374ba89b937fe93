/* tools/commands/npy.c - NumPy files (format 1.0) whose number of rows is known only at the end. */
#include "tools/commands/npy.h"

#include "cli/show.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { HEADER_BYTES = 192 }; /* a multiple of 64, room for four numbers of 20 digits */

/* magic, version 1.0, u16 length, then a Python dict, blanks and a newline. */
static bool write_header(const struct npy *n)
{
    char header[HEADER_BYTES + 1] = "\x93NUMPY\x01";
    header[7] = 0;
    header[8] = (char)((HEADER_BYTES - 10) & 255);
    header[9] = (char)((HEADER_BYTES - 10) >> 8);
    int at = 10;
    at += snprintf(header + at, sizeof(header) - (size_t)at,
                   "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ",", n->descr,
                   n->rows);
    for (int i = 0; i < n->dims; i++)
        at += snprintf(header + at, sizeof(header) - (size_t)at, "%s%" PRIu64, i > 0 ? ", " : " ",
                       n->shape[i]);
    at += snprintf(header + at, sizeof(header) - (size_t)at, "), }");
    memset(header + at, ' ', HEADER_BYTES - (size_t)at - 1);
    header[HEADER_BYTES - 1] = '\n';
    return fwrite(header, 1, HEADER_BYTES, n->out.file) == HEADER_BYTES;
}

static bool say(const struct npy *n, const char *name)
{
    cli_say(name, "cannot write %s: %s", n->out.part, strerror(errno));
    return false;
}

bool npy_open(struct npy *n, const char *name, const char *path, const char *descr,
              const uint64_t *shape, int dims)
{
    *n = (struct npy){.descr = descr, .dims = dims, .row_bytes = (size_t)(descr[2] - '0')};
    for (int i = 0; i < dims; i++) {
        n->shape[i] = shape[i];
        n->row_bytes *= (size_t)shape[i];
    }
    if (!cli_output_open(&n->out, name, path))
        return false;
    return write_header(n) || say(n, name);
}

bool npy_append(struct npy *n, const char *name, const void *rows, uint64_t count)
{
    n->rows += count;
    return count == 0 || fwrite(rows, n->row_bytes, count, n->out.file) == count || say(n, name);
}

bool npy_commit(struct npy *n, const char *name)
{
    if (fseek(n->out.file, 0, SEEK_SET) != 0 || !write_header(n))
        return say(n, name);
    return cli_output_commit(&n->out, name);
}

void npy_abort(struct npy *n)
{
    cli_output_abort(&n->out);
}
