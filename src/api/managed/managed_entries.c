/*
 * The entries of metadata.managedFields: who manages what.
 *
 * Follows k8s.io/apimachinery pkg/util/managedfields/internal, func DecodeManagedFields,
 * func BuildManagerIdentifier, func encodeManagedFields, func sortEncodedManagedFields,
 * func (*capManagersManager) capUpdateManagers.
 */
#include <stdlib.h>

#include "api/managed/managed_int.h"
#include "base/goquote.h"
#include "base/limits.h"

/* Managers that only update, beside those that apply. */
enum { MOST_UPDATERS = 10 };

struct api__managers api__managers_init(struct arena *a) {
    return (struct api__managers){.a = a, .by_id = MAP_INIT(map_random_seed())};
}

void api__managers_release(struct api__managers *m) {
    vec_release(&m->list);
    map_release(&m->by_id);
}

/* ---- identities ---- */

static void add_member(struct buf *out, const char *name, struct str value) {
    if (!value.n)
        return;
    buf_addf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    json_write_str(out, value, false);
}

static struct str make_id(struct arena *a, const struct api__manager *m) {
    AUTO(buf_release) struct buf text = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    buf_add_char(&text, '{');
    add_member(&text, "manager", m->name);
    add_member(&text, "operation", m->applies ? STR("Apply") : STR("Update"));
    if (!m->applies)
        add_member(&text, "apiVersion", m->api_version);
    add_member(&text, "subresource", m->subresource);
    buf_add_char(&text, '}');
    return arena_str(a, buf_view(&text));
}

struct api__manager api__manager_make(struct arena *a, struct str name, bool applies,
                                      struct str api_version, struct str subresource) {
    struct api__manager m = {
        .name = name, .api_version = api_version, .subresource = subresource, .applies = applies};
    m.id = make_id(a, &m);
    return m;
}

struct api__manager *api__managers_find(const struct api__managers *m, struct str id) {
    return map_get(&m->by_id, id);
}

struct api__manager *api__managers_put(struct api__managers *m,
                                       const struct api__manager *manager) {
    struct api__manager *found = api__managers_find(m, manager->id);
    if (found)
        return found;
    found = arena_copy(m->a, manager, sizeof *manager);
    vec_push(&m->list, found);
    map_put(&m->by_id, found->id, found);
    return found;
}

/* ---- reading ---- */

static int refuse(struct arena *a, struct str *wrong, size_t i, struct str type) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_PATCH_ERROR_BYTES);
    if (type.n) {
        buf_add(&text, STR("invalid fieldsType "));
        goquote_write(&text, type);
    } else
        buf_add(&text, STR("missing fieldsType"));
    buf_addf(&text, " in managed fields entry %zu", i);
    *wrong = arena_str(a, buf_view(&text));
    return -1;
}

static int check_entry(struct arena *a, const struct api_managed_fields_entry *e, size_t i,
                       struct str *wrong) {
    bool is_known = str_is(e->operation, "Apply") || str_is(e->operation, "Update");
    *wrong = !is_known ? STR("operation must be `Apply` or `Update`")
                       : STR("apiVersion must not be empty");
    if (!is_known || !e->api_version.n)
        return -1;
    return str_is(e->fields_type, "FieldsV1") ? 0 : refuse(a, wrong, i, e->fields_type);
}

static struct api__manager *put_entry(struct api__managers *m,
                                      const struct api_managed_fields_entry *e) {
    struct api__manager made = api__manager_make(m->a, e->manager, str_is(e->operation, "Apply"),
                                                 e->api_version, e->subresource);
    struct api__manager *manager = api__managers_put(m, &made);
    manager->api_version = e->api_version;
    manager->time = e->time;
    return manager;
}

static int read_entry(struct api__managers *m, const struct api_managed_fields_entry *e, size_t i,
                      struct str *wrong) {
    static const struct json nothing = {.kind = JSON_OBJECT};
    const struct json *fields = e->fields_v1.kind == JSON_NULL ? &nothing : &e->fields_v1;
    if (check_entry(m->a, e, i, wrong) < 0)
        return -1;
    if (api__set_read(m->a, fields, &put_entry(m, e)->fields))
        return 0;
    *wrong = arena_printf(m->a, "error decoding set of managed fields entry %zu", i);
    return -1;
}

int api__managers_read(struct api__managers *m, const struct api_managed_fields_entry_list *list,
                       struct str *wrong) {
    for (size_t i = 0; i < list->n; i++)
        if (read_entry(m, &list->v[i], i, wrong) < 0)
            return -1;
    return 0;
}

void api__managers_take(struct api__managers *m, const struct api_managed_fields_entry_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].fields_v1.kind == JSON_OBJECT && list->v[i].fields_v1.n)
            put_entry(m, &list->v[i])->unread = &list->v[i].fields_v1;
}

void api__manager_read(struct api__managers *m, struct api__manager *manager) {
    const struct json *fields = manager->unread;
    manager->unread = NULL;
    if (fields && !api__set_read(m->a, fields, &manager->fields))
        manager->fields = NULL;
}

/* ---- too many ---- */

static int by_age(const void *a, const void *b) {
    const struct api__manager *x = a, *y = b;
    int64_t s = x->time.set ? x->time.sec : 0, t = y->time.set ? y->time.sec : 0;
    return s != t ? (s > t) - (s < t) : str_cmp(x->id, y->id);
}

/* The updaters that have fields, oldest first; they are copies. */
static struct api__manager *sort_updaters(const struct api__managers *m, size_t *count) {
    struct api__manager *v = arena_array(m->a, struct api__manager, m->list.n);
    size_t n = 0;
    for (size_t i = 0; i < m->list.n; i++)
        if (!m->list.v[i]->applies && m->list.v[i]->fields)
            v[n++] = *m->list.v[i];
    qsort(v, n, sizeof *v, by_age);
    *count = n;
    return v;
}

/* The old updaters of one version, which become one manager. */
struct bucket {
    const struct api__manager *first;
    struct api__manager *manager; /* NULL, until there is a second one */
    struct api__unions fields;    /* that the manager will have */
    bool is_open;                 /* there are such fields */
};

typedef VEC(struct bucket *) bucket_list;

static void add_bucket(struct api__managers *m, bucket_list *buckets, struct map *by_name,
                       const struct api__manager *first) {
    struct bucket *b = arena_new(m->a, struct bucket);
    b->first = first;
    b->fields.last_wins = true;
    vec_push(buckets, b);
    map_put(by_name, first->api_version, b);
}

/* To a bucket that has no fields yet, or none any more, the first of its version moves. */
static void open_bucket(struct api__managers *m, struct bucket *b) {
    if (!b->manager) {
        struct api__manager made = api__manager_make(m->a, STR("ancient-changes"), false,
                                                     b->first->api_version, (struct str){0});
        b->manager = api__managers_put(m, &made);
    }
    if (!b->manager->fields) {
        b->manager->fields = b->first->fields;
        api__managers_find(m, b->first->id)->fields = NULL;
    }
    api__unions_add(m->a, &b->fields, b->manager->fields);
    b->is_open = true;
}

/* An updater that is the bucket itself takes along what is in it. */
static void put_into_bucket(struct api__managers *m, struct bucket *b,
                            const struct api__manager *old) {
    struct api__manager *gone = api__managers_find(m, old->id);
    if (!b->is_open)
        open_bucket(m, b);
    api__unions_add(m->a, &b->fields, old->fields);
    b->manager->time = old->time;
    gone->fields = NULL;
    if (gone == b->manager) {
        b->fields = (struct api__unions){.last_wins = true};
        b->is_open = false;
    }
}

/* Puts the oldest into the buckets of their versions. */
static void fill_buckets(struct api__managers *m, bucket_list *buckets) {
    size_t n;
    const struct api__manager *updaters = sort_updaters(m, &n);
    AUTO(map_release) struct map by_name = MAP_INIT(m->by_id.seed);
    size_t left = n;
    for (size_t i = 0; i < n && left > MOST_UPDATERS; i++) {
        struct bucket *b = map_get(&by_name, updaters[i].api_version);
        if (b) {
            put_into_bucket(m, b, &updaters[i]);
            left--;
        } else
            add_bucket(m, buckets, &by_name, &updaters[i]);
    }
}

void api__managers_cap(struct api__managers *m) {
    bucket_list buckets = {0};
    if (m->list.n <= MOST_UPDATERS)
        return;
    for (size_t i = 0; i < m->list.n; i++)
        api__manager_read(m, m->list.v[i]);
    fill_buckets(m, &buckets);
    for (size_t i = 0; i < buckets.n; i++)
        if (buckets.v[i]->is_open)
            buckets.v[i]->manager->fields = api__unions_end(m->a, &buckets.v[i]->fields);
    vec_release(&buckets);
}

/* ---- writing ---- */

/* Apply comes before Update, then the older one. */
static int by_order(const void *a, const void *b) {
    const struct api__manager *x = *(const struct api__manager *const *)a,
                              *y = *(const struct api__manager *const *)b;
    if (x->applies != y->applies)
        return x->applies ? -1 : 1;
    int64_t s = x->time.set ? x->time.sec : 0, t = y->time.set ? y->time.sec : 0;
    if (s != t)
        return s < t ? -1 : 1;
    int order = str_cmp(x->name, y->name);
    order = order ? order : str_cmp(x->api_version, y->api_version);
    return order ? order : str_cmp(x->subresource, y->subresource);
}

static struct api_managed_fields_entry encode(struct arena *a, const struct api__manager *m) {
    struct json fields = m->unread ? json_clone(a, m->unread) : api__set_write(a, m->fields);
    return (struct api_managed_fields_entry){.manager = arena_str(a, m->name),
                                             .operation = m->applies ? STR("Apply") : STR("Update"),
                                             .api_version = arena_str(a, m->api_version),
                                             .time = m->time,
                                             .fields_type = STR("FieldsV1"),
                                             .fields_v1 = fields,
                                             .subresource = arena_str(a, m->subresource)};
}

void api__managers_write(const struct api__managers *m, struct arena *a,
                         struct api_managed_fields_entry_list *out) {
    const struct api__manager **order = arena_array(m->a, const struct api__manager *, m->list.n);
    size_t n = 0;
    for (size_t i = 0; i < m->list.n; i++)
        if (m->list.v[i]->fields || m->list.v[i]->unread)
            order[n++] = m->list.v[i];
    qsort(order, n, sizeof *order, by_order);
    *out = (struct api_managed_fields_entry_list){0};
    if (n)
        out->v = arena_array(a, struct api_managed_fields_entry, n);
    for (; out->n < n; out->n++)
        out->v[out->n] = encode(a, order[out->n]);
}
