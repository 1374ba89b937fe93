/* Metrics of an iterator: the numbers are those of its statistics, in a file and over a socket; who
 * asks nonsense, or nothing, harms nobody. */
#include "iter/metrics/metrics.h"
#include "tests/support/imageset.h"
#include "tests/support/suite.h"
#include "tests/support/tmp_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { RECORDS = 60, ANSWER_BYTES = 100000 };

static const struct image_set_options some = {.records = RECORDS, .shards = 2, .labels = 1};
static struct image_set set;
static struct imrec_error err;
static char answer[ANSWER_BYTES];

static void setup(void)
{
    set = image_set_make(&some);
}

static void teardown(void)
{
    image_set_free(&set);
    ck_assert_int_eq(imrec_alloc_live(), 0);
}

/* ---- asking -------------------------------------------------------------------------------- */

static int connect_to(const char *where)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    struct sockaddr_un u = {.sun_family = AF_UNIX};
    const bool local = strncmp(where, "unix:", 5) == 0;
    const int fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
    if (local) {
        snprintf(u.sun_path, sizeof(u.sun_path), "%s", where + 5);
    } else {
        ck_assert_int_eq(strncmp(where, "127.0.0.1:", 10), 0);
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        a.sin_port = htons((uint16_t)atoi(where + 10));
    }
    const int st = local ? connect(fd, (struct sockaddr *)&u, sizeof(u))
                         : connect(fd, (struct sockaddr *)&a, sizeof(a));
    ck_assert_msg(st == 0, "%s: %s", where, strerror(errno));
    return fd;
}

/* All that comes until the end, into `answer`. */
static void receive(int fd)
{
    size_t n = 0;
    for (ssize_t got; (got = recv(fd, answer + n, sizeof(answer) - 1 - n, 0)) > 0;)
        n += (size_t)got;
    answer[n] = '\0';
    close(fd);
}

static void ask_bytes(const char *where, const char *request, size_t n)
{
    const int fd = connect_to(where);
    while (n > 0) { /* the answer may come before all is sent */
        const ssize_t sent = send(fd, request, n, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        request += sent;
        n -= (size_t)sent;
    }
    receive(fd);
}

static void ask(const char *where, const char *request)
{
    ask_bytes(where, request, strlen(request));
}

#define GET "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"

/* "imrec_images_total" in `answer`; its labels must be those of the iterator. */
static double number(const char *name, const char *labels)
{
    char line[400];
    snprintf(line, sizeof(line), "\nimrec_%s{%s} ", name, labels);
    const char *at = strstr(answer, line);
    ck_assert_msg(at != NULL && strstr(at + 1, line) == NULL, "%s in\n%s", line, answer);
    return strtod(at + strlen(line), NULL);
}

#define LABELS "rank=\"0\",ranks=\"1\",set=\"00.rec\""

/* Asks; what is read ahead meanwhile may count, the rest is at rest. */
static void must_be_stats(struct imrec_iter *it, const char *labels)
{
    struct imrec_iter_stats s, after;
    imrec_iter_get_stats(it, &s);
    ask(imrec_iter_metrics(it), GET);
    imrec_iter_get_stats(it, &after);
    const struct {
        const char *name;
        double is;
    } rows[] = {
        {"images_total", (double)s.images},
        {"views_total", (double)s.views},
        {"failed_samples_total", (double)s.failed},
        {"damaged_ranges_total", (double)s.damaged_ranges},
        {"decode_seconds_total", 1e-9 * (double)s.decode_ns},
        {"augment_seconds_total", 1e-9 * (double)s.augment_ns},
        {"io_wait_seconds_total", 1e-9 * (double)s.io_wait_ns},
        {"consumer_wait_seconds_total", 1e-9 * (double)s.next_wait_ns},
        {"workers", s.workers},
        {"planned_memory_bytes", (double)s.memory_planned_bytes},
        {"store_retries_total", 0},
        {"cache_hits_total", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_msg(fabs(number(rows[i].name, labels) - rows[i].is) < 1e-8, "%s: %f",
                      rows[i].name, rows[i].is);
    const double bytes = number("read_bytes_total", labels);
    ck_assert(bytes > 0 && bytes >= (double)s.bytes_read && bytes <= (double)after.bytes_read);
}

/* To the end, of which nothing is made beyond. */
static void read_out(struct imrec_iter *it)
{
    struct imrec_batch b;
    enum imrec_status st;
    while ((st = imrec_iter_next(it, &b, &err)) != IMREC_END)
        ck_assert_msg(st == IMREC_OK, "%s", err.message);
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_END);
}

static enum bad some_are_bad(uint32_t i)
{
    return i == 7 || i == 8 ? BAD_PIXELS : i == 42 ? BAD_FRAMING : GOOD;
}

CASE(.timeout = 120, .setup = setup, .teardown = teardown)

TEST(what_is_answered_is_what_the_statistics_say)
{
    struct image_set_options o = some;
    struct imrec_iter_stats s;
    char labels[] = "rank=\"1\",ranks=\"2\",set=\"00.rec\"";
    o.bad = some_are_bad;
    struct image_set bad = image_set_make(&o);
    struct imrec_iter *it = set_open(&bad, true,
                                     "metrics=127.0.0.1:0 on_error=skip max_samples=25 num_parts=2 "
                                     "part_index=1 batch_size=5 verbose=0");
    read_out(it);
    imrec_iter_get_stats(it, &s);
    ck_assert_uint_eq(s.images, 24); /* sample 12 of the partition is record 42 */
    ck_assert_uint_eq(s.failed, 1);
    must_be_stats(it, labels);
    ck_assert_double_eq(number("batches_total", labels), 5);
    ck_assert_double_eq(number("sample", labels), 25);
    ck_assert_double_eq(number("sweep", labels), 0);
    imrec_iter_close(it);
    image_set_free(&bad);
}

TEST(the_place_follows_sweeps_rewinds_and_seeks)
{
    struct imrec_batch b;
    const char *json;
    struct imrec_iter *it = set_open(&set, true, "metrics=127.0.0.1:0 batch_size=20");
    ck_assert_int_eq(imrec_iter_next(it, &b, &err), IMREC_OK);
    ck_assert_int_eq(imrec_iter_position(it, &json, &err), IMREC_OK);
    char *position = strdup(json);
    ck_assert_int_eq(imrec_iter_rewind(it, &err), IMREC_OK);
    ask(imrec_iter_metrics(it), GET);
    ck_assert_double_eq(number("sweep", LABELS), 1);
    ck_assert_double_eq(number("sample", LABELS), 0);
    ck_assert_int_eq(imrec_iter_seek(it, position, &err), IMREC_OK);
    ask(imrec_iter_metrics(it), GET);
    ck_assert_double_eq(number("sweep", LABELS), 0);
    ck_assert_double_eq(number("sample", LABELS), 20);
    ck_assert_double_eq(number("batches_total", LABELS), 1);
    free(position);
    imrec_iter_close(it);
}

TEST(what_is_no_request_for_metrics_is_answered_by_its_status)
{
    static char long_one[40000], nul[] = "GET /me\0trics HTTP/1.1\r\n\r\n";
    static const char *const rows[][2] = {
        {GET, "200 OK"},
        {"GET /metrics?x=1 HTTP/1.0\r\n\r\n", "200 OK"},
        {"HEAD /metrics HTTP/1.1\r\nhost: x\r\n\r\n", "200 OK"},
        {"GET /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"},
        {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "404 Not Found"},
        {"GET /metricsx HTTP/1.1\r\nHost: x\r\n\r\n", "404 Not Found"},
        {"POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "405 Method Not Allowed"},
        {"GET /metrics HTTP/2.0\r\n\r\n", "400 Bad Request"},
        {"GET /metrics HTTP/1.7\r\n\r\n", "400 Bad Request"},
        {"GET /metrics\r\n", "400 Bad Request"},
        {"\x16\x03\x01\r\n", "400 Bad Request"},
        {"\r\n\r\n", "400 Bad Request"},
        {"get /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "400 Bad Request"},
        {"GET /metrics HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "400 Bad Request"},
        {"GET /metrics HTTP/1.1\r\nHost: \r\n\r\n", "400 Bad Request"},
        {long_one, "431 Request Header Fields Too Large"},
    };
    struct imrec_iter *it = set_open(&set, true, "metrics=127.0.0.1:0");
    const char *where = imrec_iter_metrics(it);
    memset(long_one, 'x', sizeof(long_one) - 1);
    memcpy(long_one, "GET /metrics HTTP/1.1\r\nX: ", 26);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ask(where, rows[i][0]);
        ck_assert_msg(strncmp(answer, "HTTP/1.1 ", 9) == 0 &&
                          strncmp(answer + 9, rows[i][1], strlen(rows[i][1])) == 0,
                      "%.40s: %.200s", rows[i][0], answer);
        const char *body = strstr(answer, "\r\n\r\n") + 4;
        const size_t says = (size_t)atoi(strstr(answer, "Content-Length: ") + 16);
        ck_assert_uint_gt(says, 0);
        ck_assert_uint_eq(strlen(body), rows[i][0][0] == 'H' ? 0 : says);
    }
    ask_bytes(where, nul, sizeof(nul) - 1);
    ck_assert_ptr_nonnull(strstr(answer, "400 Bad Request"));
    imrec_iter_close(it);
}

/* They fill every place; who asks is answered all the same, batches come, and closing waits for
 * none of them. */
TEST(silent_clients_keep_nobody_out)
{
    int fds[80];
    struct imrec_iter *it = set_open(&set, true, "metrics=127.0.0.1:0 max_samples=60");
    for (int i = 0; i < COUNT(fds); i++) {
        fds[i] = connect_to(imrec_iter_metrics(it));
        if (i % 3 != 0) /* a part of a request, or all of it: nobody reads the answer */
            ck_assert_int_gt(send(fds[i], GET, i % 3 == 1 ? 9 : strlen(GET), MSG_NOSIGNAL), 0);
        if (i % 20 != 0)
            continue;
        ask(imrec_iter_metrics(it), GET);
        ck_assert_ptr_nonnull(strstr(answer, "200 OK"));
    }
    read_out(it);
    must_be_stats(it, LABELS);
    imrec_iter_close(it);
    for (int i = 0; i < COUNT(fds); i++)
        close(fds[i]);
}

TEST(a_file_has_the_last_numbers_when_the_iterator_is_closed)
{
    char words[700];
    const char *path = tmp_path(&set.dir, "imrec.prom");
    snprintf(words, sizeof(words), "metrics=%s max_samples=60", path);
    struct imrec_iter *it = set_open(&set, true, words);
    ck_assert_str_eq(imrec_iter_metrics(it), path);
    ck_assert_int_gt(tmp_size(path), 0); /* from the start on */
    read_out(it);
    struct imrec_iter_stats s;
    imrec_iter_get_stats(it, &s);
    imrec_iter_close(it);
    answer[0] = '\n';
    FILE *f = fopen(path, "r");
    answer[1 + fread(answer + 1, 1, sizeof(answer) - 2, f)] = '\0';
    fclose(f);
    ck_assert_double_eq(number("images_total", LABELS), (double)s.images);
    ck_assert_double_eq(number("batches_total", LABELS), 12);
    ck_assert_int_eq(tmp_size(tmp_path(&set.dir, "imrec.prom.part")), -1);
}

static const struct {
    const char *target;
    enum imrec_status status;
    const char *says;
} refused[] = {
    {"/nowhere/x.prom", IMREC_ERR_IO, "/nowhere/x.prom"},
    {"s3://bucket/x.prom", IMREC_ERR_ARGUMENT, "must be a file of this machine, unix:PATH"},
    {":9400", IMREC_ERR_ARGUMENT, "0.0.0.0 or [::] for every network"},
    {"example.com:9400", IMREC_ERR_ARGUMENT, "the host must be an address, 127.0.0.1"},
    {"127.0.0.1:", IMREC_ERR_ARGUMENT, "the port must be 0, for a free one, to 65535"},
    {"127.0.0.1:65536", IMREC_ERR_ARGUMENT, "the port must be 0"},
    {"127.0.0.1:99999999999999999999", IMREC_ERR_ARGUMENT, "the port must be 0"},
    {"::1:9400", IMREC_ERR_ARGUMENT, "[::1]"},
    {"1.2.3:9400", IMREC_ERR_ARGUMENT, "a file of such a name is ./1.2.3:9400"},
    {"192.0.2.1:0", IMREC_ERR_IO, "the system refuses to listen there"}, /* RFC 5737: nobody's */
    {"unix:", IMREC_ERR_ARGUMENT, "has 1 to 107 bytes, not 0"},
    {"unix:/nowhere/socket", IMREC_ERR_IO, "the system refuses to listen there"},
};

LOOP_TEST(a_target_that_cannot_be_is_refused_at_opening, 0, COUNT(refused))
{
    char words[300];
    struct imrec_iter *it;
    snprintf(words, sizeof(words), "metrics=%s", refused[_i].target);
    ck_assert_int_eq(set_try_open(&set, true, words, &it, &err), refused[_i].status);
    ck_assert_msg(strstr(err.message, refused[_i].says) != NULL, "%s: %s", words, err.message);
    ck_assert_ptr_null(it);
}

TEST(two_iterators_at_one_port_are_refused_by_name_until_the_first_is_closed)
{
    char words[300];
    struct imrec_iter *other, *it = set_open(&set, true, "metrics=127.0.0.1:0");
    snprintf(words, sizeof(words), "metrics=%s", imrec_iter_metrics(it));
    ck_assert_int_eq(set_try_open(&set, true, words, &other, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, words) != NULL && strstr(err.message, "is in use") != NULL,
                  "%s", err.message);
    ask(imrec_iter_metrics(it), GET); /* the server closed it: the port is in TIME_WAIT */
    imrec_iter_close(it);
    it = set_open(&set, true, words);
    ask(imrec_iter_metrics(it), GET);
    ck_assert_ptr_nonnull(strstr(answer, "200 OK"));
    imrec_iter_close(it);
}

/* It has all descriptors, and none of the threads. */
TEST(a_forked_process_does_not_keep_the_port)
{
    char words[300];
    struct imrec_iter *it = set_open(&set, true, "metrics=127.0.0.1:0");
    snprintf(words, sizeof(words), "metrics=%s", imrec_iter_metrics(it));
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    imrec_iter_close(it);
    it = set_open(&set, true, words);
    ask(imrec_iter_metrics(it), GET);
    ck_assert_ptr_nonnull(strstr(answer, "200 OK"));
    imrec_iter_close(it);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

TEST(the_name_of_a_socket_is_taken_over_from_the_dead_alone)
{
    char words[700];
    struct stat is;
    struct imrec_iter *other, *it;
    const char *path = tmp_path(&set.dir, "s");
    snprintf(words, sizeof(words), "metrics=unix:%s", path);
    tmp_socket(&set.dir, "s"); /* as a killed process leaves it */
    it = set_open(&set, true, words);
    ask(imrec_iter_metrics(it), GET);
    ck_assert_ptr_nonnull(strstr(answer, "200 OK"));
    ck_assert_int_eq(set_try_open(&set, true, words, &other, &err), IMREC_ERR_IO);
    ck_assert_msg(strstr(err.message, "is in use") != NULL, "%s", err.message);
    ask(imrec_iter_metrics(it), GET); /* it is still there */
    imrec_iter_close(it);
    ck_assert_int_ne(lstat(path, &is), 0);
    (void)tmp_write(&set.dir, "s", "text", 4);
    ck_assert_int_eq(set_try_open(&set, true, words, &other, &err), IMREC_ERR_IO);
    ck_assert_int_eq(tmp_size(path), 4); /* a file of the user's */
}

/* An iterator of its own computes it, and has no numbers for anybody. */
TEST(a_mean_image_is_computed_where_metrics_listen)
{
    char words[700];
    snprintf(words, sizeof(words), "metrics=127.0.0.1:0 mean_img=%s",
             tmp_path(&set.dir, "mean.bin"));
    struct imrec_iter *it = set_open(&set, true, words);
    char again[900];
    snprintf(again, sizeof(again), "metrics=%s mean_img=%s", imrec_iter_metrics(it),
             tmp_path(&set.dir, "mean2.bin"));
    imrec_iter_close(it);
    it = set_open(&set, true, again);
    imrec_iter_close(it);
    it = set_open(&set, true, "");
    ck_assert_ptr_null(imrec_iter_metrics(it));
    imrec_iter_close(it);
}

TEST(opening_without_memory_leaves_nothing)
{
    char words[700];
    opening_must_fail_cleanly(&set, true, "metrics=127.0.0.1:0");
    snprintf(words, sizeof(words), "metrics=%s", tmp_path(&set.dir, "x.prom"));
    opening_must_fail_cleanly(&set, true, words);
}

TEST(labels_are_escaped_and_bounded)
{
    struct metrics_source s = {.labels = ""};
    char long_value[500];
    memset(long_value, 'v', sizeof(long_value) - 1);
    long_value[sizeof(long_value) - 1] = '\0';
    metrics_label(&s, "a", "\"q\\\n");
    ck_assert_str_eq(s.labels, "a=\"\\\"q\\\\\\\\x0a\"");
    for (int i = 0; i < 9; i++)
        metrics_label(&s, "b", long_value);
    ck_assert_uint_lt(strlen(s.labels), sizeof(s.labels));
    ck_assert_int_eq(s.labels[strlen(s.labels) - 1], '"');
}
