/*
 * Columns of paths.
 *
 * Follows k8s.io/kubectl pkg/cmd/get, func NewCustomColumnsPrinterFromSpec,
 * func RelaxedJSONPathExpression, func (*CustomColumnsPrinter) printOneObject.
 */
#include "cmd/report/columns.h"

enum { LONGEST_CELL = 1 << 20 };

/* ---- the specification ---- */

/* {.a.b}, {a.b}, .a.b and a.b all are {.a.b}. */
static int relax(struct arena *a, struct str text, struct str *out, struct err *err) {
    struct str path = text;
    if (str_starts(path, STR("{")) && str_ends(path, STR("}")))
        path = str_sub(path, 1, path.n - 1);
    if (str_starts(path, STR(".")))
        path = str_sub(path, 1, path.n);
    if (!path.n || str_find_char(path, '{') != STR_NONE || str_find_char(path, '}') != STR_NONE)
        return err_set(err, ERR_USAGE,
                       "unexpected path string, expected a 'name1.name2' or '.name1.name2' or "
                       "'{name1.name2}' or '{.name1.name2}'");
    *out = arena_printf(a, "{.%.*s}", STR_ARG(path));
    return 0;
}

static int parse_column(struct arena *a, struct str part, struct columns *out, struct err *err) {
    struct str path;
    if (!str_cut(part, ':', &out->heads[out->n], &path))
        return err_set(err, ERR_USAGE,
                       "unexpected custom-columns spec: %.*s, expected <header>:<json-path-expr>",
                       STR_ARG(part));
    if (relax(a, path, &path, err) < 0)
        return -1;
    if (jsonpath_parse(a, path, &out->paths[out->n++], err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "error parsing jsonpath %.*s", STR_ARG(path));
    }
    return 0;
}

int columns_parse(struct arena *a, struct str spec, struct columns *out, struct err *err) {
    *out = (struct columns){0};
    if (!spec.n)
        return err_set(err, ERR_USAGE,
                       "custom-columns format specified but no custom columns given");
    for (bool more = true; more;) {
        struct str part;
        more = str_cut(spec, ',', &part, &spec);
        if (out->n == TABLE_MOST_COLUMNS)
            return err_set(err, ERR_USAGE, "more than %d custom columns", TABLE_MOST_COLUMNS);
        if (parse_column(a, part, out, err) < 0)
            return -1;
    }
    return 0;
}

/* ---- cells ---- */

static void write_go(struct buf *out, const struct json *v);

static int compare_members(const void *x, const void *y) {
    const struct json_member *const *a = x, *const *b = y;
    return str_cmp((*a)->key, (*b)->key);
}

static void write_go_map(struct buf *out, const struct json *v) {
    AUTO(arena_release) struct arena a = {0};
    const struct json_member **sorted = arena_array(&a, const struct json_member *, v->n + 1);
    for (uint32_t i = 0; i < v->n; i++)
        sorted[i] = &v->members[i];
    qsort(sorted, v->n, sizeof *sorted, compare_members);
    buf_add(out, STR("map["));
    for (uint32_t i = 0; i < v->n; i++) {
        buf_addf(out, "%s%.*s:", i ? " " : "", STR_ARG(sorted[i]->key));
        write_go(out, &sorted[i]->value);
    }
    buf_add_char(out, ']');
}

/* A value as Go's fmt.Sprint shows it. Trees are as deep as LIMIT_JSON_DEPTH. */
static void write_go(struct buf *out, const struct json *v) {
    if (v->kind == JSON_NULL) {
        buf_add(out, STR("<nil>"));
    } else if (v->kind == JSON_STRING) {
        buf_add(out, json_str(v));
    } else if (v->kind == JSON_OBJECT) {
        write_go_map(out, v);
    } else if (v->kind == JSON_ARRAY) {
        for (uint32_t i = 0; i < v->n; i++) {
            buf_add_char(out, i ? ' ' : '[');
            write_go(out, &v->items[i]);
        }
        buf_add(out, v->n ? STR("]") : STR("[]"));
    } else {
        json_write(out, v, NULL);
    }
}

int columns_fill(const struct columns *columns, const struct json *object, struct arena *a,
                 struct str *cells, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_CELL);
    for (size_t i = 0; i < columns->n; i++) {
        struct jsonpath_found found;
        if (jsonpath_find(columns->paths[i], object, a, &found, err) < 0)
            return err_wrap(err, "%.*s", STR_ARG(columns->heads[i]));
        buf_clear(&text);
        for (size_t k = 0; k < found.n; k++) {
            buf_add(&text, k ? STR(",") : STR(""));
            write_go(&text, found.v[k]);
        }
        cells[i] = found.n ? arena_str(a, buf_view(&text)) : STR("<none>");
    }
    return 0;
}
