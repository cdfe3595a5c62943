/* Reads API objects from what -f names, one at a time, with memory for one at a time. */
#include "cmd/input/input.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/object.h"
#include "base/vec.h"
#include "cli/io.h"
#include "cli/walk.h"
#include "cmd/input/ignore.h"
#include "cmd/progress.h"
#include "codec/docs.h"

const struct opt input_opts[] = {
    {.name = "filename",
     .letter = 'f',
     .kind = OPT_FILES,
     .value = "FILE",
     .help = "File or directory to read, or - for standard input. Can be given several times.",
     .offset = offsetof(struct input_opts, filenames)},
    {.name = "ignore-filename-pattern",
     .kind = OPT_TEXTS,
     .value = "REGEX",
     .help = "Pass over files whose path has a match of this extended regular expression, such as "
             "'(^|/)testdata/'. Can be given several times.",
     .offset = offsetof(struct input_opts, ignore)},
    {.name = "recursive",
     .letter = 'R',
     .kind = OPT_FLAG,
     .help = "Read directories with all that is below them.",
     .offset = offsetof(struct input_opts, recursive)},
    {0},
};

/* A list whose items are being handed out. */
struct open_list {
    const struct json *list;
    const struct json *items;
    uint32_t at;
};

struct input {
    struct cmd_ctx *ctx;
    bool strict;
    struct arena arena; /* file names */
    struct walk_files files;
    struct input_passed passed;
    size_t next_file;

    const struct walk_file *file; /* being read, or NULL */
    int fd;
    struct docs *docs; /* one for all files */
    struct arena tree; /* what docs made last */
    struct docs_item item;

    struct open_list lists[INPUT_MOST_LISTS]; /* lists that are items, outermost first */
    size_t list_count;

    bool saw_braces, last_was_brace; /* of what was read of the file: "{{"; its last byte is "{" */
    bool is_json;                    /* it begins as an object, and not as a template */
    struct input_failure failure;

    uint64_t bytes, file_bytes, objects, file_objects;
    bool file_failed; /* something in the file was no object */
    struct progress progress;
};

void input_keep_repeats(struct input *in) {
    docs_keep_repeats(in->docs);
}

const struct input_failure *input_last_failure(const struct input *in) {
    return &in->failure;
}

const struct input_passed *input_passed_over(const struct input *in) {
    return &in->passed;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Looks for the "{{" of templates, also where two blocks meet. What begins as JSON is none, and
 * would be slow to look through, having braces everywhere. */
static void look_for_braces(struct input *in, const char *block, size_t n) {
    if (in->file_bytes == n)
        in->is_json = n > 1 && block[0] == '{' && block[1] != '{';
    if (in->is_json || in->saw_braces || n == 0)
        return;
    in->saw_braces = (in->last_was_brace && block[0] == '{') || memmem(block, n, "{{", 2);
    in->last_was_brace = block[n - 1] == '{';
}

/* The docs_read_fn of the file that is open. */
static int64_t read_block(void *ctx, char *to, size_t n, struct err *err) {
    struct input *in = ctx;
    ssize_t got;
    do
        got = read(in->fd, to, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return io_fail(err, "read %s", in->file->path.p);
    in->bytes += (uint64_t)got;
    in->file_bytes += (uint64_t)got;
    look_for_braces(in, to, (size_t)got);
    progress_update(&in->progress, in->bytes, in->objects);
    return got;
}

int input_open(struct cmd_ctx *ctx, const struct input_opts *opts, bool strict, struct input **out,
               struct err *err) {
    struct input *in = xcalloc(1, sizeof *in);
    in->ctx = ctx;
    in->strict = strict;
    in->fd = -1;
    in->docs = docs_open(read_block, in);
    if (walk_expand(&in->arena, &opts->filenames, opts->recursive, &in->files, err) < 0 ||
        ignore_files(&in->arena, &opts->ignore, &in->files, &in->passed.ignored, err) < 0) {
        input_free(in);
        return -1;
    }
    uint64_t total = 0;
    bool known = true;
    for (size_t i = 0; i < in->files.n; i++) {
        total += in->files.v[i].size;
        known &= in->files.v[i].size > 0;
    }
    progress_init(&in->progress, ctx, known ? total : 0);
    *out = in;
    return 0;
}

static void close_file(struct input *in) {
    if (in->fd >= 0 && !in->file->is_stdin)
        close(in->fd);
    in->fd = -1;
    in->file = NULL;
}

void input_free(struct input *in) {
    if (!in)
        return;
    if (in->progress.ctx)
        progress_end(&in->progress);
    close_file(in);
    docs_free(in->docs);
    walk_files_release(&in->files);
    arena_release(&in->tree);
    arena_release(&in->arena);
    free(in);
}

static int open_next_file(struct input *in, struct err *err) {
    in->file = &in->files.v[in->next_file++];
    in->file_bytes = in->file_objects = 0;
    in->saw_braces = in->last_was_brace = in->file_failed = false;
    in->fd = in->file->is_stdin ? in->ctx->in : open(in->file->path.p, O_RDONLY | O_CLOEXEC);
    if (in->fd >= 0) {
        docs_restart(in->docs);
        return 0;
    }
    io_fail(err, "open %s", in->file->path.p);
    in->failure = (struct input_failure){.source.file = in->file->path};
    close_file(in);
    return -1;
}

static void finish_file(struct input *in) {
    log_info(&in->ctx->log, 2, "file read", LOG_STR("file", in->file->path),
             LOG_I64("bytes", (int64_t)in->file_bytes),
             LOG_I64("objects", (int64_t)in->file_objects));
    if (in->file_objects == 0 && !in->file_failed)
        opt_list_add(&in->arena, &in->passed.empty, in->file->path);
    close_file(in);
}

void input_next_file(struct input *in) {
    in->list_count = 0;
    close_file(in);
}

/* --- objects ---------------------------------------------------------------------------------- */

static struct input_source source_of(const struct input *in) {
    return (struct input_source){
        .file = in->file->path,
        .line = in->item.line,
        .column = in->item.column,
        .document = in->item.document,
        .item = in->item.event == DOCS_ITEM ? in->item.index : INPUT_NO_ITEM,
        .is_json = in->item.is_json,
        .is_found = in->file->is_found,
    };
}

/* An error of the text has its own place, others are those of the whole object; errors of the
 * system have none. */
static int fail_here(struct input *in, struct err *err) {
    in->failure = (struct input_failure){.source.file = in->file->path};
    in->failure.source.is_found = in->file->is_found;
    in->file_failed = true;
    if (err->code == ERR_IO)
        return -1;
    struct input_source *source = &in->failure.source;
    *source = source_of(in);
    if (err->line) {
        source->line = err->line;
        source->column = err->column;
    }
    err->line = err->column = 0;
    return input_fail_at(source, err);
}

/* The text cannot be read, and so nothing of the file behind this place. */
static int give_up_file(struct input *in, struct err *err) {
    fail_here(in, err);
    in->failure.is_template = in->saw_braces && err->code != ERR_IO;
    finish_file(in);
    return -1;
}

static struct str string_member(const struct json *object, struct str key) {
    const struct json *value = object ? json_get(object, key) : NULL;
    return value && value->kind == JSON_STRING ? json_str(value) : (struct str){0};
}

static bool names_kind(struct str name, struct str api_version, struct str kind) {
    if (str_eq(name, kind))
        return true;
    return name.n == api_version.n + 1 + kind.n && str_starts(name, api_version) &&
           name.p[api_version.n] == '/' && str_ends(name, kind);
}

bool input_kind_is_of(struct str api_version, struct str kind, const struct opt_list *kinds) {
    for (size_t i = 0; i < kinds->n; i++)
        if (names_kind(kinds->v[i], api_version, kind))
            return true;
    return false;
}

bool input_value_is_of(const struct input_value *value, const struct opt_list *kinds) {
    struct str kind = string_member(value->tree, STR("kind"));
    struct str version = string_member(value->tree, STR("apiVersion"));
    return input_kind_is_of(version.p ? version : value->api_version, kind.p ? kind : value->kind,
                            kinds);
}

/* The kind of a list's items when they do not say: PodList has Pods. A plain List does not tell. */
static struct str item_kind(const struct json *list) {
    struct str kind = string_member(list, STR("kind"));
    if (!str_ends(kind, STR("List")) || kind.n == 4)
        return (struct str){0};
    return str_sub(kind, 0, kind.n - 4);
}

/* The items of a list, or NULL if it is none. One whose items are null is a list without items, as
 * for kubectl. */
static const struct json *items_of(const struct json *value) {
    static const struct json none = {.kind = JSON_ARRAY};
    const struct json *items = json_get(value, STR("items"));
    if (items && items->kind == JSON_NULL &&
        str_ends(string_member(value, STR("kind")), STR("List")))
        return &none;
    return items && items->kind == JSON_ARRAY ? items : NULL;
}

/* Is it an item without a kind, in a list that has not told its own either? */
static bool needs_kind_of_list(const struct json *tree, const struct json *list) {
    return list && !json_get(tree, STR("kind")) && !json_get(list, STR("kind"));
}

/* Hands out a tree that is an item of `list`, or of none. */
static int deliver(struct input *in, const struct json *tree, const struct json *list,
                   struct input_value *out, struct err *err) {
    if (tree->kind != JSON_OBJECT) {
        err_set(err, ERR_INVALID, "not an object");
        fail_here(in, err);
        in->failure.no_object = in->item.event == DOCS_VALUE;
        return -1;
    }
    if (needs_kind_of_list(tree, list)) {
        err_set(err, ERR_INVALID,
                "Object 'Kind' is missing, and the list has no kind before its "
                "items");
        return fail_here(in, err);
    }
    *out = (struct input_value){.tree = tree, .kind = item_kind(list), .repeats = in->item.repeats};
    if (out->kind.n > 0)
        out->api_version = string_member(list, STR("apiVersion"));
    in->objects++;
    in->file_objects++;
    return 1;
}

static int push_list(struct input *in, const struct json *list, struct err *err) {
    if (in->list_count == INPUT_MOST_LISTS) {
        err_set(err, ERR_INVALID, "lists nest deeper than %d", INPUT_MOST_LISTS);
        return fail_here(in, err);
    }
    const struct json *items = items_of(list);
    assert(items);
    in->lists[in->list_count++] = (struct open_list){list, items, 0};
    return 0;
}

/* The next value of the lists that are items themselves; 0 when there is none. */
static int next_nested(struct input *in, struct input_value *out, struct err *err) {
    while (in->list_count > 0) {
        struct open_list *top = &in->lists[in->list_count - 1];
        if (top->at == top->items->n) {
            in->list_count--;
            continue;
        }
        const struct json *value = &top->items->items[top->at++];
        if (!items_of(value))
            return deliver(in, value, top->list, out, err);
        if (push_list(in, value, err) < 0)
            return -1;
    }
    return 0;
}

/* The next document or item of the open file: 1 = a value, 0 = nothing yet, -1. */
static int next_in_file(struct input *in, struct input_value *out, struct err *err) {
    arena_reset(&in->tree);
    in->item = (struct docs_item){0};
    if (docs_next(in->docs, &in->tree, &in->item, err) < 0)
        return give_up_file(in, err);
    bool is_item = in->item.event == DOCS_ITEM, is_value = in->item.event == DOCS_VALUE;
    if (in->item.event == DOCS_END)
        finish_file(in);
    else if ((is_item || is_value) && items_of(&in->item.value))
        return push_list(in, &in->item.value, err);
    else if (is_item || (is_value && in->item.value.kind != JSON_NULL))
        return deliver(in, &in->item.value, is_item ? in->item.list : NULL, out, err);
    return 0;
}

int input_next_value(struct input *in, struct input_value *out, struct input_source *source,
                     struct err *err) {
    int rc = next_nested(in, out, err);
    while (rc == 0) {
        if (!in->file && in->next_file == in->files.n) {
            progress_end(&in->progress);
            return 0;
        }
        if (!in->file && open_next_file(in, err) < 0)
            return -1;
        rc = next_in_file(in, out, err);
        if (rc == 0)
            rc = next_nested(in, out, err);
    }
    if (rc > 0)
        *source = source_of(in);
    return rc;
}

int input_next(struct input *in, struct api_object **out, struct input_source *source,
               struct err *err) {
    struct input_value value;
    int rc = input_next_value(in, &value, source, err);
    if (rc <= 0)
        return rc;
    return input_decode(in, &value, out, err) < 0 ? -1 : 1;
}

int input_fail_here(struct input *in, struct err *err) {
    return fail_here(in, err);
}

int input_decode(struct input *in, const struct input_value *value, struct api_object **out,
                 struct err *err) {
    struct api_decode_opts opts = {
        .strict = in->strict, .kind = value->kind, .api_version = value->api_version};
    struct api_faults faults;
    api_faults_init(&faults, &in->tree);
    if (api_object_decode(value->tree, &opts, out, &faults) == 0)
        return 0;
    AUTO(buf_release) struct buf why = BUF_INIT(SIZE_MAX);
    api_faults_write(&why, &faults);
    err_set(err, ERR_INVALID, "%.*s", STR_ARG(buf_view(&why)));
    return fail_here(in, err);
}

int input_each(struct cmd_ctx *ctx, const struct input_opts *opts,
               void (*visit)(void *arg, const struct api_object *o), void *arg, struct err *err) {
    struct input *in;
    struct api_object *o;
    struct input_source source;
    int rc;
    if (opts->filenames.n == 0)
        return 0;
    if (input_open(ctx, opts, false, &in, err) < 0)
        return -1;
    while ((rc = input_next(in, &o, &source, err)) > 0) {
        visit(arg, o);
        api_object_free(o);
    }
    input_free(in);
    return rc;
}
