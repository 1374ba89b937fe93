/* tests/fuzz/fuzz_reader_config.c - arbitrary text as a configuration: a tree or an error inside
 * it; options of a source that are in range, or a sentence; also with a reader that is chosen. */
#include "formats/ctf/reader_config.h"
#include "imrec/minibatch.h"
#include "tests/fuzz/must.h"

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

static void try_tree(const uint8_t *data, size_t size)
{
    struct config_tree *t;
    struct imrec_error err = {0};
    const enum imrec_status st = config_parse("f", (struct bytes){data, size}, &t, &err);
    must((st == IMREC_OK) == (t != NULL));
    must(st == IMREC_OK ? weigh(config_root(t)->first) <= size : err.message[0] != '\0');
    config_free(t);
}

static void try_options(const uint8_t *data, size_t size, const char *action)
{
    struct imrec_minibatch_config *c;
    struct imrec_error err = {0};
    must(imrec_minibatch_config_new(&c, NULL) == IMREC_OK);
    must(imrec_minibatch_config_define(c, "DataDir=/data", NULL) == IMREC_OK);
    must(imrec_minibatch_config_set(c, action, NULL) == IMREC_OK);
    if (imrec_minibatch_config_parse(c, "f", (const char *)data, size, &err) == IMREC_OK) {
        const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
        must(o->precision <= IMREC_PRECISION_DOUBLE && o->threads >= 0 && o->prefetch > 0);
        for (uint32_t i = 0; i < o->deserializers; i++)
            for (uint32_t k = 0; k < o->deserializer[i].streams; k++)
                must(strlen(o->deserializer[i].stream[k].name) > 0);
    } else {
        must(err.message[0] != '\0');
    }
    imrec_minibatch_config_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_tree(data, size);
    try_options(data, size, "action=");
    try_options(data, size, "action=train");
    return 0;
}
