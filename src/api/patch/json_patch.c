/*
 * JSON patches: the operations, one after the other.
 *
 * Follows gopkg.in/evanphx/json-patch.v4, func (Patch) Apply, func (Patch) add,
 * func (Patch) replace, func (Patch) move, func (Patch) test, func (Patch) copy, func findObject.
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func (*jsonPatcher) applyJSPatch.
 */
#include <assert.h>

#include "api/patch/json_patch_int.h"
#include "base/ascii.h"
#include "base/goquote.h"
#include "base/limits.h"

/* One operation. */
struct op {
    struct str path, from;
    const struct json *value;      /* NULL: it has none */
    const struct json *given_path; /* as it came, or NULL */
    const struct json *given_from;
};

struct run {
    struct api__patching *p;
    struct api__doc doc;
    uint64_t copied; /* bytes that copies added so far */
};

/* A place: a container and the key in it. */
struct target {
    struct api__node *in; /* NULL: there is no such place */
    struct str key;
};

/* ---- places ---- */

/* ~1 is a slash and ~0 a tilde. */
static struct str decode_key(struct arena *a, struct str key) {
    if (str_find_char(key, '~') == STR_NONE)
        return key;
    char *out = arena_alloc(a, key.n);
    size_t n = 0;
    for (size_t i = 0; i < key.n; i++) {
        bool escape =
            key.p[i] == '~' && i + 1 < key.n && (key.p[i + 1] == '0' || key.p[i + 1] == '1');
        out[n++] = !escape ? key.p[i] : key.p[i + 1] == '1' ? '/' : '~';
        i += escape;
    }
    return (struct str){out, n};
}

/* strconv.Atoi: 0, or -1 with what is wrong. */
static int parse_index(struct run *r, struct str key, int64_t *out, struct str *wrong) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES);
    bool sign = key.n && (key.p[0] == '-' || key.p[0] == '+'), overflow = false;
    uint64_t n = 0;
    size_t i = sign;
    for (; i < key.n && ascii_is_digit(key.p[i]); i++) {
        uint64_t digit = (uint64_t)(key.p[i] - '0');
        overflow |= n > (INT64_MAX - digit) / 10;
        n = overflow ? INT64_MAX : n * 10 + digit;
    }
    bool is_number = i == key.n && i > sign;
    *out = sign && key.p[0] == '-' ? -(int64_t)n : (int64_t)n;
    if (is_number && !overflow)
        return 0;
    buf_add(&text, STR("strconv.Atoi: parsing "));
    goquote_write(&text, key);
    buf_add(&text, is_number ? STR(": value out of range") : STR(": invalid syntax"));
    *wrong = arena_str(r->p->a, buf_view(&text));
    return -1;
}

/* The place in a list of n that an index means; negative ones count from the end. */
static int resolve_index(struct run *r, struct str key, size_t n, size_t *out, struct str *wrong) {
    int64_t i;
    if (parse_index(r, key, &i, wrong) < 0)
        return -1;
    if (i >= (int64_t)n || i < -(int64_t)n) {
        *wrong = arena_printf(r->p->a,
                              "Unable to access invalid index: %lld: invalid index "
                              "referenced",
                              (long long)i);
        return -1;
    }
    *out = (size_t)(i < 0 ? i + (int64_t)n : i);
    return 0;
}

/* What stands at a key: 0, with NULL for a member that is not there, or -1 for a bad index. */
static int get(struct run *r, struct target at, struct api__node **out, struct str *wrong) {
    assert(at.in);
    struct api__grown *g = api__node_grow(&r->doc, at.in);
    size_t i;
    *out = NULL;
    if (at.in->value.kind == JSON_OBJECT)
        *out = map_get(&g->members, at.key);
    else if (resolve_index(r, at.key, g->n, &i, wrong) < 0)
        return -1;
    else
        *out = api__item_at(g, i);
    return 0;
}

static struct target find(struct run *r, struct str path) {
    struct target at = {.in = &r->doc.root};
    struct str part, rest, wrong;
    if (!str_cut(path, '/', &part, &rest))
        return (struct target){0};
    while (str_cut(rest, '/', &part, &rest)) {
        struct api__node *next;
        at.key = decode_key(r->p->a, part);
        if (get(r, at, &next, &wrong) < 0 || !next || next->value.kind < JSON_ARRAY)
            return (struct target){0};
        at.in = next;
    }
    at.key = decode_key(r->p->a, part);
    return at;
}

static void put_member(struct run *r, struct target at, struct api__node node) {
    struct api__grown *g = api__node_grow(&r->doc, at.in);
    struct api__node *slot = map_get(&g->members, at.key);
    if (!slot) {
        slot = arena_new(r->p->a, struct api__node);
        map_put(&g->members, at.key, slot);
    }
    *slot = node;
}

static int add_at(struct run *r, struct target at, struct api__node node, struct str *wrong) {
    assert(at.in);
    struct api__grown *g = api__node_grow(&r->doc, at.in);
    size_t i = g->n;
    if (at.in->value.kind == JSON_OBJECT) {
        put_member(r, at, node);
        return 0;
    }
    int64_t unused;
    if (!str_is(at.key, "-") && parse_index(r, at.key, &unused, wrong) < 0) {
        *wrong = arena_printf(r->p->a, "value was not a proper array index: '%.*s': %.*s",
                              STR_ARG(at.key), STR_ARG(*wrong));
        return -1;
    }
    if (!str_is(at.key, "-") && resolve_index(r, at.key, g->n + 1, &i, wrong) < 0)
        return -1;
    api__item_insert(&r->doc, g, i, node);
    return 0;
}

static int remove_at(struct run *r, struct target at, struct str *wrong) {
    struct api__grown *g = api__node_grow(&r->doc, at.in);
    size_t i;
    if (at.in->value.kind == JSON_ARRAY) {
        if (resolve_index(r, at.key, g->n, &i, wrong) < 0)
            return -1;
        api__item_remove(g, i);
        return 0;
    }
    if (map_del(&g->members, at.key))
        return 0;
    *wrong = arena_printf(r->p->a, "Unable to remove nonexistent key: %.*s: missing value",
                          STR_ARG(at.key));
    return -1;
}

/* ---- operations ---- */

static struct api__node node_of(const struct op *op) {
    struct api__node node = {.value = op->value ? *op->value : (struct json){0}};
    if (op->value && op->value->kind == JSON_NULL)
        node.value.b = true;
    return node;
}

/* Why a path cannot be used; NULL if it can. */
static const char *bad_path(struct run *r, const struct json *given, const char *missing) {
    if (!given || given->kind == JSON_NULL)
        return missing;
    if (given->kind == JSON_STRING)
        return NULL;
    return arena_printf(r->p->a, "json: cannot unmarshal %s into Go value of type string",
                        api__json_name(given))
        .p;
}

#define NO_PATH "operation missing path field: missing value"
#define NO_FROM "operation, missing from field: missing value"

static int do_add(struct run *r, const struct op *op) {
    struct str wrong;
    if (bad_path(r, op->given_path, NO_PATH))
        return api__patch_reject(r->p, "add operation failed to decode path: missing value");
    struct target at = find(r, op->path);
    if (!at.in)
        return api__patch_reject(
            r->p, "add operation does not apply: doc is missing path: \"%.*s\": missing value",
            STR_ARG(op->path));
    if (add_at(r, at, node_of(op), &wrong) < 0)
        return api__patch_reject(r->p, "error in add for path: '%.*s': %.*s", STR_ARG(op->path),
                                 STR_ARG(wrong));
    return 0;
}

static int do_remove(struct run *r, const struct op *op) {
    struct str wrong;
    if (bad_path(r, op->given_path, NO_PATH))
        return api__patch_reject(r->p, "remove operation failed to decode path: missing value");
    struct target at = find(r, op->path);
    if (!at.in)
        return api__patch_reject(
            r->p, "remove operation does not apply: doc is missing path: \"%.*s\": missing value",
            STR_ARG(op->path));
    if (remove_at(r, at, &wrong) < 0)
        return api__patch_reject(r->p, "error in remove for path: '%.*s': %.*s", STR_ARG(op->path),
                                 STR_ARG(wrong));
    return 0;
}

static int replace_root(struct run *r, const struct op *op) {
    if (!op->value)
        return api__patch_panic(r->p);
    if (op->value->kind < JSON_ARRAY)
        return api__patch_reject(r->p,
                                 "replace operation value must be object or array: %%!w(<nil>)");
    r->doc.root = node_of(op);
    return 0;
}

static int do_replace(struct run *r, const struct op *op) {
    struct str wrong;
    struct api__node *old;
    const char *bad = bad_path(r, op->given_path, NO_PATH);
    if (bad)
        return api__patch_reject(r->p, "replace operation failed to decode path: %s", bad);
    if (!op->path.n)
        return replace_root(r, op);
    struct target at = find(r, op->path);
    if (!at.in)
        return api__patch_reject(
            r->p, "replace operation does not apply: doc is missing path: %.*s: missing value",
            STR_ARG(op->path));
    if (get(r, at, &old, &wrong) < 0)
        return api__patch_reject(
            r->p, "replace operation does not apply: doc is missing key: %.*s: missing value",
            STR_ARG(op->path));
    if (old)
        *old = node_of(op);
    else
        put_member(r, at, node_of(op));
    return 0;
}

/* What a move or copy is from; upstream's error names the key for the one and the path for the
 * other. */
static int find_source(struct run *r, const struct op *op, const char *verb, struct target *at) {
    const char *bad = bad_path(r, op->given_from, NO_FROM);
    if (bad)
        return api__patch_reject(r->p, "%s operation failed to decode from: %s", verb, bad);
    *at = find(r, op->from);
    if (!at->in)
        return api__patch_reject(
            r->p, "%s operation does not apply: doc is missing from path: %.*s: missing value",
            verb, STR_ARG(op->from));
    return 0;
}

static int find_destination(struct run *r, const struct op *op, const char *verb,
                            struct target *at) {
    *at = find(r, op->path);
    if (!at->in)
        return api__patch_reject(
            r->p,
            "%s operation does not apply: doc is missing destination path: %.*s: missing value",
            verb, STR_ARG(op->path));
    return 0;
}

static int do_move(struct run *r, const struct op *op) {
    struct str wrong;
    struct target at;
    struct api__node *node, moved = {0};
    if (find_source(r, op, "move", &at) < 0)
        return -1;
    if (get(r, at, &node, &wrong) < 0)
        return api__patch_reject(r->p, "error in move for path: '%.*s': %.*s", STR_ARG(at.key),
                                 STR_ARG(wrong));
    if (node)
        moved = *node;
    if (remove_at(r, at, &wrong) < 0)
        return api__patch_reject(r->p, "error in move for path: '%.*s': %.*s", STR_ARG(at.key),
                                 STR_ARG(wrong));
    const char *bad = bad_path(r, op->given_path, NO_PATH);
    if (bad)
        return api__patch_reject(r->p, "move operation failed to decode path: %s", bad);
    if (find_destination(r, op, "move", &at) < 0)
        return -1;
    if (add_at(r, at, moved, &wrong) < 0)
        return api__patch_reject(r->p, "error in move for path: '%.*s': %.*s", STR_ARG(op->path),
                                 STR_ARG(wrong));
    return 0;
}

static int test_failed(struct run *r, const struct op *op) {
    return api__patch_reject(r->p, "testing value %.*s failed: test failed", STR_ARG(op->path));
}

static int test_root(struct run *r, const struct op *op) {
    bool panics = !op->value, same = false;
    if (op->value)
        same = api__node_equals(&r->doc, &r->doc.root, op->value, &panics);
    return panics ? api__patch_panic(r->p) : same ? 0 : test_failed(r, op);
}

static int do_test(struct run *r, const struct op *op) {
    struct str wrong;
    struct api__node *node;
    bool panics = false, wants_null = !op->value || op->value->kind == JSON_NULL;
    const char *bad = bad_path(r, op->given_path, NO_PATH);
    if (bad)
        return api__patch_reject(r->p, "test operation failed to decode path: %s", bad);
    if (!op->path.n)
        return test_root(r, op);
    struct target at = find(r, op->path);
    if (!at.in)
        return api__patch_reject(
            r->p, "test operation does not apply: is missing path: %.*s: missing value",
            STR_ARG(op->path));
    if (get(r, at, &node, &wrong) < 0)
        return api__patch_reject(r->p, "error in test for path: '%.*s': %.*s", STR_ARG(op->path),
                                 STR_ARG(wrong));
    if (!node || (node->value.kind == JSON_NULL && !node->value.b))
        return wants_null ? 0 : test_failed(r, op);
    bool same = op->value && api__node_equals(&r->doc, node, op->value, &panics);
    return panics ? api__patch_panic(r->p) : same ? 0 : test_failed(r, op);
}

/* The bytes that a tree takes as Go writes it. */
static size_t size_of(const struct json *tree) {
    AUTO(buf_release) struct buf text = BUF_INIT(16 * LIMIT_OBJECT_BYTES);
    json_write(&text, tree, NULL);
    return text.n;
}

static int too_deep(struct run *r) {
    return api__patch_reject(r->p, "exceeded max depth");
}

static int do_copy(struct run *r, const struct op *op) {
    struct str wrong;
    struct target at;
    struct api__node *node, copy = {0};
    if (find_source(r, op, "copy", &at) < 0)
        return -1;
    if (get(r, at, &node, &wrong) < 0)
        return api__patch_reject(r->p, "error in copy for from: '%.*s': %.*s", STR_ARG(op->from),
                                 STR_ARG(wrong));
    if (bad_path(r, op->given_path, NO_PATH))
        return api__patch_reject(r->p, "copy operation failed to decode path: missing value");
    bool is_there = node && (node->value.kind != JSON_NULL || node->value.b);
    if (node && !api__node_tree(&r->doc, node, &copy.value))
        return too_deep(r);
    if (find_destination(r, op, "copy", &at) < 0)
        return -1;
    r->copied += is_there ? size_of(&copy.value) : 0;
    if (r->copied > LIMIT_PATCH_COPY_BYTES)
        return api__patch_reject(r->p,
                                 "Unable to complete the copy, the accumulated size increase of "
                                 "copy is %llu, exceeding the limit %u",
                                 (unsigned long long)r->copied, LIMIT_PATCH_COPY_BYTES);
    if (add_at(r, at, copy, &wrong) < 0)
        return api__patch_reject(r->p, "error while adding value during copy: %.*s",
                                 STR_ARG(wrong));
    return 0;
}

static const struct {
    const char *name;
    int (*fn)(struct run *r, const struct op *op);
} operations[] = {
    {"add", do_add},   {"remove", do_remove}, {"replace", do_replace},
    {"move", do_move}, {"test", do_test},     {"copy", do_copy},
};

/* ---- the patch ---- */

static struct str text_of(const struct json *v) {
    return v && v->kind == JSON_STRING ? json_str(v) : STR("unknown");
}

/* A path that is null counts as missing. */
static int run_op(struct run *r, const struct json *tree) {
    struct op op = {.value = json_get(tree, STR("value")),
                    .given_path = json_get(tree, STR("path")),
                    .given_from = json_get(tree, STR("from"))};
    struct str name = text_of(json_get(tree, STR("op")));
    op.path = text_of(op.given_path);
    op.from = text_of(op.given_from);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (str_is(name, operations[i].name))
            return operations[i].fn(r, &op);
    return api__patch_reject(r->p, "Unexpected kind: %.*s", STR_ARG(name));
}

/* The types of upstream's that the patch is decoded into. */
struct target_types {
    const char *before, *patch, *op;
};

static int wrong_type(struct api__patching *p, const struct target_types *types,
                      const struct json *v, const char *type) {
    return api__patch_fail(p, ERR_INVALID, "%sjson: cannot unmarshal %s into Go value of type %s",
                           types->before, api__json_name(v), type);
}

/* What upstream's strict reader wants of an operation: texts. */
static int check_members(struct api__patching *p, const struct json *op) {
    for (uint32_t i = 0; i < op->n; i++) {
        const struct json_member *m = &op->members[i];
        bool is_text = str_is(m->key, "op") || str_is(m->key, "path") || str_is(m->key, "from");
        if (is_text && m->value.kind != JSON_STRING && m->value.kind != JSON_NULL)
            return api__patch_fail(p, ERR_INVALID,
                                   "error decoding patch: json: cannot unmarshal %s into Go struct "
                                   "field jsonPatchOp.%.*s of type string",
                                   api__json_name(&m->value), STR_ARG(m->key));
    }
    return 0;
}

static int check_types(struct api__patching *p, const struct json *patch,
                       const struct target_types *types, bool strict) {
    if (patch->kind == JSON_NULL)
        return 0;
    if (patch->kind != JSON_ARRAY)
        return wrong_type(p, types, patch, types->patch);
    for (uint32_t i = 0; i < patch->n; i++) {
        const struct json *op = &patch->items[i];
        if (op->kind != JSON_OBJECT && op->kind != JSON_NULL)
            return wrong_type(p, types, op, types->op);
        if (strict && op->kind == JSON_OBJECT && check_members(p, op) < 0)
            return -1;
    }
    return 0;
}

static int check_patch(struct api__patching *p, const struct api_patch_body *patch) {
    static const struct target_types strict = {"error decoding patch: ", "[]handlers.jsonPatchOp",
                                               "handlers.jsonPatchOp"},
                                     plain = {"", "jsonpatch.Patch", "jsonpatch.Operation"};
    bool is_validated = patch->faults != NULL;
    if (check_types(p, patch->tree, is_validated ? &strict : &plain, is_validated) < 0)
        return -1;
    if (patch->tree->kind == JSON_ARRAY && patch->tree->n > LIMIT_PATCH_OPERATIONS)
        return api__patch_fail(p, ERR_TOO_LARGE,
                               "Request entity too large: The allowed maximum operations in a JSON "
                               "patch is %d, got %u",
                               LIMIT_PATCH_OPERATIONS, patch->tree->n);
    return 0;
}

static int run_patch(struct run *r, const struct json *patch, struct json *out) {
    for (uint32_t i = 0; patch->kind == JSON_ARRAY && i < patch->n; i++)
        if (run_op(r, &patch->items[i]) < 0)
            return -1;
    return api__node_tree(&r->doc, &r->doc.root, out) ? 0 : too_deep(r);
}

struct api_patch_failure api_patch_json(struct arena *a, const struct json *stored,
                                        const struct api_patch_body *patch,
                                        struct api_patched *out) {
    struct api__patching p = api__patch_start(a);
    *out = (struct api_patched){0};
    if (check_patch(&p, patch) < 0)
        return p.failure;
    struct json own = api__patch_own(&p, patch, true);
    struct run r = {.p = &p, .doc = {.p = &p, .root = {.value = *stored}}};
    run_patch(&r, &own, &out->tree);
    api__doc_release(&r.doc);
    return p.failure;
}
