/*
 * The file of --config.
 *
 * Follows k8s.io/kubernetes cmd/kube-scheduler/app/options, func loadConfig.
 */
#include "cmd/parts/config_file.h"

#include "base/printable.h"
#include "cli/io.h"
#include "cmd/input/input.h"
#include "codec/json.h"

enum { LONGEST_WARNING = 64 << 10 };

static void warn_of_rest(const struct cmd_ctx *ctx, struct str file) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_WARNING);
    cmd_add_title(ctx, CMD_WARNING, &text);
    buf_add(&text, STR("--config: "));
    printable_add(&text, file);
    buf_add(&text, STR(": only the first document is read, as by kube-scheduler\n"));
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

/* Of YAML the first document is read, and JSON must be one value. */
static int check_rest(const struct cmd_ctx *ctx, struct input *in, const struct input_source *first,
                      struct err *err) {
    struct input_value value;
    struct input_source source;
    struct err trouble;
    int rc = input_next_value(in, &value, &source, &trouble);
    bool is_one_file = rc <= 0 || str_eq(source.file, first->file);
    if (rc == 0)
        return 0;
    if (is_one_file && !first->is_json && (rc > 0 || trouble.code != ERR_IO)) {
        warn_of_rest(ctx, first->file);
        return 0;
    }
    if (rc > 0) {
        err_set(&trouble, ERR_INVALID, "there is a second value behind the configuration");
        input_fail_at(&source, &trouble);
    }
    *err = trouble;
    return -1;
}

/* Reads the first value of the file, which is put into the arena. */
static int read_tree(struct arena *a, struct input *in, struct json *out,
                     struct input_source *source, struct err *err) {
    struct input_value value;
    int rc = input_next_value(in, &value, source, err);
    if (rc <= 0)
        return rc;
    *out = json_clone(a, value.tree);
    if (source->document > 0)
        err_set(err, ERR_INVALID, "the first document is empty, and it is the one that is read");
    else if (source->item != INPUT_NO_ITEM)
        err_set(err, ERR_INVALID, "strict decoding error: unknown field \"items\"");
    else
        return 1;
    return input_fail_at(source, err);
}

static int read_first(struct cmd_call *call, struct input *in, struct str name,
                      struct sched_config **out, struct err *err) {
    struct input_source source;
    struct json tree;
    int rc = read_tree(call->arena, in, &tree, &source, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return err_set(err, ERR_INVALID, "%.*s: no configuration in it", STR_ARG(name));
    if (sched_config_read(call->arena, &tree, out, err) < 0)
        return input_fail_at(&source, err);
    return check_rest(call->ctx, in, &source, err);
}

static int open_file(struct cmd_call *call, const struct opt_list *files, struct sched_config **out,
                     struct err *err) {
    struct input *in;
    if (files->n > 1)
        return err_set(err, ERR_USAGE, "it can be given once");
    if (input_open(call->ctx, &(struct input_opts){.filenames = *files}, false, &in, err) < 0)
        return -1;
    int rc = read_first(call, in, files->v[0], out, err);
    input_free(in);
    return rc;
}

int config_file_read(struct cmd_call *call, const struct opt_list *files, struct sched_config **out,
                     struct err *err) {
    if (files->n)
        return open_file(call, files, out, err) < 0 ? err_wrap(err, "--config") : 0;
    *out = sched_config_default(call->arena);
    return 0;
}
