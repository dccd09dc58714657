/* Writes to files in unusual ways, a word at a time: reads commands, says "ok" or what went wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int file = -1;
static char *map;

/* One asynchronous write that has ended when this returns. */
static int write_asynchronously(void)
{
    aio_context_t context = 0;
    static char bytes[] = "asynchronous";
    struct iocb order = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = file, .aio_buf = (size_t)bytes, .aio_nbytes = sizeof bytes};
    struct iocb *orders[] = {&order};
    struct io_event done;
    if (syscall(SYS_io_setup, 1, &context) != 0)
        return -1;
    int result = syscall(SYS_io_submit, context, 1, orders) == 1 && syscall(SYS_io_getevents, context, 1, 1, &done, NULL) == 1 ? 0 : -1;
    syscall(SYS_io_destroy, context);
    return result;
}

/* Opens a file by its handle, by no name at all. */
static int open_by_handle(const char *path)
{
    struct file_handle *handle = malloc(sizeof *handle + MAX_HANDLE_SZ);
    int mount;
    handle->handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(AT_FDCWD, path, handle, &mount, 0) != 0)
        return -1;
    int directory = open("/tmp", O_RDONLY), opened = open_by_handle_at(directory, handle, O_RDWR);
    close(directory);
    free(handle);
    return opened;
}

static int splice_into(void)
{
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "spliced", 7) != 7)
        return -1;
    int result = splice(ends[0], NULL, file, NULL, 7, 0) == 7 ? 0 : -1;
    close(ends[0]);
    close(ends[1]);
    return result;
}

static int link_to(const char *path)
{
    char own[64];
    snprintf(own, sizeof own, "/proc/self/fd/%d", file);
    return linkat(AT_FDCWD, own, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static int obey(const char *word, const char *path)
{
    if (!strcmp(word, "open"))
        return file = open(path, O_RDWR);
    if (!strcmp(word, "create"))
        return file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (!strcmp(word, "read-only"))
        return file = open(path, O_RDONLY);
    if (!strcmp(word, "nameless"))
        return file = open(path, O_RDWR | O_TMPFILE, 0666);
    if (!strcmp(word, "handle"))
        return file = open_by_handle(path);
    if (!strcmp(word, "link"))
        return link_to(path);
    if (!strcmp(word, "size"))
        return ftruncate(file, 8192);
    if (!strcmp(word, "chmod"))
        return fchmod(file, 0640);
    if (!strcmp(word, "write"))
        return write(file, "written", 7) == 7 ? 0 : -1;
    if (!strcmp(word, "splice"))
        return splice_into();
    if (!strcmp(word, "asynchronous"))
        return write_asynchronously();
    if (!strcmp(word, "allocate"))
        return fallocate(file, 0, 0, 65536);
    if (!strcmp(word, "close"))
        return close(file);
    if (!strcmp(word, "map"))
        return (map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) == MAP_FAILED ? -1 : 0;
    if (!strcmp(word, "store"))
        return map[0]++, 0;
    if (!strcmp(word, "msync"))
        return msync(map, 8192, MS_SYNC);
    if (!strcmp(word, "unmap"))
        return munmap(map, 8192);
    errno = EINVAL;
    return -1;
}

int main(void)
{
    char line[5000];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *path = strchr(line, ' ');
        if (path)
            *path++ = 0;
        puts(obey(line, path) < 0 ? strerror(errno) : "ok");
        fflush(stdout);
    }
    return 0;
}
