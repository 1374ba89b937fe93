/* Calls that systems name differently do what they say. */
#include "base/system.h"
#include "tests/support/suite.h"
#include "tests/support/tmpdir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct tmpdir dir;

static void setup(void)
{
    dir = tmpdir_make();
}

static void teardown(void)
{
    tmpdir_remove(&dir);
}

CASE(.setup = setup, .teardown = teardown)

TEST(a_secret_is_overwritten)
{
    char text[] = "secret and more";
    system_wipe(text, strlen("secret"));
    ck_assert_mem_eq(text, "\0\0\0\0\0\0 and more", sizeof(text));
}

TEST(numbers_are_not_those_of_before)
{
    uint64_t a[4] = {0}, b[4] = {0}, large[64];
    ck_assert(system_random(a, sizeof(a)) && system_random(b, sizeof(b)));
    for (int i = 0; i < 4; i++)
        ck_assert(a[i] != 0 && a[i] != b[i]);
    errno = 0;
    ck_assert(!system_random(large, sizeof(large)) && errno != 0);
}

TEST(a_change_is_told_in_ns)
{
    const struct timespec times[2] = {{1, 2}, {1700000000, 123456789}}, old[2] = {{1, 2}, {-5, 7}};
    struct stat is;
    tmp_write(&dir, "a", "x", 1);
    const char *path = tmp_path(&dir, "a");
    ck_assert(utimensat(AT_FDCWD, path, times, 0) == 0 && stat(path, &is) == 0);
    ck_assert_uint_eq(system_changed_ns(&is), UINT64_C(1700000000123456789));
    ck_assert(utimensat(AT_FDCWD, path, old, 0) == 0 && stat(path, &is) == 0);
    ck_assert_uint_eq(system_changed_ns(&is), 0);
}

TEST(syncs_and_advice_take_files_alone)
{
    char got;
    tmp_write(&dir, "a", "x", 1);
    const int fd = open(tmp_path(&dir, "a"), O_RDWR);
    ck_assert(fd >= 0 && system_sync(fd) == 0);
    system_advise(fd, 0, 1, SYSTEM_WILL_NEED);
    system_advise(fd, 0, 1, SYSTEM_NO_NEED);
    ck_assert(pread(fd, &got, 1, 0) == 1 && got == 'x');
    ck_assert_int_eq(close(fd), 0);
    ck_assert(system_sync(fd) == -1 && errno == EBADF);
}

static int failing_sync(void *user, int fd)
{
    struct stat is;
    ck_assert(fstat(fd, &is) == 0 && S_ISDIR(is.st_mode));
    errno = *(const int *)user;
    return errno == 0 ? 0 : -1;
}

TEST(a_name_is_on_the_disk_with_its_folder)
{
    char inside[4096], folder[] = "no such folder/a", root[] = "/", plain[] = "a";
    int code = 0;
    (void)snprintf(inside, sizeof(inside), "%s//", tmp_path(&dir, "runs"));
    ck_assert_int_eq(system_sync_folder_of(inside, failing_sync, &code), 0);
    ck_assert_str_eq(inside, tmp_path(&dir, "runs"));
    ck_assert_int_eq(system_sync_folder_of(inside, NULL, NULL), 0);
    ck_assert_int_eq(system_sync_folder_of(root, failing_sync, &code), 0);
    ck_assert_int_eq(system_sync_folder_of(plain, failing_sync, &code), 0);
    code = EINVAL; /* of a file system that cannot */
    ck_assert_int_eq(system_sync_folder_of(inside, failing_sync, &code), 0);
    code = EIO;
    ck_assert(system_sync_folder_of(inside, failing_sync, &code) == -1 && errno == EIO);
    ck_assert(system_sync_folder_of(folder, NULL, NULL) == -1 && errno == ENOENT);
    ck_assert_str_eq(folder, "no such folder/a");
}

static void check_socket(int fd)
{
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}

TEST(sockets_wait_for_nothing_and_are_not_inherited)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", tmp_path(&dir, "s"));
    const int listener = system_socket(AF_UNIX), client = system_socket(AF_UNIX);
    check_socket(listener);
    check_socket(client);
    ck_assert(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 1) == 0);
    ck_assert(system_accept(listener) == -1 && errno == EAGAIN);
    ck_assert_int_eq(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
    const int served = system_accept(listener);
    check_socket(served);
    ck_assert(close(served) == 0 && close(client) == 0 && close(listener) == 0);
    ck_assert(system_socket(-1) == -1 && errno != 0);
}
