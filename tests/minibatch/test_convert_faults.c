/* tests/minibatch/test_convert_faults.c - text to binary where memory runs out: an error, no output
 * and nothing left behind, with a header file and with a configuration in its place. */
#include "base/alloc.h"
#include "imrec/convert.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <string.h>
#include <unistd.h>

static struct tmpdir dir;

static const char text[] = "1 |x 1 2 |w 3:1\n1 |x 3 4\n2 |x 5 6 |w 0:0.5\n";
static const char *const headers[] = {
    "x x dense 2 double\nwords w sparse 9\n",
    "command = a\na = [ action = train ; SGD = [ minibatchSize = 3 ]\n reader = [ file = $No$\n"
    " input = [ x = [ dim = 2 ; format = dense ; precision = double ]\n"
    "           words = [ alias = w ; dim = 9 ; format = sparse ] ] ] ]\n"};

START_TEST(no_memory_is_an_error_and_leaves_nothing) /* loop: header file, configuration */
{
    enum imrec_status st = IMREC_ERR_NO_MEMORY;
    struct imrec_convert_options o;
    struct imrec_convert_result result = {0};
    struct imrec_error err;
    imrec_convert_options_init(&o);
    o.input = tmp_write(&dir, "a.ctf", text, sizeof(text) - 1);
    o.header = tmp_write(&dir, "header", headers[_i], strlen(headers[_i]));
    o.output = tmp_path(&dir, "a.cbf");
    o.precision_of = "words=float";
    o.action = _i == 1 ? "train" : "";
    o.threads = 1;
    (void)unlink(o.output);
    for (long n = 0; st != IMREC_OK; n++) {
        const long live = imrec_alloc_live();
        imrec_alloc_fail_after(n);
        st = imrec_ctf_to_cbf(&o, NULL, NULL, &result, &err);
        imrec_alloc_fail_after(-1);
        ck_assert_msg(st == IMREC_OK || st == IMREC_ERR_NO_MEMORY, "%ld: %s", n, err.message);
        ck_assert_int_eq(imrec_alloc_live(), live);
        ck_assert(st == IMREC_OK || access(o.output, F_OK) != 0);
    }
    ck_assert_uint_eq(result.sequences, 2);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("convert_faults");
    TCase *tc = tcase_create("memory");
    dir = tmpdir_make();
    tcase_add_loop_test(tc, no_memory_is_an_error_and_leaves_nothing, 0, 2);
    suite_add_tcase(s, tc);
    const int result = suite_run(s);
    tmpdir_remove(&dir);
    return result;
}
