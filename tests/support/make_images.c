/* make_images DIR [mixed] - DIR/source/{ant,bee,cow}/NN.jpg and three files that are no images; or,
 * without them, with images of several kinds in DIR/source/dog. */
#include "tests/support/mixed.h"

int main(int argc, char **argv)
{
    struct packing p;
    char to[600];
    const bool mixed = argc == 3 && strcmp(argv[2], "mixed") == 0;
    if (argc != 2 && !mixed)
        return 2;
    packing_make(&p, !mixed);
    if (mixed)
        make_mixed(&p.dir);
    snprintf(to, sizeof(to), "%s/source", argv[1]);
    if (rename(p.source, to) != 0)
        return 1;
    packing_remove(&p);
    return 0;
}
