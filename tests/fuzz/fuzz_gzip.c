/* tests/fuzz/fuzz_gzip.c - arbitrary bytes as a file that gzip has packed: what is read of it at
 * any place, in any order, is what is read from its begin on, and it ends where a reason is given.
 *
 * The first 4 bytes choose the places, the others are the file. */
#include "base/alloc.h"
#include "base/bytes.h"
#include "storage/mem.h"
#include "storage/packed/gzip_source.h"
#include "tests/fuzz/must.h"

#define CHOICE_BYTES 4
#define UNPACKED     ((uint64_t)10 << 20) /* more than a source keeps: it goes back */
#define READS        16u
#define READ_MOST    70000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct source *open_packed(void)
{
    struct source *inner, *s;
    struct imrec_error err;
    must(source_open("mem://a.gz", &inner, &err) == IMREC_OK);
    must(gzip_source_open(inner, "a.gz", false, &s, &err) == IMREC_OK);
    return s;
}

/* From the begin on: its bytes, *n of them. */
static uint8_t *unpack(uint64_t *n)
{
    struct imrec_error err = {0};
    struct source *s = open_packed();
    *n = gzip_source_reach(s, UNPACKED);
    must(*n <= UNPACKED);
    must(gzip_source_damage(s, &err) == IMREC_OK || err.message[0] != '\0');
    uint8_t *bytes = malloc((size_t)*n + 1);
    must(bytes != NULL && source_read(s, 0, bytes, (size_t)*n, &err) == IMREC_OK);
    if (*n < UNPACKED) {
        must(source_read(s, *n, bytes + *n, 1, &err) != IMREC_OK && err.message[0] != '\0');
        must(gzip_source_reach(s, UNPACKED) == *n);
    }
    source_close(s);
    return bytes;
}

static void read_places(uint32_t choice, const uint8_t *bytes, uint64_t n)
{
    static uint8_t got[READ_MOST];
    struct imrec_error err;
    struct source *s = open_packed();
    for (uint32_t i = 0; i < READS; i++) {
        choice = choice * 1664525u + 1013904223u;
        const uint64_t at = (choice >> 8) % n, left = n - at;
        const size_t wish = choice % READ_MOST + 1, some = wish < left ? wish : (size_t)left;
        must(source_read(s, at, got, some, &err) == IMREC_OK);
        must(memcmp(got, bytes + at, some) == 0);
    }
    source_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t n;
    if (size < CHOICE_BYTES)
        return 0;
    must(mem_put("a.gz", data + CHOICE_BYTES, size - CHOICE_BYTES, NULL) == IMREC_OK);
    uint8_t *bytes = unpack(&n);
    if (n != 0)
        read_places(load_le32(data), bytes, n);
    free(bytes);
    mem_clear();
    must(imrec_alloc_live() == 0);
    return 0;
}
