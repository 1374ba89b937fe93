/* A program that is linked with the package: a missing shard is an error of the library's own. */
#include <imrec/imrec.h>

#include <errno.h>
#include <stdio.h>

int main(void)
{
    struct imrec_iter_options o;
    struct imrec_iter *it = NULL;
    struct imrec_error err = {0};
    imrec_iter_options_init(&o);
    o.path_imgrec = "none.rec";
    o.data_shape = (struct imrec_shape){.channels = 3, .height = 8, .width = 8};
    o.batch_size = 1;
    const enum imrec_status status = imrec_iter_open(&o, &it, &err);
    printf("%s\n", err.message);
    return status == IMREC_ERR_ARGUMENT && err.sys_errno == ENOENT ? 0 : 1;
}
