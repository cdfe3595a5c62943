/* berth convert: manifests in, the same objects out as kubectl prints them. */
#include "cmd/cmd.h"

#include "api/object.h"
#include "cmd/gate_flags.h"
#include "cmd/input/input.h"
#include "cmd/report/printer.h"
#include "cmd/rows.h"

struct convert_opts {
    struct input_opts input;
    struct gates_opts gates;
    bool defaults, strict;
    int output; /* enum printer_format */
};

static const struct opt convert_opts[] = {
    {.name = "default",
     .kind = OPT_FLAG,
     .help = "Fill in the defaults that the API server would fill in.",
     .offset = offsetof(struct convert_opts, defaults)},
    ROW_OUTPUT(offsetof(struct convert_opts, output), "Output format: json or yaml.", "yaml",
               printer_formats),
    {.name = "strict",
     .kind = OPT_FLAG,
     .help = "Refuse unknown and repeated fields instead of passing them on.",
     .offset = offsetof(struct convert_opts, strict)},
    {0},
};

static int convert_all(struct input *in, const struct convert_opts *opts,
                       const struct feature_set *gates, struct printer *p, struct err *err) {
    struct api_object *o;
    struct input_source source;
    int rc;
    while ((rc = input_next(in, &o, &source, err)) > 0) {
        if (opts->defaults)
            api_object_default(o, gates);
        if (printer_add(p, o, &source, err) < 0)
            return -1;
    }
    return rc;
}

static int run(struct cmd_call *call, struct err *err) {
    const struct convert_opts *opts = call->opts;
    struct feature_set gates;
    struct input *in;
    if (gates_resolve(&opts->gates, &call->ctx->log, &gates, err) < 0 ||
        input_open(call->ctx, &opts->input, opts->strict, &in, err) < 0)
        return -1;
    struct printer p;
    printer_init(&p, call->ctx, (enum printer_format)opts->output);
    int rc = convert_all(in, opts, &gates, &p, err);
    if (rc == 0 && p.count == 0)
        rc = err_set(err, ERR_INVALID, "no objects passed to convert");
    if (rc == 0)
        rc = printer_finish(&p, err);
    printer_release(&p);
    input_free(in);
    return rc;
}

static const struct cmd_example examples[] = {
    {"Print a manifest as JSON", "berth convert -f pod.yaml -o json"},
    {"Show a pod with every default the API server fills in",
     "berth convert -f pod.yaml --default"},
    {"Turn a directory of manifests into one list, refusing misspelt fields",
     "berth convert -R -f manifests/ --strict"},
    {"Convert what another program prints", "kubectl get nodes -o json | berth convert -f -"},
    {0},
};

const struct cmd cmd_convert = {
    .name = "convert",
    .summary = "Print manifests as YAML or JSON, with defaults if asked",
    .about = "Read Kubernetes objects and print them as kubectl would, as YAML or JSON, with the "
             "API server's defaults if asked.\n\n"
             "One object is printed as it is, several as one v1 List. Fields that berth does not "
             "know are passed on unless --strict is given. When an input is bad, nothing is "
             "printed but the error.",
    .usage = "-f FILE... [options]",
    .examples = examples,
    .groups = {{"Options", convert_opts, 0},
               {"Input Options", input_opts, offsetof(struct convert_opts, input)},
               {"Feature Gate Options", gates_opts, offsetof(struct convert_opts, gates)}},
    .opts_size = sizeof(struct convert_opts),
    .args_hint = "files are named with -f",
    .run = run,
};
