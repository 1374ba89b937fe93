/* augment/normalize/normalize_rows.h - what the variants of normalize_row() share. Who includes it
 * defines LOOP: the words before an inline function, BLOCK: pixels, and struct lane: what is the
 * same for value k of all blocks. */
struct row {
    const struct normalize_job *job;
    const uint8_t *src;
    const float *mean; /* of this row in the mean image's first plane */
    uint8_t *out;      /* the row's first value */
    size_t plane;      /* values */
    struct lane lane[4];
};

LOOP struct lane load_lane(const struct normalize_job *j, uint32_t k);

LOOP void begin(struct row *r, const struct normalize_job *j, const uint8_t *src, uint32_t y,
                uint32_t channels)
{
    const bool planes = j->how.layout == IMREC_NCHW;
    const size_t first = (size_t)y * j->width, to = normalize_slot_row(j, y) * j->width;
    r->job = j;
    r->src = src;
    r->plane = (size_t)j->width * j->height;
    r->mean = j->how.mean_image != NULL ? j->how.mean_image + first : NULL;
    r->out = (uint8_t *)j->out + (planes ? to : to * channels) * dtype_size(j->how.dtype);
    for (uint32_t k = 0; k < channels; k++)
        r->lane[k] = load_lane(j, k);
}

/* Where value k of the block at column x of the slot goes. */
LOOP uint8_t *
place_of(const struct row *r, uint32_t x, uint32_t k, uint32_t channels, enum imrec_dtype dtype)
{
    const size_t size = dtype == IMREC_FLOAT32                              ? 4
                        : dtype == IMREC_FLOAT16 || dtype == IMREC_BFLOAT16 ? 2
                                                                            : 1;
    const bool planes = r->job->how.layout == IMREC_NCHW;
    return r->out + (planes ? k * r->plane + x : (size_t)x * channels + BLOCK * k) * size;
}

LOOP void whole_row(const struct normalize_job *j, const uint8_t *src, uint32_t y,
                    uint32_t channels, enum imrec_dtype dtype, bool image);

/* Of float32 without a mean image, around the caches. */
LOOP void
streamed_row(const struct normalize_job *j, const uint8_t *src, uint32_t y, uint32_t channels);

/* Every dtype as a row of its own, so that nothing is decided inside it. */
LOOP void row_of(const struct normalize_job *j, const uint8_t *src, uint32_t y, uint32_t channels)
{
    const bool image = j->how.mean_image != NULL;
    switch (j->how.dtype) {
    case IMREC_FLOAT32:
        if (image)
            whole_row(j, src, y, channels, IMREC_FLOAT32, true);
        else if (normalize_streams(j))
            streamed_row(j, src, y, channels);
        else
            whole_row(j, src, y, channels, IMREC_FLOAT32, false);
        break;
    case IMREC_FLOAT16:
        if (image)
            whole_row(j, src, y, channels, IMREC_FLOAT16, true);
        else
            whole_row(j, src, y, channels, IMREC_FLOAT16, false);
        break;
    case IMREC_BFLOAT16:
        if (image)
            whole_row(j, src, y, channels, IMREC_BFLOAT16, true);
        else
            whole_row(j, src, y, channels, IMREC_BFLOAT16, false);
        break;
    case IMREC_UINT8:
        whole_row(j, src, y, channels, IMREC_UINT8, false);
        break;
    case IMREC_INT8:
        whole_row(j, src, y, channels, IMREC_INT8, false);
        break;
    }
}

LOOP void by_channels(const struct normalize_job *job, const uint8_t *src, uint32_t y)
{
    if (job->channels == 3)
        row_of(job, src, y, 3);
    else if (job->channels == 1)
        row_of(job, src, y, 1);
    else
        row_of(job, src, y, 4);
}
