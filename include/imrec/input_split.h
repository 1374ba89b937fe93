/* imrec/input_split.h - the lines or records of part k of n of files in any store: dmlc-core's
 * InputSplit. See docs/guide/input_split.md.
 *
 *     struct imrec_input_split_options o;
 *     imrec_input_split_options_init(&o);
 *     o.part_index = 0;
 *     o.num_parts = 4;
 *     if (imrec_input_split_open("s3://bucket/lists/", &o, &split, &err) == IMREC_OK)
 *         while (imrec_input_split_next(split, &line, &err) == IMREC_OK)
 *             use(line.data, line.size);
 *     imrec_input_split_close(split);
 */
#ifndef IMREC_INPUT_SPLIT_H
#define IMREC_INPUT_SPLIT_H

#include "imrec/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a record is.
 *
 * IMREC_SPLIT_TEXT: a line, without its end. LF, CR and any run of them end a line, so blank lines
 * are no records; line ends at the beginning of a file are one empty record. The last line of a
 * file need not be ended; no line continues in the next file.
 *
 * IMREC_SPLIT_RECORDIO: a record of RecordIO, its parts joined.
 *
 * IMREC_SPLIT_INDEXED_RECORDIO: the same, listed by an index (.idx). */
enum imrec_split_type { IMREC_SPLIT_TEXT, IMREC_SPLIT_RECORDIO, IMREC_SPLIT_INDEXED_RECORDIO };

/* Fill with imrec_input_split_options_init(), then set what differs. Texts need to live as long as
 * the call that takes them. */
struct imrec_input_split_options {
    size_t struct_size;
    enum imrec_split_type type;   /* default: IMREC_SPLIT_TEXT */
    const char *index_uri;        /* IMREC_SPLIT_INDEXED_RECORDIO: the index of each file, as a list
                                     with ';'. NULL or "auto": NAME.idx next to each NAME.rec */
    uint64_t part_index;          /* which part, from 0 to num_parts - 1; default 0 */
    uint64_t num_parts;           /* 1 or more; default 1 */
    bool shuffle;                 /* chunks come in an order of seed and pass, with an index single
                                     records do; default false: the order of the files */
    uint64_t seed;                /* of that order; default 0 */
    enum imrec_on_error on_error; /* IMREC_ON_ERROR_STOP (default): what is damaged is returned as
                                     IMREC_ERR_DATA. IMREC_ON_ERROR_SKIP: it is counted, see
                                     imrec_input_split_lost() */
    uint64_t chunk_bytes;         /* size of a chunk in a file, a multiple of 4 from 4 to 2^40;
                                     default 8 MiB. Not with an index */
    uint64_t chunk_records;       /* with an index: records of a chunk, at most 2^20; 0 (default):
                                     about 8 MiB of them */
    uint64_t max_record_bytes; /* a longer line, or a record that takes more bytes in its file, is
                                  damaged; from chunk_bytes to 2^40; default 64 MiB */
    uint32_t prefetch;         /* chunks that are read ahead, 1 to 1024; default 3 */
    uint32_t threads;          /* that read them, 1 to 64; default 2. No result depends on it */
};

/* A record, or the bytes of several. Pointers are valid until the next call on the split. */
struct imrec_split_bytes {
    const void *data; /* of a line: followed by a byte 0 that size does not count */
    size_t size;
    const char *uri; /* of its file; valid until the split is closed or gets another partition */
    uint32_t file;   /* number of the file in the expanded list, from 0 */
    uint64_t offset; /* of its first byte in the file; of a RecordIO record: of its head */
};

struct imrec_input_split; /* opaque; one thread at a time */

IMREC_API void
imrec_input_split_options_init_sized(struct imrec_input_split_options *o, size_t size);
static inline void imrec_input_split_options_init(struct imrec_input_split_options *o)
{
    imrec_input_split_options_init_sized(o, sizeof(*o));
}

/* Opens part part_index of num_parts of `uri`: a file, "a.txt;b.txt", a folder or a glob, each of
 * any store. A folder means all its files in the order of their names (text; hidden files not
 * included) or its *.rec. options NULL: the defaults. On failure *out is NULL.
 *
 * The files' concatenation is cut into num_parts steps of equal size (RecordIO: rounded up to 4). A
 * record belongs to the part that contains its first byte, a line to the part that contains the
 * byte before it, as in dmlc-core; the first line of a file: its first byte. With an index, records
 * are counted off in the order of their offsets. So each record is in exactly one part, and a part
 * can be empty.
 *
 * Memory: (prefetch + 1) chunks, each typically chunk_bytes + 1 MiB; at most 2 x chunk_bytes +
 * 4 x max_record_bytes (with an index: 4 x chunk_records x max_record_bytes), and 40 bytes a
 * record of RecordIO.
 *
 * IMREC_ERR_ARGUMENT for what is not there, a value out of its range, files that are not RecordIO;
 * IMREC_ERR_IO, IMREC_ERR_CORRUPT (an index), IMREC_ERR_UNSUPPORTED (a scheme),
 * IMREC_ERR_NO_MEMORY. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_input_split_open(const char *uri, const struct imrec_input_split_options *options,
                       struct imrec_input_split **out, struct imrec_error *err);

/* The next record.
 *   IMREC_OK        *out is it.
 *   IMREC_END       the pass is over; later calls return the same, until
 * imrec_input_split_rewind(). IMREC_ERR_DATA  bytes are damaged, too long or cannot be read; *err
 * has the file, the offset and the reason. The next call continues after them. other errors    no
 * thread, or no memory for a chunk, which is lost. */
IMREC_API IMREC_NODISCARD enum imrec_status imrec_input_split_next(struct imrec_input_split *s,
                                                                   struct imrec_split_bytes *out,
                                                                   struct imrec_error *err);

/* The rest of the chunk in which the next record is, as the file has it: whole lines with their
 * ends, or whole records with their heads (docs/formats/recordio.md). A chunk never reaches into
 * another file; it ends before damage. The chunks of a part, one after the other, are all its
 * records. With an index and shuffle, a chunk has records of several places, and `uri`, `file` and
 * `offset` are those of the first. Returns what imrec_input_split_next() does. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_input_split_next_chunk(struct imrec_input_split *s, struct imrec_split_bytes *out,
                             struct imrec_error *err);

/* Goes to the first pass of which nothing was delivered; dmlc-core's BeforeFirst(). With shuffle
 * each pass has its own order, a function of seed and pass. */
IMREC_API void imrec_input_split_rewind(struct imrec_input_split *s);

/* Goes to the first pass of another part, as if it had been opened; files are listed again. On
 * failure the split is as before. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_input_split_reset_partition(struct imrec_input_split *s, uint64_t part_index,
                                  uint64_t num_parts, struct imrec_error *err);

/* The place of the next record, as JSON of less than 1024 bytes. *text is for
 * imrec_input_split_position_free(). A split of the same files (names without folder, sizes,
 * index), type, part, order and sizes of chunks continues there; stores, folders, prefetch,
 * threads, on_error and max_record_bytes may differ. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_input_split_position(const struct imrec_input_split *s, char **text, struct imrec_error *err);
IMREC_API void imrec_input_split_position_free(char *text); /* NULL is allowed */
/* Continues at a position. IMREC_ERR_ARGUMENT says what differs; the split is then as before. A
 * place that is no begin of a record is IMREC_ERR_ARGUMENT of the following call. */
IMREC_API IMREC_NODISCARD enum imrec_status
imrec_input_split_restore(struct imrec_input_split *s, const char *text, struct imrec_error *err);

/* How many times something was damaged since opening, returned as IMREC_ERR_DATA or skipped. */
IMREC_API uint64_t imrec_input_split_lost(const struct imrec_input_split *s);
/* Bytes of all files, of all parts. */
IMREC_API uint64_t imrec_input_split_total_bytes(const struct imrec_input_split *s);

/* Waits for reads that have begun, and frees everything. NULL is allowed. */
IMREC_API void imrec_input_split_close(struct imrec_input_split *s);

#ifdef __cplusplus
}
#endif
#endif
