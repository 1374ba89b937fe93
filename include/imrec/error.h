/* imrec/error.h - outcome of a call, the error that a caller owns, and the log. */
#ifndef IMREC_ERROR_H
#define IMREC_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMREC_API       __attribute__((visibility("default")))
#define IMREC_NODISCARD __attribute__((warn_unused_result))
#define IMREC_NO_OFFSET UINT64_MAX

/* Outcome of every call that can fail: 0 is success, IMREC_END is an ordinary end of data, any
 * larger value is an error. Values are never renumbered. */
enum imrec_status {
    IMREC_OK = 0,
    IMREC_END = 1,      /* the sweep is over; the next call begins the next one */
    IMREC_ERR_ARGUMENT, /* the caller passed something invalid */
    IMREC_ERR_NO_MEMORY,
    IMREC_ERR_IO,          /* the storage failed; sys_errno gives the reason */
    IMREC_ERR_CORRUPT,     /* the bytes break the format; offset gives the place */
    IMREC_ERR_UNSUPPORTED, /* valid, but this build cannot read it */
    IMREC_ERR_LIMIT,       /* a documented limit would be exceeded */
    IMREC_ERR_DATA,        /* a batch was delivered, some of its slots are zeroed and flagged */
    IMREC_ERR_CANCELLED,   /* another thread closed the object that this call waited for */
};

#define IMREC_ERROR_PATH_BYTES 256

/* Owned by the caller, usually on the stack; may be passed as NULL. Written only on failure. */
struct imrec_error {
    enum imrec_status status;
    int sys_errno;     /* errno of IMREC_ERR_IO; ENOENT with IMREC_ERR_ARGUMENT if a file that
                          the caller named does not exist, EEXIST if an output exists; otherwise 0 */
    uint64_t offset;   /* byte offset in the shard, or IMREC_NO_OFFSET */
    char message[512]; /* one UTF-8 sentence, NUL-terminated, no newline */
    char shard[IMREC_ERROR_PATH_BYTES]; /* path of the shard or file at fault, any bytes, cut if it
                                           is longer; "": none, or several */
    uint64_t id;                        /* of the record at fault, if has_id */
    bool has_id;
};

/* What to do with a bad sample or image: stop with an error, or count it and continue. The iterator
 * can also deliver another sample instead (IMREC_REPLACE_TRIES in iterator.h). */
enum imrec_on_error { IMREC_ON_ERROR_STOP, IMREC_ON_ERROR_SKIP, IMREC_ON_ERROR_REPLACE };

/* The library never prints: warnings and traces go to this callback, from any thread, one at a
 * time. NULL (default) drops them. Set it before the first other call; `user` must outlive the last
 * call. `line` has no newline and is valid during the callback only. */
enum imrec_log_level { IMREC_LOG_WARNING, IMREC_LOG_TRACE };
typedef void imrec_log_fn(void *user, enum imrec_log_level level, const char *line);
IMREC_API void imrec_set_log(imrec_log_fn *callback, void *user, enum imrec_log_level level);

#ifdef __cplusplus
}
#endif
#endif
