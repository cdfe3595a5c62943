/*
 * Runs a command under limits and tells what it took: the exit status, the peak of its memory in
 * KiB and the milliseconds of one core. A command that met a limit ends by a signal, which is told
 * as 128 and the signal's number.
 *
 *     limit_measure REPORT MEMORY_MIB CPU_SECONDS COMMAND...
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void limit(unsigned resource, rlim_t value) {
    struct rlimit both = {.rlim_cur = value, .rlim_max = value};
    if (value != 0 && setrlimit(resource, &both) != 0)
        perror("setrlimit");
}

static long milliseconds(struct timeval t) {
    return t.tv_sec * 1000 + t.tv_usec / 1000;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: %s REPORT MEMORY_MIB CPU_SECONDS COMMAND...\n", argv[0]);
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        limit(RLIMIT_AS, (rlim_t)strtoul(argv[2], NULL, 10) << 20);
        limit(RLIMIT_CPU, (rlim_t)strtoul(argv[3], NULL, 10));
        limit(RLIMIT_CORE, 0);
        execvp(argv[4], argv + 4);
        perror(argv[4]);
        _exit(127);
    }
    int status;
    struct rusage used;
    FILE *report = fopen(argv[1], "w");
    if (child < 0 || !report || wait4(child, &status, 0, &used) != child) {
        perror(argv[0]);
        return 2;
    }
    fprintf(report, "%d %ld %ld\n",
            WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), used.ru_maxrss,
            milliseconds(used.ru_utime) + milliseconds(used.ru_stime));
    return fclose(report) == 0 ? 0 : 2;
}
