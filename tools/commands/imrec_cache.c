/* tools/commands/imrec_cache.c - what a cache of stores has: shown, checked, emptied. */
#include "storage/cache/cache.h"
#include "tools/commands/command.h"

#define CACHE_PARAMS(X)                                                                            \
    X(bool, check, "0", 0, 1, "", "cache", "compare every byte with its checksum")                 \
    X(bool, empty, "0", 0, 1, "", "cache", "keep nothing any more, and free the disk")             \
    ROW_JSON(X)
COMMAND(cache, CACHE_PARAMS, 1, 1) = {
    PAGE_OF("cache", "0 fine, 1 failed or damage found, 2 wrong usage"),
    .summary = "show, check or empty the directory of cache=DIR",
    .usage = {"[OPTIONS] DIR"},
    .text =
        "Shows what cache=DIR keeps of web servers, buckets and HDFS: its size, then bytes and\n"
        "URI of each object, without name, password and query. An object that was replaced in\n"
        "its store may be there in two versions. What --check finds damaged is never used: it\n"
        "is read from the store again. --empty changes nothing but the cache's own file, whose\n"
        "bound stays; programs that use it continue.",
    .examples = "  imrec cache /scratch/cache\n"
                "  imrec cache /scratch/cache --check --json\n"
                "  imrec cache /scratch/cache --empty\n",
};

static void print_json(const struct cache_contents *c)
{
    struct json j;
    json_begin(&j, stdout);
    json_text(&j, "file", c->path);
    JSON_UINTS(&j, {"cache_size", c->bound}, {"bytes", c->bytes}, {"disk_bytes", c->disk_bytes},
               {"blocks", c->blocks}, {"broken_blocks", c->broken});
    json_array(&j, "objects");
    for (size_t i = 0; i < c->count; i++) {
        json_object(&j, NULL);
        json_text(&j, "uri", c->kept[i].name);
        JSON_UINTS(&j, {"bytes", c->kept[i].bytes}, {"blocks", c->kept[i].blocks},
                   {"broken_blocks", c->kept[i].broken});
        json_end(&j);
    }
    json_end(&j);
    json_close(&j);
}

static void print_text(const struct cache_contents *c)
{
    char used[HUMAN_BYTES], bound[HUMAN_BYTES];
    printf("%s: %s of at most %s; blocks: %" PRIu64 ", objects: %zu\n", cli_show(c->path),
           human_size(c->bytes, used), human_size(c->bound, bound), c->blocks, c->count);
    for (size_t i = 0; i < c->count; i++) {
        printf("%10s  %s", human_size(c->kept[i].bytes, used), cli_show(c->kept[i].name));
        if (c->kept[i].broken != 0)
            printf("  (damaged blocks: %" PRIu64 ")", c->kept[i].broken);
        putchar('\n');
    }
}

static int run(const struct options *o, int n, char **operand)
{
    struct cache_contents c;
    struct imrec_error err;
    char broken[HUMAN_THINGS];
    (void)n;
    if (o->check && o->empty)
        return cli_refuse(stderr, page.name, "give one of --check and --empty");
    if (o->empty && cache_empty(operand[0], &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    if (cache_contents_read(operand[0], o->check, &c, &err) != IMREC_OK)
        return cli_fail(page.name, &err);
    if (o->json)
        print_json(&c);
    else
        print_text(&c);
    if (!o->json && o->check && c.broken == 0)
        puts("every checksum is right");
    const int status =
        c.broken != 0
            ? cli_say(page.name, "%s: the next run reads from the store again what was in it",
                      human_things(c.broken, "damaged block", broken))
            : EXIT_OK;
    cache_contents_free(&c);
    return status;
}
