/*
 * Replays a fuzzer's corpus without libFuzzer, so that every input that was ever worth keeping is
 * tried again by the normal test run, under every compiler and sanitizer.
 *
 *     <fuzzer> FOLDER…     each regular file of each folder once, in order of name
 *
 * A missing or empty folder is a failure: a replay that tries nothing must not look like a success.
 * When an input kills the program or takes too long, its name is the last thing printed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS_PER_INPUT = 30 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sanitizers end the program by abort(), so that on_death() can name the input. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__tsan_default_options(void);

const char *__asan_default_options(void) {
    return "abort_on_error=1";
}

const char *__ubsan_default_options(void) {
    return "abort_on_error=1:print_stacktrace=1";
}

const char *__tsan_default_options(void) {
    return "abort_on_error=1";
}

static char current[PATH_MAX]; /* the input being tried; a signal handler can reach nothing else */

static void say(const char *text) {
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return; /* about to die anyway */
}

static void on_death(int signal_number) {
    say(signal_number == SIGALRM ? "\ntoo slow: " : "\ndied in: ");
    say(current);
    say("\n");
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void name_input_on_death(void) {
    static const int fatal[] = {SIGABRT, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        struct sigaction old;
        sigaction(fatal[i], NULL, &old);
        if (old.sa_handler == SIG_DFL) /* AddressSanitizer keeps its own, which abort() in turn */
            signal(fatal[i], on_death);
    }
}

/* The whole file in a block of exactly its size, so that a read past its end is seen. */
static uint8_t *read_input(const char *path, size_t size) {
    FILE *in = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1);
    if (!in || !data || fread(data, 1, size, in) != size) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(2);
    }
    fclose(in);
    return data;
}

static void try_input(const char *path, size_t size) {
    uint8_t *data = read_input(path, size);
    snprintf(current, sizeof current, "%s", path);
    alarm(SECONDS_PER_INPUT);
    LLVMFuzzerTestOneInput(data, size);
    alarm(0);
    free(data);
}

/* How many inputs the folder had; -1 when it cannot be read. */
static int replay_folder(const char *folder) {
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0)
        return -1;
    int inputs = 0;
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
            try_input(path, (size_t)st.st_size);
            inputs++;
        }
        free(entries[i]);
    }
    free(entries);
    return inputs;
}

int main(int argc, char **argv) {
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash ? slash + 1 : argv[0];
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER...\n", name);
        return 2;
    }
    name_input_on_death();
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int inputs = replay_folder(argv[i]);
        if (inputs <= 0) {
            fprintf(stderr, "%s: %s: %s\n", name, argv[i],
                    inputs < 0 ? strerror(errno) : "no inputs in this folder");
            return 1;
        }
        total += inputs;
    }
    printf("%s: %d inputs\n", name, total);
    return 0;
}
