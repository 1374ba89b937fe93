/* im2rec/command/mpi_become.c - im2rec --mpi, without MPI. */
#include "cli/options.h"
#include "im2rec/command/mpi_run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NAME "im2rec"

int mpi_become(int argc, char **argv)
{
    char self[4096];
    bool wanted = false;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        wanted |= strcmp(argv[i], "--mpi") == 0;
    if (!wanted)
        return EXIT_OK;
    const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - sizeof("-mpi"));
    if (n <= 0)
        return cli_refuse(stderr, NAME, "--mpi: /proc does not say where im2rec is");
    memcpy(self + n, "-mpi", sizeof("-mpi"));
    (void)execv(self, argv);
    return cli_refuse(stderr, NAME,
                      "--mpi needs the program %s, which is built where MPI is found: %s", self,
                      strerror(errno));
}
