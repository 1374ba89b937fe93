/* tests/formats/test_reader_config.c - the sections of CNTK's pages as a tree. */
#include "base/alloc.h"
#include "formats/ctf/reader_config.h"
#include "tests/support/starving.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct bytes text_of(const char *s)
{
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

/* The tree as text again, in one spelling. */
static void write_nodes(const struct config_node *n, char *out, size_t room)
{
    for (; n != NULL; n = n->next) {
        const size_t used = strlen(out);
        const char *brackets = n->kind == CONFIG_SECTION ? "{}" : "()";
        snprintf(out + used, room - used, "%s%s", n->name, n->name[0] != '\0' ? "=" : "");
        if (n->kind == CONFIG_TEXT) {
            snprintf(out + strlen(out), room - strlen(out), "<%s>", n->text);
        } else {
            snprintf(out + strlen(out), room - strlen(out), "%c", brackets[0]);
            write_nodes(n->first, out, room);
            snprintf(out + strlen(out), room - strlen(out), "%c", brackets[1]);
        }
        if (n->next != NULL)
            snprintf(out + strlen(out), room - strlen(out), ";");
    }
}

static const struct {
    const char *text, *tree;
} good[] = {
    {"", ""},
    {"a = 1", "a=<1>"},
    {"\xEF\xBB\xBF a=1;b = two words ; c=\"q\" d='r'\n", "a=<1>;b=<two words>;c=<q>;d=<r>"},
    {"a = \"\"", "a=<>"},
    {"f = \"c:\\mydata\\Sample # Input.txt\" # a path", "f=<c:\\mydata\\Sample # Input.txt>"},
    {"...\r\nr = [\r\n  x = 5 # five\r\n ... \r\n]\r\n....", "r={x=<5>}"},
    {"reader = { d = ({ t = \"T\" ; m = \"M\"\n i = {} }:{}) }",
     "reader={d=({t=<T>;m=<M>;i={}};{})}"},
    {"s = 128*2 + 1024\nt = 128*2:1024", "s=<128*2 + 1024>;t=<128*2:1024>"},
    {"reader = [ l = (1, 2\n3), m = [ x = 1, y = 2 ] ]",
     "reader={l=(<1>;<2>;<3>);m={x=<1>;y=<2>}}"},
    {"f = a#b.ctf # a comment", "f=<a#b.ctf>"},
    {"// two\na = 1 // three\n/* a = 2\n a = 3 */ b = /x//y", "a=<1>;b=</x//y>"},
    {"f = ../data/x.txt", "f=<../data/x.txt>"},
    {"reader = [\n  ...\r\n  x = 5\n  ... .. \n]", "reader={x=<5>}"}, /* nothing else is skipped */
};

LOOP_TEST(what_pages_write_becomes_a_tree, 0, COUNT(good))
{
    struct config_tree *t;
    struct imrec_error err;
    char tree[512] = "";
    ck_assert_msg(config_parse("f", text_of(good[_i].text), &t, &err) == IMREC_OK, "%s",
                  err.message);
    write_nodes(config_root(t)->first, tree, sizeof(tree));
    ck_assert_str_eq(tree, good[_i].tree);
    config_free(t);
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"a = 1\nb", "f: line 2, column 2: '=' after the name expected, but the end of the text found"},
    {"a =\nb = 1", "f: line 1, column 4: a value expected, but the line's end found"},
    {"a = [ b = 1", "f: line 1, column 12: a name expected, but the end of the text found"},
    {"a = [ b = 1 }", "f: line 1, column 13: a name expected, but '}' found"},
    {"a = 1 ]", "f: line 1, column 7: a name expected, but ']' found"},
    {"\n a = \"x\n", "f: line 2, column 8: the quote that ends a text expected, but the line's end "
                     "found"},
    {"= 1", "f: line 1, column 1: a name expected, but '=' found"},
    {"reader = [\n... x = 1 ]", "f: line 2, column 5: '=' after the name expected, but 'x' found"},
    {"reader = [\n..\n]", "f: line 2, column 3: '=' after the name expected, but the line's end "
                          "found"},
};

LOOP_TEST(what_is_wrong_is_named_with_line_and_column, 0, COUNT(bad))
{
    struct config_tree *t;
    struct imrec_error err;
    ck_assert_int_eq(config_parse("f", text_of(bad[_i].text), &t, &err), IMREC_ERR_ARGUMENT);
    ck_assert_ptr_null(t);
    ck_assert_str_eq(err.message, bad[_i].says);
}

TEST(limits_are_kept)
{
    struct config_tree *t;
    struct imrec_error err;
    char deep[256] = "";
    for (int i = 0; i < 40; i++)
        strcat(deep, "a = [");
    ck_assert_int_eq(config_parse("f", text_of(deep), &t, &err), IMREC_ERR_LIMIT);
    ck_assert_str_eq(err.message, "f: line 1: sections more than 32 deep");
    const struct bytes nul = {(const uint8_t *)"a=\0", 3};
    ck_assert_int_eq(config_parse("f", nul, &t, &err), IMREC_ERR_ARGUMENT);
    const struct bytes large = {(const uint8_t *)"", READER_CONFIG_MAX_BYTES + 1};
    ck_assert_int_eq(config_parse("f", large, &t, &err), IMREC_ERR_LIMIT);
}

TEST(names_are_found_whatever_their_case)
{
    struct config_tree *t;
    ck_assert_int_eq(config_parse("f", text_of("maxErrors = 3\nb = 1"), &t, NULL), IMREC_OK);
    ck_assert_str_eq(config_find(config_root(t), "max_errors")->text, "3");
    ck_assert_str_eq(config_find(config_root(t), "MAX-ERRORS")->text, "3");
    ck_assert_uint_eq(config_find(config_root(t), "b")->line, 2);
    ck_assert_ptr_null(config_find(config_root(t), "max_error"));
    ck_assert_ptr_null(config_find(config_root(t), "max_errorss"));
    config_free(t);
}

TEST(no_memory_is_an_error_and_leaves_nothing)
{
    const struct bytes text = text_of("a = [ b = ( 1 ) ]; c = 2");
    STARVING(memory)
    {
        struct config_tree *t;
        memory.st = config_parse("f", text, &t, NULL);
        config_free(t);
    }
}
