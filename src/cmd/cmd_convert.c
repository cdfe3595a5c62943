/* berth convert: manifests in, the same objects out as kubectl prints them. */
#include "cmd/cmd.h"

#include "api/object.h"
#include "cmd/commands.h"
#include "cmd/gates.h"
#include "cmd/input.h"
#include "cmd/spool.h"
#include "codec/yml.h"

/* Output waits in this much memory before it goes to a file. */
enum { SPOOL_BYTES = 8 << 20 };

/* One object printed: deep nesting with much indentation makes more of it than was read. */
enum { MOST_PRINTED_BYTES = 64 << 20 };

struct convert_opts {
    struct input_opts input;
    struct gates_opts gates;
    bool defaults, strict;
    int output; /* place in formats */
};

static const char *const format_names[] = {"json", "yaml", NULL};

static const struct opt convert_opts[] = {
    {.name = "default",
     .kind = OPT_FLAG,
     .help = "Fill in the defaults that the API server would fill in.",
     .offset = offsetof(struct convert_opts, defaults)},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_ENUM,
     .value = "FORMAT",
     .help = "Output format: json or yaml.",
     .offset = offsetof(struct convert_opts, output),
     .fallback = "yaml",
     .words = format_names},
    {.name = "strict",
     .kind = OPT_FLAG,
     .help = "Refuse unknown and repeated fields instead of passing them on.",
     .offset = offsetof(struct convert_opts, strict)},
    {0},
};

static void write_json(struct buf *out, const struct json *v) {
    json_write(out, v, &(struct json_style){.indent = 4, .sort_keys = true});
    buf_add_char(out, '\n');
}

/*
 * An item is printed as {"items":[item]} and freed of what stands around it, so that it looks
 * exactly as in the whole list, which never exists in memory.
 */
struct format {
    void (*write)(struct buf *out, const struct json *v);
    struct str before_item, behind_item; /* what `write` puts around an item */
    struct str head, separator, tail;    /* of the list */
};

static const struct format formats[] = {
    {
        .write = write_json,
        .before_item = STR_INIT("{\n    \"items\": [\n"),
        .behind_item = STR_INIT("\n    ]\n}\n"),
        .head = STR_INIT("{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n"),
        .separator = STR_INIT(",\n"),
        .tail = STR_INIT("\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n"
                         "        \"resourceVersion\": \"\"\n    }\n}\n"),
    },
    {
        .write = yml_write,
        .before_item = STR_INIT("items:\n"),
        .behind_item = STR_INIT(""),
        .head = STR_INIT("apiVersion: v1\nitems:\n"),
        .separator = STR_INIT(""),
        .tail = STR_INIT("kind: List\nmetadata:\n  resourceVersion: \"\"\n"),
    },
};

/* The objects on their way out. The first is kept back: alone it is printed as it is, with others
 * it is the first item of a list. */
struct printer {
    const struct format *format;
    struct api_object *first;
    struct input_source first_source;
    size_t count;
    struct arena arena; /* of the object being printed */
    struct buf text;
    struct spool spool;
};

static int add_text(struct printer *p, struct str before, struct str behind,
                    const struct input_source *source, struct err *err) {
    if (p->text.full) {
        err_set(err, ERR_TOO_LARGE, "object needs more than %d MiB when printed",
                MOST_PRINTED_BYTES >> 20);
        return input_fail_at(source, err);
    }
    struct str text = str_sub(buf_view(&p->text), before.n, p->text.n - behind.n);
    return spool_add(&p->spool, text, err);
}

static int print_single(struct printer *p, struct err *err) {
    struct json value = api_object_encode(p->first, &p->arena);
    p->format->write(&p->text, &value);
    return add_text(p, STR(""), STR(""), &p->first_source, err);
}

static int print_item(struct printer *p, const struct api_object *o,
                      const struct input_source *source, struct err *err) {
    struct json items = {.kind = JSON_ARRAY}, list = {.kind = JSON_OBJECT};
    json_append(&p->arena, &items, api_object_encode(o, &p->arena));
    json_add(&p->arena, &list, STR("items"), items);
    p->format->write(&p->text, &list);
    int rc = add_text(p, p->format->before_item, p->format->behind_item, source, err);
    buf_clear(&p->text);
    arena_reset(&p->arena);
    return rc;
}

static int print_list_start(struct printer *p, struct err *err) {
    if (spool_add(&p->spool, p->format->head, err) < 0)
        return -1;
    return print_item(p, p->first, &p->first_source, err);
}

/* Takes over o. */
static int print_object(struct printer *p, struct api_object *o, const struct input_source *source,
                        struct err *err) {
    if (p->count++ == 0) {
        p->first = o;
        p->first_source = *source;
        return 0;
    }
    int rc = p->count == 2 ? print_list_start(p, err) : 0;
    if (rc == 0)
        rc = spool_add(&p->spool, p->format->separator, err);
    if (rc == 0)
        rc = print_item(p, o, source, err);
    api_object_unref(o);
    return rc;
}

static int print_end(struct printer *p, int out, struct err *err) {
    if (p->count == 0)
        return err_set(err, ERR_INVALID, "no objects passed to convert");
    int rc = p->count == 1 ? print_single(p, err) : spool_add(&p->spool, p->format->tail, err);
    return rc < 0 ? -1 : spool_copy(&p->spool, out, err);
}

static void printer_release(struct printer *p) {
    api_object_unref(p->first);
    arena_release(&p->arena);
    buf_release(&p->text);
    spool_release(&p->spool);
}

static int convert_all(struct input *in, const struct convert_opts *opts,
                       const struct feature_set *gates, struct printer *p, struct err *err) {
    struct api_object *o;
    struct input_source source;
    int rc;
    while ((rc = input_next(in, &o, &source, err)) > 0) {
        if (opts->defaults)
            api_object_default(o, gates);
        if (print_object(p, o, &source, err) < 0)
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
    struct printer p = {.format = &formats[opts->output], .text = BUF_INIT(MOST_PRINTED_BYTES)};
    spool_init(&p.spool, SPOOL_BYTES, cmd_getenv(call->ctx, "TMPDIR"));
    int rc = convert_all(in, opts, &gates, &p, err);
    if (rc == 0)
        rc = print_end(&p, call->ctx->out, err);
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
    .run = run,
};
