/* callback.h - around every call of Python by C. Part of the extension module; see binding.py.
 *
 * cffi keeps what Python knows of a thread of C until another thread clears it, after the first has
 * ended. Without the GIL that corrupts memory, because only the thread itself may do it:
 * PyThreadState_Clear() of Python 3.14 merges counts of references that a new thread with the same
 * number is changing, and empties the free lists of its caller. There, each thread is made known
 * before cffi would do it, and makes itself unknown at its end. */
static _Thread_local int callbacks; /* that this thread is in */

/* Whether the caller is called by C: close() may have to wait for the thread that it is in. */
static int imrec_py_in_callback(void)
{
    return callbacks > 0;
}

#ifdef Py_GIL_DISABLED
#include <pthread.h>

static pthread_key_t known; /* the state of a thread of C */
static pthread_once_t known_once = PTHREAD_ONCE_INIT;
static int known_works;

static void forget(void *state)
{
    if (!Py_IsInitialized() || Py_IsFinalizing()) {
        return; /* to wait for Python would be forever, and its end frees all states */
    }
    callbacks++; /* to clear a state can run Python's code too */
    PyEval_RestoreThread(state);
    PyThreadState_Clear(state); /* not PyGILState_Release(): what it looks the state up by is gone
                                   at a thread's end */
    PyThreadState_DeleteCurrent();
    callbacks--;
}

static void make_known_key(void)
{
    known_works = pthread_key_create(&known, forget) == 0;
}

static void know_this_thread(void)
{
    pthread_once(&known_once, make_known_key);
    if (!known_works || PyGILState_GetThisThreadState() != NULL) {
        return;
    }
    PyGILState_Ensure();
    PyThreadState *state = PyEval_SaveThread();
    if (pthread_setspecific(known, state) != 0) {
        forget(state); /* cffi makes one of its own */
    }
}
#else
static void know_this_thread(void)
{
}
#endif

static void enter_python(void)
{
    callbacks++;
    know_this_thread();
}

static void leave_python(void)
{
    callbacks--;
}
