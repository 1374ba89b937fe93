/* tests/iter/predict.c - how fast a job of many ranks is, out of service times that were measured.
 *
 *     simulate read images=14000000 image_bytes=110e3 cpu_us=300 cores=8 storage=4e9 ranks=1,2,4
 *     simulate pack images=14000000 image_bytes=110e3 cpu_us=2400 packed_bytes=30e3 tasks=4096 ...
 *
 * A clock runs over events: a piece of work (a rank's share of a batch; 64 images of a task) is
 * fetched, decoded and, packing, stored. The ranks share the storage: what flows at the same time
 * gets equal parts of its bandwidth, and no rank more than its NIC has. A rank fetches and decodes
 * ahead of what it hands on, as far as its buffers go. The product's code says which samples a
 * rank has in which batch (iter/order) and which images are a task (share_begin() of a plan);
 * sizes and decoding times of images vary by their numbers. Reading, all ranks' batches make a step
 * of the trainer, or with lockstep=0 nobody waits for the others.
 *
 * Not in it: what is slower because CPUs share caches, answers that are late, failures. */
#include "tests/iter/predict.h"

#include "base/alloc.h"
#include "base/math.h"
#include "tests/iter/simulated_job.h"
#include "tests/support/listed_set.h"
#include "tests/support/shards.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES_MOST = 16, TASK_PIECE = 64, WORLDS_MOST = 32 };

/* ---- what was measured -------------------------------------------------------------------- */

static struct service {
    double images, image_bytes, packed_bytes;
    double spread;            /* of the sizes: standard deviation over mean */
    double cpu_us, cores;     /* of an image, on one core; cores of a rank */
    double storage, nic;      /* bytes a second, of all ranks and of one; 0: no limit */
    double batch, ahead;      /* of a rank: images, and pieces that it is ahead */
    double lockstep, trainer; /* and images a second that one rank's trainer takes; 0: any */
    double tasks;
    double plan_us, finish_ms; /* an image; a task */
} service;

static const struct key {
    const char *name;
    double *value;
    double least, normal;
    const char *what;
} keys[] = {
    {"images", &service.images, 1, 14e6, "of the set"},
    {"image_bytes", &service.image_bytes, 1, 0, "that are read for an image, on average"},
    {"packed_bytes", &service.packed_bytes, 0, 0, "that are written for an image"},
    {"spread", &service.spread, 0, 0.5, "standard deviation of the sizes, over their mean"},
    {"cpu_us", &service.cpu_us, 0, 0, "of one core for an image"},
    {"cores", &service.cores, 0.01, 1, "of a rank"},
    {"storage", &service.storage, 0, 0, "bytes/s that all ranks share; 0: no limit"},
    {"nic", &service.nic, 0, 0, "bytes/s of a rank; 0: no limit"},
    {"batch", &service.batch, 1, 128, "images of a rank's batch"},
    {"ahead", &service.ahead, 1, 4, "pieces of work in each of a rank's buffers"},
    {"lockstep", &service.lockstep, 0, 1, "0: ranks do not wait for each other"},
    {"trainer", &service.trainer, 0, 0, "images/s that the trainer of a rank takes; 0: any number"},
    {"tasks", &service.tasks, 1, 1, "of the plan"},
    {"plan_us", &service.plan_us, 0, 0, "of making the plan, an image"},
    {"finish_ms", &service.finish_ms, 0, 0, "of finishing, a task"},
};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

/* 1 on average, with the spread, the same for an image on every run. */
static double size_of(uint64_t image)
{
    struct dice d = {image * 0x9e3779b97f4a7c15u};
    const double uniform = (double)(dice_bits(&d) >> 11) / (double)((uint64_t)1 << 53);
    return fmax(0.05, 1 + (2 * uniform - 1) * sqrt(3) * service.spread);
}

/* ---- a rank ------------------------------------------------------------------------------- */

struct piece {
    double images, size; /* and the sum of their sizes, in mean images */
};
struct queue {
    struct piece piece[PIECES_MOST];
    uint32_t first, count;
};
struct flow {
    bool on;
    double end; /* of the common work of a flow, when it is over */
};

struct node {
    struct queue fetched, made; /* made: decoded, not yet handed on or stored */
    struct flow in, out;
    struct piece in_piece;
    bool computes;
    double ready, computed; /* when the CPU is ready; seconds of it that were used */
    struct piece piece;
    uint64_t batches;   /* made, since the begin */
    uint64_t at, end;   /* packing: images of the task that are not begun */
    uint64_t in_flight; /* packing: pieces that are begun and not stored */
    struct rank *rank;  /* reading */
    uint64_t calls;
};

static struct {
    struct node *nodes;
    uint64_t world, flows;
    double now, work; /* seconds; bytes that a flow would have got that was always there */
    double bytes;     /* that came or went */
    bool packs;
    uint64_t steps, steps_most, next_task;
    double step_at; /* the trainer is busy until then */
    double images;  /* that were handed on */
} sim;

static void put(struct queue *q, struct piece p)
{
    q->piece[(q->first + q->count++) % PIECES_MOST] = p;
}

static struct piece take(struct queue *q)
{
    const struct piece p = q->piece[q->first];
    q->first = (q->first + 1) % PIECES_MOST;
    q->count--;
    return p;
}

static void add_image(struct piece *p, uint64_t image)
{
    p->images++;
    p->size += size_of(image);
}

/* ---- what comes next for a rank ----------------------------------------------------------- */

static bool next_batch(struct node *n, struct piece *out)
{
    uint32_t slots;
    if (n->calls == sim.steps_most)
        return false;
    n->calls++;
    (void)rank_batch(n->rank, &slots);
    *out = (struct piece){0};
    for (uint32_t i = 0; i < slots; i++)
        add_image(out, n->rank->slot[i].record);
    return true;
}

/* A task begins when the one before it is stored. */
static bool next_images(struct node *n, struct piece *out)
{
    const uint64_t tasks = (uint64_t)service.tasks, images = (uint64_t)service.images;
    while (n->at == n->end) {
        if (n->in_flight != 0 || sim.next_task == tasks)
            return false;
        n->at = share_begin(images, sim.next_task, tasks);
        n->end = share_begin(images, ++sim.next_task, tasks);
    }
    *out = (struct piece){0};
    for (uint32_t i = 0; i < TASK_PIECE && n->at < n->end; i++)
        add_image(out, n->at++);
    n->in_flight++;
    return true;
}

/* ---- the storage -------------------------------------------------------------------------- */

/* Bytes a second of each flow. */
static double flow_rate(void)
{
    const double none = 1e18, nic = service.nic != 0 ? service.nic : none;
    const double part =
        service.storage != 0 && sim.flows != 0 ? service.storage / (double)sim.flows : none;
    return part < nic ? part : nic;
}

static void flow_begin(struct flow *f, double bytes)
{
    *f = (struct flow){true, sim.work + bytes};
    sim.flows++;
    sim.bytes += bytes;
}

static void flow_end(struct flow *f)
{
    f->on = false;
    sim.flows--;
}

/* ---- what a rank does when it can --------------------------------------------------------- */

static bool room_for_made(const struct node *n)
{
    return sim.packs ? n->made.count < service.ahead
                     : service.lockstep == 0 || n->batches < sim.steps + (uint64_t)service.ahead;
}

static void advance(struct node *n)
{
    struct piece p;
    if (sim.packs && !n->out.on && n->made.count != 0)
        flow_begin(&n->out, n->made.piece[n->made.first].size * service.packed_bytes);
    if (!n->computes && n->fetched.count != 0 && room_for_made(n)) {
        n->piece = take(&n->fetched);
        n->computes = true;
        const double seconds = n->piece.size * service.cpu_us * 1e-6;
        n->computed += seconds;
        n->ready = sim.now + seconds / service.cores;
    }
    if (!n->in.on && n->fetched.count < service.ahead &&
        (sim.packs ? next_images(n, &p) : next_batch(n, &p))) {
        n->in_piece = p;
        flow_begin(&n->in, p.size * service.image_bytes);
    }
}

/* The trainer takes a batch of every rank as soon as all are there. */
static void step(void)
{
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i < sim.world; i++)
        least = min_u64(least, sim.nodes[i].batches);
    if (least == sim.steps || sim.now < sim.step_at)
        return;
    sim.steps++;
    if (service.trainer != 0)
        sim.step_at = sim.now + service.batch / service.trainer;
    for (uint64_t i = 0; i < sim.world; i++)
        advance(&sim.nodes[i]);
    step();
}

static void computed(struct node *n)
{
    n->computes = false;
    if (sim.packs) {
        put(&n->made, n->piece);
        return;
    }
    n->batches++;
    sim.images += n->piece.images;
}

static void stored(struct node *n)
{
    sim.images += take(&n->made).images;
    n->in_flight--;
}

/* The next event; false: there is none. */
static bool go(void)
{
    double next = INFINITY, least = INFINITY;
    for (uint64_t i = 0; i < sim.world; i++) {
        const struct node *n = &sim.nodes[i];
        next = n->computes ? fmin(next, n->ready) : next;
        least = n->in.on ? fmin(least, n->in.end) : least;
        least = n->out.on ? fmin(least, n->out.end) : least;
    }
    const double rate = flow_rate(), flows_at = sim.now + fmax(0, least - sim.work) / rate;
    if (sim.now < sim.step_at)
        next = fmin(next, sim.step_at);
    if (isinf(next) && isinf(least))
        return false;
    const bool is_flow = flows_at <= next;
    if (is_flow)
        sim.work = fmax(least, sim.work);
    else if (sim.flows != 0)
        sim.work += (next - sim.now) * rate;
    sim.now = is_flow ? flows_at : next;
    for (uint64_t i = 0; i < sim.world; i++) {
        struct node *n = &sim.nodes[i];
        const bool in = n->in.on && n->in.end <= sim.work,
                   out = n->out.on && n->out.end <= sim.work,
                   cpu = n->computes && n->ready <= sim.now;
        if (in) {
            flow_end(&n->in);
            put(&n->fetched, n->in_piece);
        }
        if (out) {
            flow_end(&n->out);
            stored(n);
        }
        if (cpu)
            computed(n);
        if (in || out || cpu)
            advance(n);
    }
    if (!sim.packs && service.lockstep != 0)
        step();
    return true;
}

/* ---- jobs --------------------------------------------------------------------------------- */

/* Of a large job not the whole sweep, but enough of it: every rank walks all of a batch. */
static uint64_t steps_for(uint64_t world)
{
    const double batch = service.batch * (double)world;
    const double most = fmin(service.images / batch, 2e9 / (batch * (double)world));
    return (uint64_t)fmin(fmax(most, 24), 3000);
}

static void open_ranks(struct job *j, uint64_t world)
{
    *j = (struct job){.batch = (uint64_t)service.batch * world, .last_batch = IMREC_LAST_WRAP};
    j->set = listed_set((uint64_t)service.images, (uint64_t)service.image_bytes);
    j->order = (struct record_stream_options){.shuffle = true,
                                              .indexed = true,
                                              .seed = 1,
                                              .chunk_bytes = 16 << 20,
                                              .shuffle_window = 1 << 30};
    if (j->set.total_bytes < j->order.shuffle_window)
        j->order.chunk_bytes = 0;
    for (uint64_t i = 0; i < world; i++) {
        sim.nodes[i].rank = calloc(1, sizeof(struct rank));
        if (sim.nodes[i].rank == NULL)
            simulation_fail("no memory for rank %llu", (unsigned long long)i);
        rank_open(sim.nodes[i].rank, j, world, i);
    }
}

static void close_ranks(struct job *j)
{
    for (uint64_t i = 0; i < sim.world; i++) {
        rank_close(sim.nodes[i].rank);
        free(sim.nodes[i].rank);
    }
    imrec_free(j->set.records);
}

struct outcome {
    double rate; /* images a second */
    double cpu, storage, nic,
        alone; /* busy: parts of 1; alone: of the time, what one process does */
};

/* Seconds, images, CPU seconds and bytes since the buffers filled. */
struct mark {
    double now, images, computed, bytes;
};

static struct mark mark_now(void)
{
    struct mark m = {sim.now, sim.images, 0, sim.bytes};
    for (uint64_t i = 0; i < sim.world; i++)
        m.computed += sim.nodes[i].computed;
    return m;
}

static struct outcome run_job(uint64_t world, bool packs)
{
    struct job job;
    struct mark begin = {0};
    memset(&sim, 0, sizeof(sim));
    sim.packs = packs;
    sim.world = world;
    sim.nodes = imrec_zalloc((size_t)world, sizeof(*sim.nodes));
    if (sim.nodes == NULL)
        simulation_fail("no memory for %llu ranks", (unsigned long long)world);
    sim.steps_most = packs ? 0 : steps_for(world);
    if (!packs)
        open_ranks(&job, world);
    for (uint64_t i = 0; i < world; i++)
        advance(&sim.nodes[i]);
    const double settled = packs ? 0 : (double)sim.steps_most * service.batch * (double)world / 4;
    while (go())
        if (begin.now == 0 && sim.images >= settled && !packs)
            begin = mark_now();
    const struct mark end = mark_now();
    const double alone =
        packs ? service.images * service.plan_us * 1e-6 + service.tasks * service.finish_ms * 1e-3
              : 0;
    const double working = end.now - begin.now, seconds = working + alone;
    const double bytes = (end.bytes - begin.bytes) / seconds;
    if (!packs)
        close_ranks(&job);
    imrec_free(sim.nodes);
    return (struct outcome){
        (end.images - begin.images) / seconds,
        (end.computed - begin.computed) / seconds / service.cores / (double)world,
        service.storage != 0 ? bytes / service.storage : 0,
        service.nic != 0 ? bytes / service.nic / (double)world : 0, alone / seconds};
}

/* Of the time when ranks work; the other limit is the time when none does. */
static const char *limit_of(const struct outcome *o)
{
    const double working = 1 - o->alone, most = fmax(o->cpu, fmax(o->storage, o->nic));
    if (o->alone > 0.5)
        return "plan and finish";
    if (most < 0.8 * working)
        return "waiting";
    return most == o->storage ? "storage" : most == o->cpu ? "CPUs" : "NIC";
}

/* ---- the command -------------------------------------------------------------------------- */

static bool take_key(const char *text)
{
    const char *equals = strchr(text, '=');
    char *end;
    for (size_t i = 0; equals != NULL && i < KEYS; i++)
        if (strlen(keys[i].name) == (size_t)(equals - text) &&
            strncmp(keys[i].name, text, (size_t)(equals - text)) == 0) {
            *keys[i].value = strtod(equals + 1, &end);
            return *end == '\0' && end != equals + 1 && *keys[i].value >= keys[i].least;
        }
    return false;
}

static bool take_ranks(const char *text, uint64_t worlds[WORLDS_MOST], uint32_t *count)
{
    char *end;
    for (*count = 0; *count < WORLDS_MOST; text = end + 1) {
        worlds[*count] = strtoull(text, &end, 10);
        if (end == text || worlds[*count] == 0 || worlds[*count] > MOST_RANKS ||
            (*end != ',' && *end != '\0'))
            return false;
        ++*count;
        if (*end == '\0')
            return true;
    }
    return false;
}

static int usage(const char *wrong)
{
    fprintf(stderr, "simulate: what is %s?\n  ranks=N,N,...  of at most %d each\n", wrong,
            MOST_RANKS);
    for (size_t i = 0; i < KEYS; i++)
        fprintf(stderr, "  %s=N  %s [%g]\n", keys[i].name, keys[i].what, keys[i].normal);
    return 2;
}

int predict(int argc, char **argv)
{
    const bool packs = strcmp(argv[0], "pack") == 0;
    uint64_t worlds[WORLDS_MOST] = {1};
    uint32_t count = 1;
    for (size_t i = 0; i < KEYS; i++)
        *keys[i].value = keys[i].normal;
    for (int i = 1; i < argc; i++)
        if (!(strncmp(argv[i], "ranks=", 6) == 0 ? take_ranks(argv[i] + 6, worlds, &count)
                                                 : take_key(argv[i])))
            return usage(argv[i]);
    if (service.ahead >= PIECES_MOST || service.batch > MOST_SLOTS)
        return usage("ahead or batch");
    printf("ranks\timages/s\ta rank\tCPU %%\tstorage %%\tNIC %%\talone %%\tlimit\n");
    for (uint32_t i = 0; i < count; i++) {
        const struct outcome o = run_job(worlds[i], packs);
        printf("%llu\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%s\n", (unsigned long long)worlds[i],
               o.rate, o.rate / (double)worlds[i], 100 * o.cpu, 100 * o.storage, 100 * o.nic,
               100 * o.alone, limit_of(&o));
        fflush(stdout);
    }
    return 0;
}
