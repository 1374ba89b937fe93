/* The file of authorities is the first one that can be read, unless libcurl has its own. */
#include "storage/wire/authorities.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

CASE(.timeout = 20)

TEST(the_first_file_that_is_there_is_taken)
{
    const struct tmpdir d = tmpdir_make();
    const char *none = tmp_path(&d, "none"), *a = tmp_write(&d, "a", "", 0),
               *b = tmp_write(&d, "b", "", 0);
    const char *const known[] = {none, b, a, NULL};
    ck_assert_str_eq(authorities_of(NULL, NULL, known), b);
    ck_assert_str_eq(authorities_of(none, none, known), b);
    ck_assert_ptr_null(authorities_of(NULL, NULL, known + 3));
    tmp_remove_all(d.path);
}

TEST(libcurl_keeps_the_file_or_the_folder_that_it_was_built_with)
{
    const struct tmpdir d = tmpdir_make();
    const char *none = tmp_path(&d, "none"), *a = tmp_write(&d, "a", "", 0);
    const char *const known[] = {a, NULL};
    ck_assert_ptr_null(authorities_of(a, none, known));
    ck_assert_ptr_null(authorities_of(none, d.path, known));
    tmp_remove_all(d.path);
}
