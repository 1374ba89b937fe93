/* tests/fuzz/fuzz_reader_config.c - arbitrary text as a configuration: a tree or an error inside
 * it. */
#include "formats/reader_config.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t weigh(const struct config_node *n)
{
    size_t bytes = 0;
    for (; n != NULL; n = n->next)
        bytes += strlen(n->name) + strlen(n->text) + weigh(n->first);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct config_tree *t;
    struct imrec_error err;
    const enum imrec_status st = config_parse("f", (struct bytes){data, size}, &t, &err);
    if (st == IMREC_OK && weigh(config_root(t)->first) > size)
        abort();
    if (st != IMREC_OK && t != NULL)
        abort();
    config_free(t);
    return 0;
}
