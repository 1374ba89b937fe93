/* im2rec/mpi/launcher.h - whether what started the processes has started their MPI, too. */
#ifndef IMREC_IM2REC_MPI_LAUNCHER_H
#define IMREC_IM2REC_MPI_LAUNCHER_H

/* An exit status: refused where a launcher has started several processes, and each of them is the
 * only rank of a job of its own. They would all pack the same set. */
int launcher_check(int ranks);
#endif
