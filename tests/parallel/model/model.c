/* tests/parallel/model/model.c */
#define _GNU_SOURCE /* registers in ucontext.h */
#include "tests/parallel/model/model.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pages.h"
#include "base/threads.h"
#include "parallel/workers.h"
#include "tests/parallel/model/omp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { THREADS = 8, STACK = 1 << 16, ARENA = 1 << 15, LONGEST = 4096, MADE = 0x6d61 };

enum place { RUNS, WANTS, WAITS, WAKES, JOINS, DONE }; /* of a thread: where it stopped */

struct context {
    enum place place;
    bool timed; /* the wait ends by itself, too */
    struct mutex *mutex;
    struct cond *cond;
    uint32_t other; /* that it joins */
    const char *what;
    void *(*run)(void *);
    void *arg;
    ucontext_t registers;
};

static struct { /* the state, but for the stacks */
    struct context threads[THREADS];
    uint32_t count, spurious;
    size_t used; /* of the arena */
} g;
static _Alignas(64) uint8_t g_arena[ARENA];
static _Alignas(64) uint8_t g_stacks[THREADS][STACK];
static uint32_t g_current;
static ucontext_t g_chooser;
static const char *g_name;

/* The order that leads here. */
static struct {
    uint32_t thread;
    const char *what, *how;
} g_path[LONGEST];
static uint32_t g_depth;

static void fail(const char *what)
{
    printf("%s: %s, after:\n", g_name, what);
    for (uint32_t i = 0; i < g_depth; i++)
        printf("  thread %u %s%s\n", g_path[i].thread, g_path[i].what, g_path[i].how);
    for (uint32_t i = 0; i < g.count; i++)
        printf("  thread %u is at: %s\n", i,
               g.threads[i].place == DONE ? "its end" : g.threads[i].what);
    fflush(stdout);
    exit(1);
}

void model_check(bool holds, const char *what)
{
    if (!holds)
        fail(what);
}

/* ---- points ------------------------------------------------------------------------------------
 */

static void stop_at(enum place place, const char *what)
{
    struct context *t = &g.threads[g_current];
    t->place = place;
    t->what = what;
    (void)swapcontext(&t->registers, &g_chooser);
}

void model_point(const char *what)
{
    stop_at(RUNS, what);
}

void *model_memory(size_t n)
{
    n = (n + 15) / 16 * 16;
    model_check(n <= ARENA - g.used, "the scenario needs more memory than there is");
    void *p = g_arena + g.used;
    g.used += n;
    return p;
}

/* ---- base/threads.h ----------------------------------------------------------------------------
 */

static void check_made(const struct mutex *m)
{
    model_check(m->made == MADE, "a lock is used that does not exist");
}

void mutex_init(struct mutex *m)
{
    *m = (struct mutex){MADE, 0};
}

void mutex_destroy(struct mutex *m)
{
    check_made(m);
    for (uint32_t i = 0; i < g.count; i++)
        model_check((g.threads[i].place != WANTS && g.threads[i].place != WAITS) ||
                        g.threads[i].mutex != m,
                    "a lock is destroyed that a thread wants");
    model_check(m->held == 0, "a lock is destroyed that is held");
    m->made = 0;
}

void mutex_lock(struct mutex *m)
{
    check_made(m);
    g.threads[g_current].mutex = m;
    stop_at(WANTS, "locks");
    check_made(m);
    m->held = g_current + 1;
}

void mutex_unlock(struct mutex *m)
{
    model_check(m->held == g_current + 1, "a lock is given back by a thread that has not got it");
    m->held = 0;
    model_point("has unlocked");
}

void cond_init(struct cond *c)
{
    c->made = MADE;
}

void cond_destroy(struct cond *c)
{
    for (uint32_t i = 0; i < g.count; i++)
        model_check(g.threads[i].place != WAITS || g.threads[i].cond != c,
                    "a condition is destroyed that a thread waits for");
    c->made = 0;
}

static void wait_for(struct cond *c, struct mutex *m, bool timed)
{
    struct context *t = &g.threads[g_current];
    model_check(c->made == MADE && m->held == g_current + 1, "a wait without the lock");
    m->held = 0;
    t->mutex = m;
    t->cond = c;
    t->timed = timed;
    stop_at(WAITS, "waits");
    m->held = g_current + 1;
}

void cond_wait(struct cond *c, struct mutex *m)
{
    wait_for(c, m, false);
}

void cond_wait_for(struct cond *c, struct mutex *m, uint32_t milliseconds)
{
    (void)milliseconds;
    wait_for(c, m, true);
}

static bool waits_for(uint32_t i, const struct cond *c)
{
    return g.threads[i].place == WAITS && g.threads[i].cond == c;
}

static void wake(uint32_t i)
{
    g.threads[i].place = WANTS;
    g.threads[i].what = "is woken, locks";
}

void cond_wake_all(struct cond *c)
{
    model_check(c->made == MADE, "a condition is used that does not exist");
    for (uint32_t i = 0; i < g.count; i++)
        if (waits_for(i, c))
            wake(i);
}

void cond_wake_one(struct cond *c)
{
    model_check(c->made == MADE, "a condition is used that does not exist");
    g.threads[g_current].cond = c;
    stop_at(WAKES, "wakes one");
}

bool mutex_flag(struct mutex *m, const bool *flag)
{
    mutex_lock(m);
    const bool set = *flag;
    mutex_unlock(m);
    return set;
}

void cond_tell(struct mutex *m, bool *flag, struct cond *c, struct cond *other)
{
    mutex_lock(m);
    *flag = true;
    cond_wake_all(c);
    if (other != NULL)
        cond_wake_all(other);
    mutex_unlock(m);
}

static void begin(void)
{
    struct context *t = &g.threads[g_current];
    (void)t->run(t->arg);
    stop_at(DONE, "ends");
}

static uint32_t start(void *(*run)(void *), void *arg)
{
    model_check(g.count < THREADS, "more threads than the model has");
    struct context *t = &g.threads[g.count];
    memset(t, 0, sizeof(*t));
    t->run = run;
    t->arg = arg;
    t->what = "begins";
    (void)getcontext(&t->registers);
    t->registers.uc_stack.ss_sp = g_stacks[g.count];
    t->registers.uc_stack.ss_size = STACK;
    t->registers.uc_link = NULL;
    makecontext(&t->registers, begin, 0);
    return g.count++;
}

enum imrec_status thread_start(struct thread *t, const char *name, void *(*run)(void *), void *arg,
                               struct imrec_error *err)
{
    (void)name, (void)err;
    *t = (struct thread){start(run, arg), true};
    return IMREC_OK;
}

void thread_join(struct thread *t)
{
    if (t->running) {
        g.threads[g_current].other = t->id;
        stop_at(JOINS, "joins");
    }
    t->running = false;
}

enum imrec_status threads_probe(uint32_t n, struct imrec_error *err)
{
    (void)n, (void)err;
    return IMREC_OK;
}

/* ---- what else the real code asks for
 * ------------------------------------------------------------ */

struct worker {
    void (*run)(void *, uint32_t, uint32_t);
    void *context;
    uint32_t number, size;
};

static void *work_as(void *arg)
{
    const struct worker *w = arg;
    w->run(w->context, w->number, w->size);
    return NULL;
}

void workers_run(uint32_t count, void (*run)(void *, uint32_t, uint32_t), void *context)
{
    struct worker *w = model_memory(count * sizeof(*w));
    struct thread threads[THREADS];
    memset(threads, 0, sizeof(threads));
    for (uint32_t i = 0; i < count; i++) {
        w[i] = (struct worker){run, context, i, count};
        if (i != 0)
            threads[i] = (struct thread){start(work_as, &w[i]), true};
    }
    (void)work_as(&w[0]);
    for (uint32_t i = 1; i < count; i++)
        thread_join(&threads[i]);
}

void omp_set_dynamic(int on)
{
    (void)on;
}

uint64_t clock_ns(void)
{
    return 0;
}

void *imrec_zalloc(size_t count, size_t size)
{
    return memset(model_memory(count * size), 0, count * size);
}

void *pages_alloc(size_t n)
{
    return imrec_zalloc(n, 1);
}

void pages_free(void *p, size_t n)
{
    if (p != NULL)
        memset(p, 0xdd, n);
}

void imrec_free(void *p)
{
    if (p != NULL)
        memset(p, 0xdd, 8); /* a lock at its beginning is no lock any more */
}

void imrec_free_all(void *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        imrec_free(p[i]);
}

enum imrec_status
imrec_fail(struct imrec_error *err, enum imrec_status status, const char *fmt, ...)
{
    if (err != NULL) {
        err->status = status;
        err->message[0] = fmt[0];
    }
    return status;
}

/* ---- states
 * ---------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static const int kept[] = {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15, REG_RSP, REG_RIP};
static uint64_t reg(const ucontext_t *u, size_t i)
{
    return (uint64_t)u->uc_mcontext.gregs[kept[i]];
}
static uint8_t *stack_of(const ucontext_t *u)
{
    return (uint8_t *)u->uc_mcontext.gregs[REG_RSP];
}
enum { REGS = sizeof(kept) / sizeof(kept[0]) };
#else
static uint64_t reg(const ucontext_t *u, size_t i)
{
    return i == 12 ? u->uc_mcontext.sp : i == 13 ? u->uc_mcontext.pc : u->uc_mcontext.regs[19 + i];
}
static uint8_t *stack_of(const ucontext_t *u)
{
    return (uint8_t *)u->uc_mcontext.sp;
}
enum { REGS = 14 };
#endif

static size_t stack_bytes(uint32_t i)
{
    return (size_t)(g_stacks[i] + STACK - stack_of(&g.threads[i].registers));
}

struct hash {
    uint64_t a, b;
};

static void mix(struct hash *h, uint64_t word)
{
    h->a = (h->a ^ word) * 0x9e3779b97f4a7c15u;
    h->a ^= h->a >> 32;
    h->b = (h->b + word) * 0xbf58476d1ce4e5b9u;
    h->b ^= h->b >> 29;
}

static void mix_bytes(struct hash *h, const uint8_t *p, size_t n)
{
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        mix(h, word);
    }
}

static struct hash hash_now(void)
{
    struct hash h = {1, 2};
    mix(&h, g.count * 16 + g.spurious);
    mix_bytes(&h, g_arena, g.used);
    for (uint32_t i = 0; i < g.count; i++) {
        const struct context *t = &g.threads[i];
        mix(&h, (uint64_t)t->place * 2 + t->timed);
        mix(&h, (uint64_t)(uintptr_t)t->mutex * 31 + (uint64_t)(uintptr_t)t->cond);
        mix(&h, t->other);
        if (t->place == DONE)
            continue;
        for (size_t k = 0; k < REGS; k++)
            mix(&h, reg(&t->registers, k));
        mix_bytes(&h, stack_of(&t->registers), stack_bytes(i));
    }
    return h;
}

struct saved {
    size_t n;
    uint8_t bytes[];
};

static struct saved *save(void)
{
    size_t n = sizeof(g) + g.used;
    for (uint32_t i = 0; i < g.count; i++)
        n += stack_bytes(i);
    struct saved *s = malloc(sizeof(*s) + n);
    uint8_t *to = s->bytes;
    s->n = n;
    memcpy(to, &g, sizeof(g));
    memcpy(to += sizeof(g), g_arena, g.used);
    to += g.used;
    for (uint32_t i = 0; i < g.count; i++) {
        memcpy(to, stack_of(&g.threads[i].registers), stack_bytes(i));
        to += stack_bytes(i);
    }
    return s;
}

static void restore(const struct saved *s)
{
    const uint8_t *from = s->bytes;
    memcpy(&g, from, sizeof(g));
    memcpy(g_arena, from += sizeof(g), g.used);
    from += g.used;
    for (uint32_t i = 0; i < g.count; i++) {
        memcpy(stack_of(&g.threads[i].registers), from, stack_bytes(i));
        from += stack_bytes(i);
    }
}

/* ---- states that were met
 * ---------------------------------------------------------------------------- */

static struct met {
    struct hash h;
    double orders; /* from here to an end; below 0: on the way that is being followed */
} * g_met;
static size_t g_met_room, g_met_count;

static struct met *look(struct hash h)
{
    size_t i = h.a & (g_met_room - 1);
    while (g_met[i].h.a != 0 && (g_met[i].h.a != h.a || g_met[i].h.b != h.b))
        i = (i + 1) & (g_met_room - 1);
    return &g_met[i];
}

static void make_room(void)
{
    struct met *old = g_met;
    const size_t n = g_met_room;
    if (g_met_count * 2 < n)
        return;
    g_met_room = n != 0 ? n * 2 : 1 << 14;
    g_met = calloc(g_met_room, sizeof(*g_met));
    for (size_t i = 0; i < n; i++)
        if (old[i].h.a != 0)
            *look(old[i].h) = old[i];
    free(old);
}

/* ---- choosing
 * ---------------------------------------------------------------------------------------- */

static struct model_result g_result;

static bool can_run(const struct context *t)
{
    return t->place == RUNS || (t->place == WANTS && t->mutex->held == 0) ||
           (t->place == JOINS && g.threads[t->other].place == DONE);
}

static void run(uint32_t i)
{
    struct context *t = &g.threads[i];
    uint8_t *sp = stack_of(&t->registers);
    const size_t below = (size_t)(sp - g_stacks[i]);
    memset(sp - (below < 4096 ? below : 4096), 0,
           below < 4096 ? below : 4096); /* what is dead is equal */
    g_current = i;
    (void)swapcontext(&g_chooser, &t->registers);
}

static double follow(void);

static double choose(uint32_t i, const char *how)
{
    if (g_depth == LONGEST)
        fail("an order without an end");
    g_path[g_depth].thread = i;
    g_path[g_depth].what = g.threads[i].what;
    g_path[g_depth++].how = how;
    if (how[0] == '\0')
        run(i);
    const double n = follow();
    g_depth--;
    return n;
}

/* A wait that ends without having been woken. */
static double wake_by_itself(uint32_t i)
{
    struct context *t = &g.threads[i];
    if (!t->timed)
        g.spurious--;
    t->place = WANTS;
    return choose(i, t->timed ? ", for its time" : ", and wakes for no reason");
}

/* Whoever waits may be the one that is woken. */
static double wake_each(uint32_t i, const struct saved *here)
{
    const struct cond *c = g.threads[i].cond;
    double orders = 0;
    bool any = false;
    for (uint32_t k = 0; k < g.count; k++)
        if (waits_for(k, c)) {
            any = true;
            wake(k);
            orders += choose(i, "");
            restore(here);
        }
    if (any)
        return orders;
    orders = choose(i, "");
    restore(here);
    return orders;
}

static double follow_all(const struct saved *here)
{
    double orders = 0;
    bool done = true, any = false;
    for (uint32_t i = 0; i < g.count; i++) {
        done = done && g.threads[i].place == DONE;
        if (g.threads[i].place == WAKES) {
            any = true;
            orders += wake_each(i, here);
        }
        if (can_run(&g.threads[i])) {
            any = true;
            orders += choose(i, "");
            restore(here);
        }
        if (g.threads[i].place == WAITS && (g.threads[i].timed || g.spurious > 0)) {
            any = any || g.threads[i].timed;
            orders += wake_by_itself(i);
            restore(here);
        }
    }
    if (!any && !done)
        fail("deadlock");
    return done ? 1 : orders;
}

static double follow(void)
{
    const struct hash h = hash_now();
    make_room();
    struct met *m = look(h);
    if (m->h.a != 0) {
        if (m->orders < 0)
            fail("threads that run and get nowhere");
        return m->orders;
    }
    *m = (struct met){h, -1};
    g_met_count++;
    if (g_depth > g_result.longest)
        g_result.longest = g_depth;
    struct saved *here = save();
    const double orders = follow_all(here);
    free(here);
    look(h)->orders = orders;
    return orders;
}

static void *main_of(void *scenario)
{
    void (*const *run_it)(void) = scenario;
    (*run_it)();
    return NULL;
}

struct model_result model_run(const char *name, void (*main)(void), uint32_t spurious)
{
    static void (*scenario)(void);
    scenario = main;
    g_name = name;
    memset(&g, 0, sizeof(g));
    memset(g_arena, 0, sizeof(g_arena));
    memset(g_stacks, 0, sizeof(g_stacks));
    g.spurious = spurious;
    g_depth = 0;
    g_result = (struct model_result){0};
    free(g_met);
    g_met = NULL;
    g_met_room = g_met_count = 0;
    (void)start(main_of, &scenario);
    g_result.orders = follow();
    g_result.states = g_met_count;
    return g_result;
}
