/* Reads a KubeSchedulerConfiguration, see profiles.h. */
#include "cmd/profiles.h"

static int read_file(struct cmd_call *call, const struct opt_list *files, struct input **file,
                     struct sched_config **out, struct err *err) {
    struct input_opts names = {.filenames = *files};
    struct input_value value;
    struct input_source source;
    if (files->n > 1)
        return err_set(err, ERR_USAGE, "--config can be given once");
    if (input_open(call->ctx, &names, false, file, err) < 0)
        return -1;
    int rc = input_next_value(*file, &value, &source, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return err_set(err, ERR_INVALID, "%.*s: no configuration in it", STR_ARG(files->v[0]));
    if (sched_config_read(call->arena, value.tree, out, err) < 0)
        return input_fail_at(&source, err);
    return 0;
}

int profiles_read(struct cmd_call *call, const struct opt_list *files, struct input **file,
                  struct sched_config **out, struct err *err) {
    *file = NULL;
    if (!files->n) {
        *out = sched_config_default(call->arena);
        return 0;
    }
    return read_file(call, files, file, out, err) < 0 ? err_wrap(err, "--config") : 0;
}
