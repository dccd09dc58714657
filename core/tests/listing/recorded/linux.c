/* Prints what getdents64 says of a directory, buffer after buffer, in hexadecimal digits:
 *
 *     cc -O2 -o record linux.c && ./record BYTES DIRECTORY */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned char buffer[65536] __attribute__((aligned(8)));

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int directory = open(argv[2], O_RDONLY | O_DIRECTORY);
    long filled;
    while ((filled = syscall(SYS_getdents64, directory, buffer, atoi(argv[1]))) > 0) {
        for (long at = 0; at < filled; at++)
            printf("%02x%s", buffer[at], at % 32 == 31 || at + 1 == filled ? "\n" : "");
        printf("\n");
    }
    return filled < 0;
}
