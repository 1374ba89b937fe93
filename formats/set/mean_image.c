/*
 * formats/set/mean_image.c - MXNet's list of arrays, with one array: a mean image.
 *
 *     u64 0x112 | u64 0 | u64 arrays = 1                             list
 *     u32 0xf993fac9 | i32 storage = 0 | u32 ndim | i64 dims[ndim]   array, its shape
 *     i32 device type | i32 device id | i32 type = 0 | f32 values    array, its values
 *     u64 names <= 1 | u64 length | name                             names
 * little-endian. Two older layouts of the shape are read too: u32 0xf993fac8 | u32 ndim | i64
 * dims, and u32 ndim | u32 dims.
 */
#include "formats/set/mean_image.h"

#include "base/error.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LIST_MAGIC   0x112u
#define ARRAY_MAGIC2 0xf993fac9u
#define ARRAY_MAGIC1 0xf993fac8u
#define DEVICE_CPU   1u
#define NAME         "mean_img"

struct reader {
    const char *name;
    const uint8_t *p;
    size_t at, n;
    struct imrec_error *err;
    enum imrec_status st; /* the first failure; what is read after it is 0 */
};

static void refuse(struct reader *r, size_t at, const char *field, uint64_t found, const char *must)
{
    if (r->st == IMREC_OK)
        r->st = imrec_error_at(r->err, IMREC_ERR_CORRUPT, at,
                               "%s: the %s of a mean image is %" PRIu64 ", it must be %s", r->name,
                               field, found, must);
}

static const uint8_t *take(struct reader *r, uint64_t n)
{
    static const uint8_t zeros[8];
    if (r->st == IMREC_OK && n > r->n - r->at)
        r->st =
            imrec_error_at(r->err, IMREC_ERR_CORRUPT, r->at,
                           "%s: the mean image ends after %zu bytes, %" PRIu64 " more must follow",
                           r->name, r->n, n - (r->n - r->at));
    if (r->st != IMREC_OK)
        return zeros;
    r->at += (size_t)n;
    return r->p + r->at - (size_t)n;
}

static uint32_t take_u32(struct reader *r)
{
    return load_le32(take(r, 4));
}

static uint64_t take_u64(struct reader *r)
{
    return load_le64(take(r, 8));
}

static void
expect(struct reader *r, const char *field, size_t bytes, uint64_t value, const char *must)
{
    const size_t at = r->at;
    const uint64_t found = bytes == 8 ? take_u64(r) : take_u32(r);
    if (found != value)
        refuse(r, at, field, found, must);
}

static void read_dims(struct reader *r, bool wide, struct mean_image *out)
{
    uint32_t *const dims[] = {&out->channels, &out->height, &out->width};
    static const char *const names[] = {"number of channels", "height", "width"};
    static const uint32_t most[] = {4, MEAN_IMAGE_MAX_SIDE, MEAN_IMAGE_MAX_SIDE};
    static const char *const must[] = {"from 1 to 4", "from 1 to 65535", "from 1 to 65535"};
    for (int i = 0; i < 3; i++) {
        const size_t at = r->at;
        const uint64_t v = wide ? take_u64(r) : take_u32(r);
        if (v == 0 || v > most[i])
            refuse(r, at, names[i], v, must[i]);
        *dims[i] = (uint32_t)v;
    }
}

static void read_shape(struct reader *r, struct mean_image *out)
{
    const size_t at = r->at;
    const uint32_t magic = take_u32(r);
    if (magic == ARRAY_MAGIC2)
        expect(r, "storage type", 4, 0, "0 (dense)");
    if (magic == ARRAY_MAGIC2 || magic == ARRAY_MAGIC1)
        expect(r, "number of dimensions", 4, 3, "3");
    else if (magic != 3) /* the oldest layout begins with the number of dimensions */
        refuse(r, at, "array's magic", magic, "4187224777, 4187224776 or 3");
    read_dims(r, magic != 3, out);
}

static void read_device(struct reader *r)
{
    const size_t at = r->at;
    const uint32_t type = take_u32(r);
    if (type == 0 || type > 5)
        refuse(r, at, "device type", type, "from 1 to 5");
    (void)take_u32(r); /* the device's number says nothing about the file */
    expect(r, "type of values", 4, 0, "0 (float32)");
}

static void read_values(struct reader *r, struct mean_image *out)
{
    const size_t at = r->at;
    const uint64_t n = (uint64_t)out->channels * out->height * out->width * sizeof(float);
    out->values = (struct bytes){take(r, n), (size_t)n};
    for (size_t i = 0; r->st == IMREC_OK && i < n; i += sizeof(float)) {
        const uint32_t bits = load_le32(out->values.p + i);
        if ((bits & 0x7f800000u) == 0x7f800000u)
            refuse(r, at + i, "bit pattern of a value", bits, "that of a finite number");
    }
}

static void read_names(struct reader *r)
{
    const size_t at = r->at;
    const uint64_t names = take_u64(r);
    if (names > 1)
        refuse(r, at, "number of names", names, "0 or 1");
    if (names == 1) {
        const size_t length_at = r->at;
        const uint64_t length = take_u64(r);
        if (length > r->n)
            refuse(r, length_at, "length of the name", length, "that of the rest of the file");
        (void)take(r, length);
    }
    if (r->st == IMREC_OK && r->at != r->n)
        refuse(r, r->at, "number of bytes after the end", r->n - r->at, "0");
}

enum imrec_status mean_image_read(const char *name, struct bytes file, struct mean_image *out,
                                  struct imrec_error *err)
{
    struct reader r = {name, file.p, 0, file.n, err, IMREC_OK};
    *out = (struct mean_image){0};
    expect(&r, "magic", 8, LIST_MAGIC, "274");
    expect(&r, "reserved field", 8, 0, "0");
    expect(&r, "number of arrays", 8, 1, "1");
    read_shape(&r, out);
    read_device(&r);
    read_values(&r, out);
    read_names(&r);
    return r.st;
}

void mean_image_values(const struct mean_image *m, float *out)
{
    for (size_t i = 0; i < m->values.n / sizeof(float); i++) {
        const uint32_t bits = load_le32(m->values.p + i * sizeof(float));
        memcpy(&out[i], &bits, sizeof(bits));
    }
}

/* `wide` fields have 64 bits, the others 32. */
struct field {
    uint64_t value;
    bool wide;
};

static enum imrec_status
put_fields(struct buf *out, const struct field *fields, size_t n, struct imrec_error *err)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t b[8];
        store_le64(b, fields[i].value);
        IMREC_TRY(buf_append(out, b, fields[i].wide ? 8 : 4, err));
    }
    return IMREC_OK;
}

static enum imrec_status
put_values(struct buf *out, const float *values, size_t n, struct imrec_error *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        uint8_t b[4];
        memcpy(&bits, &values[i], sizeof(bits));
        store_le32(b, bits);
        if (!isfinite(values[i]))
            return IMREC_REFUSE(err, "value %zu of a mean image is not a finite number", i);
        IMREC_TRY(buf_append(out, b, sizeof(b), err));
    }
    return IMREC_OK;
}

static enum imrec_status
put_all(struct buf *out, const float *values, const uint32_t dims[3], struct imrec_error *err)
{
    const struct field head[] = {{LIST_MAGIC, true},    {0, true},       {1, true},
                                 {ARRAY_MAGIC2, false}, {0, false},      {3, false},
                                 {dims[0], true},       {dims[1], true}, {dims[2], true},
                                 {DEVICE_CPU, false},   {0, false},      {0, false}};
    const struct field tail[] = {{1, true}, {strlen(NAME), true}};
    IMREC_TRY(put_fields(out, head, sizeof(head) / sizeof(head[0]), err));
    IMREC_TRY(put_values(out, values, (size_t)dims[0] * dims[1] * dims[2], err));
    IMREC_TRY(put_fields(out, tail, sizeof(tail) / sizeof(tail[0]), err));
    return buf_append(out, NAME, strlen(NAME), err);
}

enum imrec_status mean_image_write(struct buf *out, const float *values, uint32_t channels,
                                   uint32_t height, uint32_t width, struct imrec_error *err)
{
    if (channels == 0 || channels > 4 || height == 0 || height > MEAN_IMAGE_MAX_SIDE ||
        width == 0 || width > MEAN_IMAGE_MAX_SIDE)
        return IMREC_REFUSE(err,
                            "a mean image of %u x %u x %u: 1 to 4 channels and sides up to %u are "
                            "possible",
                            channels, height, width, MEAN_IMAGE_MAX_SIDE);
    const size_t before = out->n;
    const enum imrec_status st =
        put_all(out, values, (const uint32_t[3]){channels, height, width}, err);
    if (st != IMREC_OK)
        out->n = before;
    return st;
}
