/* tools/one_program.c - imrec, im2rec or ctf2bin, by the name that this program is called. */
#include <string.h>

int imrec_main(int argc, char **argv);
int im2rec_main(int argc, char **argv);
int ctf2bin_main(int argc, char **argv);

int main(int argc, char **argv)
{
    const char *path = argc > 0 ? argv[0] : "", *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strcmp(name, "im2rec") == 0)
        return im2rec_main(argc, argv);
    if (strcmp(name, "ctf2bin") == 0)
        return ctf2bin_main(argc, argv);
    return imrec_main(argc, argv);
}
