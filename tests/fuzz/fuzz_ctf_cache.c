/* tests/fuzz/fuzz_ctf_cache.c - arbitrary bytes as the cache of a text of 4096 bytes: the head is
 * made to be known and all checksums right, so that the bounds alone stand between the bytes and
 * who uses the index. */
#include "base/alloc.h"
#include "formats/crc32c.h"
#include "formats/ctf/ctf_cache.h"
#include "tests/fuzz/must.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_chunk(const struct ctf_chunk *c, const struct ctf_cache *place, uint8_t *file)
{
    uint8_t *at = file + place->sequences_at + c->first * CTF_CACHE_SEQUENCE_BYTES;
    const size_t n = (size_t)c->sequences * CTF_CACHE_SEQUENCE_BYTES;
    struct ctf_sequence *s = imrec_realloc(NULL, c->sequences, sizeof(*s));
    must(s != NULL);
    if (ctf_cache_read_chunk(c, crc32c(0, at, n), at, s) == NULL) {
        uint64_t samples = 0, end = c->offset;
        for (uint32_t i = 0; i < c->sequences; i++) {
            must(s[i].offset == end);
            end += s[i].bytes;
            samples += s[i].length;
        }
        must(end == c->offset + c->bytes && samples == c->samples);
    }
    imrec_free(s);
}

static void check_table(const struct ctf_cache *place, uint8_t *file, uint64_t text)
{
    struct ctf_chunk *c = imrec_realloc(NULL, place->chunks, sizeof(*c));
    uint32_t *crc = imrec_realloc(NULL, place->chunks, sizeof(*crc));
    must(c != NULL && crc != NULL);
    if (ctf_cache_read_table(place, file + place->table_at, text, c, crc) == NULL)
        for (uint64_t i = 0; i < place->chunks; i++) {
            must(c[i].first + c[i].sequences <= place->sequences);
            must(c[i].offset + c[i].bytes <= text);
            check_chunk(&c[i], place, file);
        }
    imrec_free(c);
    imrec_free(crc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ctf_index_options o = {.name = "t",
                                        .size = 4096,
                                        .main_alias = "ab",
                                        .skip_sequence_ids = false,
                                        .chunk_bytes = 1024};
    const struct ctf_cache_facts facts = {&o, 1, 2};
    const struct ctf_index none = {0};
    const size_t head = ctf_cache_head_bytes(&o);
    struct ctf_cache c;
    if (size < head || (data[0] & 1) != 0) { /* as they are */
        uint8_t plain[256] = {0};
        memcpy(plain, data, size < sizeof(plain) ? size : sizeof(plain));
        must(ctf_cache_read_head(plain, &facts, size, &c) != NULL || size >= head);
        return 0;
    }
    uint8_t *file = imrec_realloc(NULL, size, 1);
    must(file != NULL);
    ctf_cache_write_head(&none, &facts, 0, file);
    memcpy(file + 56, data + 56, 28);
    memcpy(file + head, data + head, size - head);
    uint64_t table;
    if (!__builtin_mul_overflow(load_le64(file + 72), CTF_CACHE_CHUNK_BYTES, &table) &&
        table <= size - head)
        store_le32(file + 80, crc32c(0, file + head, (size_t)table));
    store_le32(file + head - 8, crc32c(0, file, head - 8));
    if (ctf_cache_read_head(file, &facts, size, &c) == NULL) {
        must(c.sequences_at + c.sequences * CTF_CACHE_SEQUENCE_BYTES == size);
        check_table(&c, file, o.size);
    }
    imrec_free(file);
    return 0;
}
