/* Prints what NtQueryDirectoryFile says of a directory, buffer after buffer, in hexadecimal digits:
 *
 *     x86_64-w64-mingw32-gcc -O2 -o record.exe windows.c -lntdll && wine64 record.exe CLASS BYTES DIRECTORY */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>
#include <winternl.h>

NTSTATUS NTAPI NtQueryDirectoryFile(HANDLE, HANDLE, PIO_APC_ROUTINE, PVOID, PIO_STATUS_BLOCK, PVOID, ULONG,
                                    FILE_INFORMATION_CLASS, BOOLEAN, PUNICODE_STRING, BOOLEAN);

static unsigned char buffer[65536] __attribute__((aligned(8)));

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    HANDLE directory = CreateFileA(argv[3], FILE_LIST_DIRECTORY | SYNCHRONIZE, 7, NULL, OPEN_EXISTING,
                                   FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (directory == INVALID_HANDLE_VALUE) return 3;
    for (;;) {
        IO_STATUS_BLOCK io;
        NTSTATUS status = NtQueryDirectoryFile(directory, NULL, NULL, NULL, &io, buffer, atoi(argv[2]),
                                               atoi(argv[1]), FALSE, NULL, FALSE);
        if (status == (NTSTATUS)0x80000006) return 0; /* no more files */
        if (status) { fprintf(stderr, "%08lx\n", status); return 4; }
        for (ULONG_PTR at = 0; at < io.Information; at++)
            printf("%02x%s", buffer[at], at % 32 == 31 || at + 1 == io.Information ? "\n" : "");
        printf("\n");
    }
}
