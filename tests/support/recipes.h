/* tests/support/recipes.h - the options of augmentation from words, for tests of the layers below
 * it. */
#ifndef IMREC_TESTS_RECIPES_H
#define IMREC_TESTS_RECIPES_H

#include "augment/draw/draw.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

struct cooked {
    struct augment_options o;
    struct recipe r;
    char text[1024];
};

static inline enum imrec_status
cook_word(struct cooked *c, const char *word, struct imrec_error *err)
{
    const size_t n = strcspn(word, "=");
    return param_set(augment_params, &c->o, word, n, word + n + 1, err);
}

/* "resize=40 rotate=30": defaults otherwise, data_shape=3,24,20. */
static inline void cook(struct cooked *c, const char *words)
{
    struct imrec_error err;
    param_defaults(augment_params, &c->o);
    c->o.data_shape = (struct imrec_shape){3, 24, 20};
    snprintf(c->text, sizeof(c->text), "%s", words);
    for (char *w = strtok(c->text, " "); w != NULL; w = strtok(NULL, " "))
        ck_assert_msg(cook_word(c, w, &err) == IMREC_OK, "%s", err.message);
    ck_assert_msg(recipe_init(&c->r, &c->o, &err) == IMREC_OK, "%s: %s", words, err.message);
}
#endif
