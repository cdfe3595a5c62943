/*
 * NodePools as they are written: strictly, with the words of an API server about what is wrong.
 *
 * Follows k8s.io/apimachinery pkg/runtime, func NewStrictDecodingError.
 */
#include <inttypes.h>

#include "base/limits.h"
#include "codec/json.h"
#include "nodes/kubelets_int.h"
#include "nodes/pool.h"

#define SUBJECT "NodePool in version \"v1alpha1\" cannot be handled as a NodePool: "

/* A pool that is being read. */
struct reader {
    struct arena *a;
    struct nodes_pool *pool;
    struct str name;
    struct buf unknown; /* fields, and those that stand twice, with commas between them */
    struct err *err;
    struct nodes_variation *variation; /* that is being read */
    const struct json *taints;         /* of the template; NULL: there are none */
};

struct field {
    const char *name;
    int (*read)(struct reader *r, struct str path, const struct json *value);
};

/* ---- what is wrong ---- */

static const char *kind_of(const struct json *v) {
    switch ((enum json_kind)v->kind) {
    case JSON_OBJECT:
        return "object";
    case JSON_ARRAY:
        return "array";
    case JSON_STRING:
        return "string";
    case JSON_BOOL:
        return "bool";
    case JSON_NULL:
        return "null";
    default:
        return "number";
    }
}

static int fail_type(struct reader *r, struct str path, const struct json *value,
                     const char *type) {
    return err_set(r->err, ERR_INVALID,
                   SUBJECT
                   "json: cannot unmarshal %s into Go struct field NodePool.%.*s of type %s",
                   kind_of(value), STR_ARG(path), type);
}

static int fail_value(struct reader *r, struct str path, const char *why) {
    return err_set(r->err, ERR_INVALID, "NodePool.berth.dev \"%.*s\" is invalid: %.*s: %s",
                   STR_ARG(r->name), STR_ARG(path), why);
}

static void note(struct reader *r, const char *what, struct str path) {
    buf_addf(&r->unknown, "%s%s field \"%.*s\"", r->unknown.n ? ", " : "", what, STR_ARG(path));
}

/* ---- parts ---- */

static struct str below(struct reader *r, struct str path, struct str name) {
    return arena_printf(r->a, "%.*s%s%.*s", STR_ARG(path), path.n ? "." : "", STR_ARG(name));
}

static int read_members(struct reader *r, struct str path, const struct json *tree,
                        const struct field *fields) {
    uint32_t seen = 0; /* a bit for each field */
    if (tree->kind != JSON_OBJECT)
        return fail_type(r, path, tree, "object");
    for (uint32_t i = 0; i < tree->n; i++) {
        const struct json_member *m = &tree->members[i];
        const struct field *f = fields;
        struct str inner = below(r, path, m->key);
        while (f->name && !str_is(m->key, f->name))
            f++;
        uint32_t bit = UINT32_C(1) << (f - fields);
        if (!f->name || seen & bit) {
            note(r, f->name ? "duplicate" : "unknown", inner);
            continue;
        }
        seen |= bit;
        if (m->value.kind != JSON_NULL && f->read && f->read(r, inner, &m->value) < 0)
            return -1;
    }
    return 0;
}

static int read_text(struct reader *r, struct str path, const struct json *value, struct str *out) {
    if (value->kind != JSON_STRING)
        return fail_type(r, path, value, "string");
    *out = arena_str(r->a, json_str(value));
    return 0;
}

static int read_whole(struct reader *r, struct str path, const struct json *value, int64_t most,
                      int64_t *out) {
    if (value->kind != JSON_INT)
        return fail_type(r, path, value, "int32");
    *out = value->i;
    if (*out >= 0 && *out <= most)
        return 0;
    return fail_value(r, path,
                      arena_printf(r->a,
                                   "Invalid value: %" PRId64 ": must be between 0 and %" PRId64
                                   ", inclusive",
                                   *out, most)
                          .p);
}

static int read_texts(struct reader *r, struct str path, const struct json *value,
                      struct api_strs *out) {
    if (value->kind != JSON_ARRAY)
        return fail_type(r, path, value, "[]string");
    if (!value->n || value->n > LIMIT_NODE_POOL_VALUES)
        return fail_value(r, path,
                          arena_printf(r->a, "Invalid value: must have between 1 and %d items",
                                       LIMIT_NODE_POOL_VALUES)
                              .p);
    *out = (struct api_strs){arena_array(r->a, struct str, value->n), value->n};
    for (uint32_t i = 0; i < value->n; i++)
        if (read_text(r, arena_printf(r->a, "%.*s[%u]", STR_ARG(path), i), &value->items[i],
                      &out->v[i]) < 0)
            return -1;
    return 0;
}

/* ---- what varies ---- */

static int choose(struct reader *r, struct str path, const struct json *value,
                  enum nodes_vary what) {
    if (r->variation->key.n)
        return fail_value(r, path, "Forbidden: only one of label, annotation, taint and nodeInfo");
    r->variation->what = what;
    return read_text(r, path, value, &r->variation->key);
}

static int vary_label(struct reader *r, struct str path, const struct json *value) {
    return choose(r, path, value, NODES_VARY_LABEL);
}

static int vary_annotation(struct reader *r, struct str path, const struct json *value) {
    return choose(r, path, value, NODES_VARY_ANNOTATION);
}

static const struct json *member(const struct json *tree, const char *key) {
    return tree && tree->kind == JSON_OBJECT ? json_get(tree, str_of(key)) : NULL;
}

static bool says(const struct json *tree, const char *key, struct str text) {
    const struct json *v = member(tree, key);
    return v && v->kind == JSON_STRING && str_eq(json_str(v), text);
}

static bool has_taint(const struct json *taints, struct str key) {
    for (uint32_t i = 0; taints && taints->kind == JSON_ARRAY && i < taints->n; i++)
        if (says(&taints->items[i], "key", key))
            return true;
    return false;
}

/* The template says what its effect is. */
static int vary_taint(struct reader *r, struct str path, const struct json *value) {
    if (choose(r, path, value, NODES_VARY_TAINT) < 0)
        return -1;
    if (has_taint(r->taints, r->variation->key))
        return 0;
    return fail_value(r, path,
                      arena_printf(r->a,
                                   "Invalid value: \"%.*s\": no taint in "
                                   "spec.template.spec.taints has this key; add one there, with "
                                   "its effect",
                                   STR_ARG(r->variation->key))
                          .p);
}

static int vary_info(struct reader *r, struct str path, const struct json *value) {
    if (choose(r, path, value, NODES_VARY_NODE_INFO) < 0)
        return -1;
    if (nodes__has_info(r->variation->key))
        return 0;
    return fail_value(r, path,
                      arena_printf(r->a,
                                   "Unsupported value: \"%.*s\": supported values: "
                                   "\"containerRuntimeVersion\", \"kernelVersion\", "
                                   "\"kubeletVersion\", \"osImage\"",
                                   STR_ARG(r->variation->key))
                          .p);
}

static int vary_values(struct reader *r, struct str path, const struct json *value) {
    return read_texts(r, path, value, &r->variation->values);
}

static int vary_random(struct reader *r, struct str path, const struct json *value) {
    if (value->kind != JSON_BOOL)
        return fail_type(r, path, value, "bool");
    r->variation->is_random = value->b;
    return 0;
}

static const struct field vary_fields[] = {
    {"label", vary_label},
    {"annotation", vary_annotation},
    {"taint", vary_taint},
    {"nodeInfo", vary_info},
    {"values", vary_values},
    {"random", vary_random},
    {0},
};

static struct nodes_variation *add_variation(struct reader *r) {
    return &r->pool->variations[r->pool->variation_count++];
}

static int read_vary(struct reader *r, struct str path, const struct json *value) {
    if (value->kind != JSON_ARRAY)
        return fail_type(r, path, value, "[]object");
    if (value->n > LIMIT_NODE_POOL_VARIATIONS)
        return fail_value(r, path,
                          arena_printf(r->a, "Too many: %u: must have at most %d items", value->n,
                                       LIMIT_NODE_POOL_VARIATIONS)
                              .p);
    for (uint32_t i = 0; i < value->n; i++) {
        struct str inner = arena_printf(r->a, "%.*s[%u]", STR_ARG(path), i);
        r->variation = add_variation(r);
        if (read_members(r, inner, &value->items[i], vary_fields) < 0)
            return -1;
        if (!r->variation->key.n)
            return fail_value(r, inner,
                              "Required value: one of label, annotation, taint and nodeInfo");
        if (!r->variation->values.n)
            return fail_value(r, below(r, inner, STR("values")), "Required value");
    }
    return 0;
}

static int read_zones(struct reader *r, struct str path, const struct json *value) {
    struct nodes_variation *v = add_variation(r);
    *v = (struct nodes_variation){.what = NODES_VARY_LABEL,
                                  .key = STR("topology.kubernetes.io/zone")};
    return read_texts(r, path, value, &v->values);
}

/* ---- faults ---- */

static int add_fault(struct reader *r, struct str path, const struct json *value,
                     const char *fault) {
    struct nodes_fault_rate *rate = &r->pool->faults[r->pool->fault_count++];
    rate->fault = str_of(fault);
    return read_whole(r, path, value, 100, &rate->percent);
}

static int read_stopped(struct reader *r, struct str path, const struct json *value) {
    return add_fault(r, path, value, "stopped");
}

static int read_crashed(struct reader *r, struct str path, const struct json *value) {
    return add_fault(r, path, value, "crashed");
}

static int read_partitioned(struct reader *r, struct str path, const struct json *value) {
    return add_fault(r, path, value, "partitioned");
}

static int read_slow(struct reader *r, struct str path, const struct json *value) {
    return add_fault(r, path, value, "slow");
}

static const struct field fault_fields[] = {
    {"stopped", read_stopped},
    {"crashed", read_crashed},
    {"partitioned", read_partitioned},
    {"slow", read_slow},
    {0},
};
enum { FAULTS = sizeof fault_fields / sizeof *fault_fields };

static int read_faults(struct reader *r, struct str path, const struct json *value) {
    int64_t sum = 0;
    if (read_members(r, path, value, fault_fields) < 0)
        return -1;
    for (size_t i = 0; i < r->pool->fault_count; i++)
        sum += r->pool->faults[i].percent;
    return sum > 100 ? fail_value(r, path, "Invalid value: more than 100 of a hundred nodes") : 0;
}

/* ---- the rest of it ---- */

static int read_count(struct reader *r, struct str path, const struct json *value) {
    int64_t count = 0;
    if (read_whole(r, path, value, LIMIT_SIMULATED_NODES, &count) < 0)
        return -1;
    r->pool->count = (size_t)count;
    return 0;
}

static int read_prefix(struct reader *r, struct str path, const struct json *value) {
    return read_text(r, path, value, &r->pool->prefix);
}

static int read_seed(struct reader *r, struct str path, const struct json *value) {
    int64_t seed = 0;
    if (read_whole(r, path, value, INT64_MAX, &seed) < 0)
        return -1;
    r->pool->seed = (uint64_t)seed;
    return 0;
}

/* The template is a Node without names; faults in it are told with their whole path. */
static int read_template(struct reader *r, struct str path, const struct json *value) {
    struct api_faults faults;
    struct api_node *node = arena_new(r->a, struct api_node);
    if (value->kind != JSON_OBJECT)
        return fail_type(r, path, value, "object");
    api_faults_init(&faults, r->a);
    int rc = api_struct_decode(r->a, &api_types[API_T_node], value, node, &faults);
    for (size_t i = 0; i < faults.n; i++) {
        const struct api_fault *f = &faults.v[i];
        if (rc < 0 && f->kind == API_FAULT_VALUE)
            return err_set(r->err, ERR_INVALID, SUBJECT "%.*s: %.*s", STR_ARG(path),
                           STR_ARG(f->text));
        if (f->kind != API_FAULT_VALUE)
            note(r, f->kind == API_FAULT_UNKNOWN ? "unknown" : "duplicate",
                 below(r, path, f->path));
    }
    r->pool->model = node;
    return rc;
}

static const struct field spec_fields[] = {
    {"count", read_count},   {"prefix", read_prefix},
    {"seed", read_seed},     {"template", read_template},
    {"zones", read_zones},   {"vary", read_vary},
    {"faults", read_faults}, {0},
};

static int read_name(struct reader *r, struct str path, const struct json *value) {
    return read_text(r, path, value, &r->name);
}

static int read_metadata(struct reader *r, struct str path, const struct json *value) {
    static const struct field fields[] = {
        {"name", read_name}, {"labels", NULL}, {"annotations", NULL}, {0}};
    return read_members(r, path, value, fields);
}

static int read_spec(struct reader *r, struct str path, const struct json *value) {
    return read_members(r, path, value, spec_fields);
}

bool nodes_pool_is(const struct json *tree) {
    return says(tree, "apiVersion", STR("berth.dev/v1alpha1")) &&
           says(tree, "kind", STR("NodePool"));
}

static int read_pool(struct reader *r, const struct json *tree) {
    static const struct field fields[] = {{"apiVersion", NULL},
                                          {"kind", NULL},
                                          {"metadata", read_metadata},
                                          {"spec", read_spec},
                                          {0}};
    const struct json *metadata = json_get(tree, STR("metadata"));
    if (metadata && read_metadata(r, STR("metadata"), metadata) < 0)
        return -1;
    buf_clear(&r->unknown);
    if (read_members(r, STR(""), tree, fields) < 0)
        return -1;
    if (r->unknown.n)
        return err_set(r->err, ERR_INVALID, SUBJECT "strict decoding error: %.*s",
                       STR_ARG(buf_view(&r->unknown)));
    if (!r->name.n)
        return fail_value(r, STR("metadata.name"), "Required value");
    if (!r->pool->prefix.n)
        r->pool->prefix = arena_printf(r->a, "%.*s-", STR_ARG(r->name));
    return 0;
}

int nodes_pool_read(struct arena *a, const struct json *tree, struct nodes_pool *out,
                    struct err *err) {
    const struct json *template = member(member(tree, "spec"), "template");
    struct reader r = {.a = a,
                       .pool = out,
                       .err = err,
                       .unknown = BUF_INIT(LIMIT_FIELD_ERROR_BYTES),
                       .taints = member(member(template, "spec"), "taints")};
    *out = (struct nodes_pool){.count = 1};
    out->variations = arena_array(a, struct nodes_variation, LIMIT_NODE_POOL_VARIATIONS + 1);
    out->faults = arena_array(a, struct nodes_fault_rate, FAULTS);
    int rc = read_pool(&r, tree);
    buf_release(&r.unknown);
    return rc;
}

/* ---- pools beside each other ---- */

int nodes_pools_check(const struct nodes_pool *pools, size_t n, struct err *err) {
    size_t nodes = 0;
    if (n > LIMIT_NODE_POOLS)
        return err_set(err, ERR_USAGE, "there may be at most %d pools of nodes", LIMIT_NODE_POOLS);
    for (size_t i = 0; i < n; i++) {
        nodes += pools[i].count;
        for (size_t k = 0; k < i; k++)
            if (str_eq(pools[i].prefix, pools[k].prefix))
                return err_set(err, ERR_USAGE, "two pools make nodes called %.*s0",
                               STR_ARG(pools[i].prefix));
    }
    if (nodes > LIMIT_SIMULATED_NODES)
        return err_set(err, ERR_USAGE, "%zu nodes are more than %d", nodes, LIMIT_SIMULATED_NODES);
    return 0;
}
