/* tests/fuzz/fuzz_minibatch_position.c - arbitrary text as a position of a minibatch source, whole
 * or truncated, for a global rank or a local one: refused with a sentence, or a place that reads on
 * and writes and reads the same. */
#include "imrec/minibatch.h"
#include "storage/mem.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct imrec_minibatch_source *open_set(const char *truncation, const char *mode)
{
    static const char text[] = "1 |a 1\n1 |a 2\n2 |a 3\n3 |a 4\n3 |a 5\n3 |a 6\n4 |a 7\n5 |a 8\n";
    static const char *const keys[] = {"file=mem://fuzz.ctf", "input.a.format=dense",
                                       "input.a.dim=1",       "chunkSizeInBytes=20",
                                       "randomizationSeed=3", "randomizationWindow=2",
                                       "minibatchSize=4",     "threads=1",
                                       "num_ranks=2",         "rank=1"};
    struct imrec_minibatch_config *c;
    struct imrec_minibatch_source *s;
    must(mem_put("fuzz.ctf", text, sizeof(text) - 1, NULL) == IMREC_OK);
    must(imrec_minibatch_config_new(&c, NULL) == IMREC_OK);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        must(imrec_minibatch_config_set(c, keys[i], NULL) == IMREC_OK);
    must(imrec_minibatch_config_set(c, truncation, NULL) == IMREC_OK);
    must(imrec_minibatch_config_set(c, mode, NULL) == IMREC_OK);
    must(imrec_minibatch_source_open(imrec_minibatch_config_options(c), &s, NULL) == IMREC_OK);
    imrec_minibatch_config_free(c);
    return s;
}

static void try_text(struct imrec_minibatch_source *s, const char *text)
{
    struct imrec_error err = {0};
    struct imrec_minibatch m;
    const char *json;
    must(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
    char *begin = strdup(json);
    const enum imrec_status st = imrec_minibatch_seek(s, text, &err);
    must(st == IMREC_OK || err.message[0] != '\0');
    must(imrec_minibatch_position(s, &json, NULL) == IMREC_OK);
    char *copy = strdup(json);
    must(imrec_minibatch_seek(s, copy, NULL) == IMREC_OK);
    must(imrec_minibatch_position(s, &json, NULL) == IMREC_OK && strcmp(json, copy) == 0);
    must(imrec_minibatch_next(s, 0, NULL, 0, &m, NULL) == IMREC_OK);
    must(imrec_minibatch_seek(s, begin, NULL) == IMREC_OK); /* the next text begins here too */
    free(copy);
    free(begin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct imrec_minibatch_source *whole, *truncated, *local;
    char *text = malloc(size + 1);
    if (whole == NULL) { /* kept for the process */
        whole = open_set("truncationLength=0", "rank_mode=global");
        truncated = open_set("truncationLength=2", "rank_mode=global");
        local = open_set("truncationLength=2", "rank_mode=local");
    }
    memcpy(text, data, size);
    text[size] = '\0';
    try_text(whole, text);
    try_text(truncated, text);
    try_text(local, text);
    free(text);
    return 0;
}
