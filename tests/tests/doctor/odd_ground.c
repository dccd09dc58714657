/* A file system with oddities, for LD_PRELOAD: what the environment names is answered other than the kernel does.
 *
 * ODD_CLOCK    seconds by which the local clock is shifted
 * ODD_GRAIN    stamps are multiples of so many nanoseconds
 * ODD          words: folders-still (a directory's mtime stays), folders-restless (it moves with every look),
 *              new-inodes (another one with every look), ctime-copies (it is the mtime), unset (set times are ignored),
 *              stuck (a file's mtime stays), fold (`A` is `a`), no-mkdir (as on a read-only file system)
 * ODD_WATCHES  the file to read instead of /proc/sys/fs/inotify/max_user_watches
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is(const char *word) {
    const char *odd = getenv("ODD");
    return odd && strstr(odd, word);
}

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += number("ODD_CLOCK");
    return result;
}

static void cut(struct statx_timestamp *time) {
    long grain = number("ODD_GRAIN");
    if (grain <= 0) return;
    long all = time->tv_sec * 1000000000L + time->tv_nsec;
    all -= all % grain;
    time->tv_sec = all / 1000000000L;
    time->tv_nsec = all % 1000000000L;
}

int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict buf) {
    static long looks;
    size_t length = path ? strlen(path) : 0;
    char other[4096];
    if (is("fold") && length > 2 && length < sizeof other && !strcmp(path + length - 2, "/A")) {
        strcpy(other, path);
        other[length - 1] = 'a';
        path = other;
    }
    int result = syscall(SYS_statx, dir, path, flags, mask, buf);
    if (result) return result;
    looks++;
    cut(&buf->stx_mtime);
    cut(&buf->stx_ctime);
    int is_folder = S_ISDIR(buf->stx_mode);
    if (is_folder && is("folders-still")) buf->stx_mtime.tv_sec = 1000000000;
    if (is_folder && is("folders-still")) buf->stx_mtime.tv_nsec = 0;
    if (is_folder && is("folders-restless")) buf->stx_mtime.tv_sec = looks;
    if (!is_folder && is("stuck")) buf->stx_mtime.tv_sec = 1000000000;
    if (is("ctime-copies")) buf->stx_ctime = buf->stx_mtime;
    if (is("new-inodes")) buf->stx_ino = looks;
    return result;
}

int futimens(int file, const struct timespec times[2]) {
    if (is("unset")) return 0;
    return syscall(SYS_utimensat, file, 0, times, 0);
}

int mkdir(const char *path, mode_t mode) {
    if (is("no-mkdir")) return errno = EROFS, -1;
    return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    const char *watches = getenv("ODD_WATCHES");
    if (watches && !strcmp(path, "/proc/sys/fs/inotify/max_user_watches")) path = watches;
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
