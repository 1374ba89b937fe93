/* Events of XML: what is passed over, what is text, what is refused, and where. */
#include "formats/xml_text.h"
#include "tests/support/suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static struct xml x;
static struct imrec_error err;

/* "path=text;" of every element, as it closes; or "!byte". */
static const char *told(const char *text)
{
    static char out[8192];
    size_t n = 0;
    enum xml_event event;
    enum imrec_status st;
    xml_begin(&x, "a.xml", (struct bytes){(const uint8_t *)text, strlen(text)});
    while ((st = xml_next(&x, &event, &err)) == IMREC_OK)
        if (event == XML_CLOSE)
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%s=%s;", x.path, x.text);
    if (st != IMREC_END)
        snprintf(out + n, sizeof(out) - n, "!%zu", (size_t)err.offset);
    return out;
}

static const struct {
    const char *text, *want;
} cases[] = {
    {"<a/>", "/a=;"},
    {"<a>b</a>", "/a=b;"},
    {"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ELEMENT a (b)>]>\n<a> b </a>\n", "/a=b;"},
    {"<a><b>1</b><b>2</b></a>", "/a/b=1;/a/b=2;/a=;"},
    {"<a x='>' y=\"/>\"><b z='1'/>t</a>", "/a/b=;/a=t;"},
    {"<a>\n <b>\t1 2 </b>\n</a>", "/a/b=1 2;/a=;"},
    {"<a>&lt;&amp;&gt;&quot;&apos;&#65;&#x20ac;</a>", "/a=<&>\"'A\xe2\x82\xac;"},
    {"<a><!-- <b> & --><![CDATA[<c>&]]><?p ?></a>", "/a=<c>&;"},
    {"<a ><b >1</b ></a >", "/a/b=1;/a=;"},
    {"<\xc3\xa4/>", "/\xc3\xa4=;"},
    {"", "!0"},
    {"text", "!0"},
    {"<a>", "!3"},
    {"<a></b>", "!6"},
    {"<a></aa>", "!7"},
    {"<aa></a>", "!7"},
    {"</a>", "!3"},
    {"<a/><b/>", "/a=;!6"},
    {"<a/>x", "/a=;!4"},
    {"<a>&nbsp;</a>", "!3"},
    {"<a>&#0;</a>", "!3"},
    {"<a>&#xd800;</a>", "!3"},
    {"<a>&#1114112;</a>", "!3"},
    {"<a>& b</a>", "!3"},
    {"<a", "!2"},
    {"<a b='", "!6"},
    {"<a><!-- </a>", "!3"},
    {"<!DOCTYPE a [", "!0"},
    {"<a><![CDATA[</a>", "!3"},
    {"<>", "!1"},
    {"<a<b/>", "!3"},
};

START_TEST(elements_come_with_their_paths_and_texts_or_the_byte_that_is_wrong)
{
    ck_assert_str_eq(told(cases[_i].text), cases[_i].want);
}
END_TEST

START_TEST(depth_and_text_are_bounded)
{
    static char deep[1024], longer[8192];
    for (int i = 0; i < 65; i++)
        strcat(deep, "<a>");
    ck_assert_ptr_nonnull(strchr(told(deep), '!'));
    ck_assert_ptr_nonnull(strstr(err.message, "too deep"));
    memset(longer, 'x', sizeof(longer) - 1);
    memcpy(longer, "<a>", 3);
    ck_assert_ptr_nonnull(strchr(told(longer), '!'));
    ck_assert_ptr_nonnull(strstr(err.message, "too long"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("xml text");
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, elements_come_with_their_paths_and_texts_or_the_byte_that_is_wrong, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(t, depth_and_text_are_bounded);
    suite_add_tcase(s, t);
    return suite_run(s);
}
