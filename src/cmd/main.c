/* The entry: makes the process safe to write from, and hands over to cmd_main. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "cli/io.h"
#include "cmd/cmd.h"

extern char **environ;

/* A standard descriptor that the parent closed would be given to the next file opened, and output
 * would go into it. It is taken by one on which its use fails instead. */
static void fill_standard_descriptors(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            _exit(CMD_FAILED);
}

int main(int argc, char **argv) {
    fill_standard_descriptors();
    /* A reader that goes away is an error of write(), not the end of the process. */
    signal(SIGPIPE, SIG_IGN);
    struct cmd_ctx ctx;
    cmd_ctx_init(&ctx, STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, (const char *const *)environ);
    struct arena arena = {0};
    struct opt_list words = {0};
    for (int i = 1; i < argc; i++)
        opt_list_add(&arena, &words, str_of(argv[i]));
    int code = cmd_main_as(&ctx, argc ? str_of(argv[0]) : STR(""), &words);
    /* Some file systems tell only now that there was no room. */
    if (close(STDOUT_FILENO) < 0 && code != CMD_FAILED) {
        struct err err;
        io_fail(&err, "close standard output");
        cmd_report(&ctx, NULL, &err);
        code = CMD_FAILED;
    }
    arena_release(&arena);
    return code;
}
