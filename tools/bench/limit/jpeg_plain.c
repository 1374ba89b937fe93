/*
 * tools/bench/limit/jpeg_plain.c - the yardstick: a whole JPEG to RGB, as a careful programmer
 * would write it with libjpeg-turbo. One decompressor and one output buffer, both used again;
 * jpeg_mem_src(), jpeg_read_scanlines() straight into the image; nothing clever, nothing that slows
 * it down.
 */
#include "tools/bench/limit/jpeg_plain.h"

#include "base/alloc.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

enum { ROWS_AT_ONCE = 16 };

struct jpeg_plain {
    struct jpeg_decompress_struct cinfo; /* client_data is this struct */
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    struct image out;
    struct bytes image;
    struct imrec_error *err;
    enum imrec_status st;
};

static void give_up(j_common_ptr cinfo)
{
    longjmp(((struct jpeg_plain *)cinfo->client_data)->escape, 1);
}

static void ignore_message(j_common_ptr cinfo, int level)
{
    (void)cinfo, (void)level;
}

static void decode(struct jpeg_plain *p)
{
    struct jpeg_decompress_struct *cinfo = &p->cinfo;
    jpeg_mem_src(cinfo, p->image.p, (unsigned long)p->image.n);
    (void)jpeg_read_header(cinfo, TRUE);
    if (cinfo->num_components != 4) /* libjpeg does not mix inks: CMYK stays */
        cinfo->out_color_space = JCS_RGB;
    (void)jpeg_start_decompress(cinfo);
    p->st = image_resize_buffer(&p->out, cinfo->output_width, cinfo->output_height,
                                (uint32_t)cinfo->output_components, p->err);
    if (p->st != IMREC_OK) {
        jpeg_abort_decompress(cinfo);
        return;
    }
    const struct imrec_image *v = &p->out.view;
    while (cinfo->output_scanline < cinfo->output_height) {
        JSAMPROW rows[ROWS_AT_ONCE];
        const JDIMENSION y = cinfo->output_scanline, left = cinfo->output_height - y;
        const JDIMENSION n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        for (JDIMENSION i = 0; i < n; i++)
            rows[i] = v->pixels + (y + i) * v->stride;
        (void)jpeg_read_scanlines(cinfo, rows, n);
    }
    (void)jpeg_finish_decompress(cinfo);
}

static void create(struct jpeg_plain *p)
{
    jpeg_create_decompress(&p->cinfo);
}

static enum imrec_status run(struct jpeg_plain *p, void (*body)(struct jpeg_plain *))
{
    char text[JMSG_LENGTH_MAX];
    p->st = IMREC_OK;
    if (setjmp(p->escape) == 0) {
        body(p);
        return p->st;
    }
    p->errors.format_message((j_common_ptr)&p->cinfo, text);
    if (p->cinfo.mem != NULL)
        jpeg_abort_decompress(&p->cinfo);
    return imrec_fail(p->err, IMREC_ERR_CORRUPT, "JPEG: %s", text);
}

enum imrec_status jpeg_plain_new(struct jpeg_plain **out, struct imrec_error *err)
{
    struct jpeg_plain *p = imrec_zalloc(1, sizeof(*p));
    if (p == NULL)
        return IMREC_NO_MEMORY(err, "no memory for a JPEG decoder");
    p->cinfo.err = jpeg_std_error(&p->errors);
    p->errors.error_exit = give_up;
    p->errors.emit_message = ignore_message;
    p->cinfo.client_data = p;
    p->err = err;
    const enum imrec_status st = run(p, create);
    if (st == IMREC_OK)
        *out = p;
    else
        jpeg_plain_free(p);
    return st;
}

void jpeg_plain_free(struct jpeg_plain *p)
{
    if (p == NULL)
        return;
    jpeg_destroy_decompress(&p->cinfo);
    image_free(&p->out);
    imrec_free(p);
}

enum imrec_status jpeg_plain_decode(struct jpeg_plain *p, struct bytes image,
                                    struct imrec_image *out, struct imrec_error *err)
{
    p->image = image;
    p->err = err;
    IMREC_TRY(run(p, decode));
    *out = p->out.view;
    return IMREC_OK;
}
