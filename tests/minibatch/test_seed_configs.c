/* tests/minibatch/test_seed_configs.c - every reader section of the text reader's page is read.
 */
#include "base/alloc.h"
#include "imrec/minibatch.h"
#include "storage/source.h"
#include "tests/support/shared.h"
#include "tests/support/suite.h"

#include <string.h>

static char *page;
static size_t page_bytes;

/* The section that begins at p: up to its closing bracket. */
static size_t section_length(const char *p)
{
    size_t n = strcspn(p, "[{"), depth = 0;
    do {
        depth += strchr("[{(", p[n]) != NULL;
        depth -= strchr("]})", p[n]) != NULL;
        n++;
    } while (depth > 0 && p[n] != '\0');
    return n;
}

START_TEST(every_reader_section_of_the_page_is_read)
{
    int sections = 0;
    for (char *p = page; (p = strstr(p, "\nreader = ")) != NULL; p++) {
        struct imrec_minibatch_config *c;
        struct imrec_error err;
        ck_assert_int_eq(imrec_minibatch_config_new(&c, NULL), IMREC_OK);
        ck_assert_msg(imrec_minibatch_config_parse(c, "page", p, section_length(p), &err) ==
                          IMREC_OK,
                      "%s", err.message);
        const struct imrec_minibatch_options *o = imrec_minibatch_config_options(c);
        ck_assert_uint_eq(o->deserializers, 1);
        ck_assert_ptr_nonnull(strstr(o->deserializer->file, "SampleInput.txt"));
        ck_assert(o->deserializer->streams == 2 || o->deserializer->streams == 3);
        if (strstr(p, "c:\\") != NULL && sections == 0)
            ck_assert_str_eq(o->deserializer->file, "c:\\mydata\\SampleInput.txt");
        imrec_minibatch_config_free(c);
        sections++;
    }
    ck_assert_int_eq(sections, 3);
}
END_TEST

int main(void)
{
    shared_or_skip();
    const char *path = shared_path("seeds/001_7f5d750f86adb734.txt");
    uint8_t *text;
    if (source_load(path, (size_t)1 << 20, &text, &page_bytes, NULL) != IMREC_OK)
        return 77;
    page = (char *)text;
    Suite *s = suite_create("seed_configs");
    TCase *tc = tcase_create("core");
    suite_add_tcase(s, tc);
    tcase_add_test(tc, every_reader_section_of_the_page_is_read);
    const int result = suite_run(s);
    imrec_free(text);
    return result;
}
