/* tests/support/recipes.h - an iterator's options from words, for tests of the layers below it. */
#ifndef IMREC_TESTS_RECIPES_H
#define IMREC_TESTS_RECIPES_H

#include "augment/draw/draw.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

struct cooked {
    struct imrec_iter_options o;
    struct recipe r;
    char text[1024];
};

/* "resize=40 rotate=30": defaults otherwise, data_shape=3,24,20. */
static inline void cook(struct cooked *c, const char *words)
{
    struct imrec_error err;
    imrec_iter_options_init(&c->o);
    c->o.data_shape = (struct imrec_shape){3, 24, 20};
    snprintf(c->text, sizeof(c->text), "%s", words);
    for (char *w = strtok(c->text, " "); w != NULL; w = strtok(NULL, " "))
        ck_assert_msg(imrec_iter_options_set(&c->o, w, &err) == IMREC_OK, "%s", err.message);
    ck_assert_msg(recipe_init(&c->r, &c->o, &err) == IMREC_OK, "%s: %s", words, err.message);
}
#endif
