/* make_images DIR - DIR/source/{ant,bee,cow}/NN.jpg and three files that are no images. */
#include "tests/support/packing.h"

int main(int argc, char **argv)
{
    struct packing p;
    char to[600];
    if (argc != 2)
        return 2;
    packing_make(&p, true);
    snprintf(to, sizeof(to), "%s/source", argv[1]);
    if (rename(p.source, to) != 0)
        return 1;
    packing_remove(&p);
    return 0;
}
