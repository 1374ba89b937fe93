/* tests/support/failing_calls.h - the n-th call of the system that the code under test makes fails:
 * opening, reading, writing, cutting, syncing, renaming, removing, closing, looking at files,
 * folders, locks, memory maps; as the linker's --wrap hands them over (imrec_failing_calls() in
 * tests/CMakeLists.txt). */
#ifndef IMREC_TESTS_FAILING_CALLS_H
#define IMREC_TESTS_FAILING_CALLS_H

/* From now on the n-th call, from 1, fails with this errno; 0: none does. Counting begins again.
 * With code 0 it works, but moves one byte at most. */
void failing_call(long n, int code);
const char *failed_call(void); /* the name of the one that failed; NULL: none was made that far */
#endif
