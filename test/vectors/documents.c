/*
 * What a server says about itself, as files that are named like those of api/discovery and
 * api/openapi-spec in Kubernetes' repository, for whoever holds them against each other.
 */
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "codec/json.h"
#include "openapi/openapi.h"
#include "vectors.h"

/* Slashes of a name are two underscores each. */
static struct str file_name(struct arena *a, const char *dir, struct str name, const char *ending) {
    AUTO(buf_release) struct buf path = BUF_INIT(4096);
    buf_addf(&path, "%s/", dir);
    for (size_t i = 0; i < name.n; i++)
        buf_add(&path, name.p[i] == '/' ? STR("__") : str_sub(name, i, i + 1));
    buf_add(&path, str_of(ending));
    return arena_str(a, buf_view(&path));
}

static int write_file(struct str path, struct str body) {
    FILE *f = fopen(path.p, "we");
    if (!f || fwrite(body.p, 1, body.n, f) != body.n) {
        perror(path.p);
        if (f)
            fclose(f);
        return -1;
    }
    return fclose(f);
}

static int write_version(struct arena *a, struct openapi *o, const char *dir, struct str name) {
    struct str path = arena_printf(a, "/%.*s", STR_ARG(name));
    const struct openapi_document *discovery = openapi_discovery(o, path);
    if (discovery->body.n && write_file(file_name(a, dir, name, ".json"), discovery->body) < 0)
        return -1;
    return write_file(file_name(a, dir, name, "_openapi.json"), openapi_v3(o, name)->body);
}

int vectors_write_documents(const char *dir) {
    AUTO(arena_release) struct arena a = {0};
    const struct openapi_opts opts = {.all_versions = true, .address = "10.10.10.10:8050"};
    struct openapi *o = openapi_new(&opts);
    struct json index;
    int rc = json_parse(&a, openapi_v3_index(o)->body, NULL, &index, NULL);
    const struct json *names = rc < 0 ? NULL : json_get(&index, STR("paths"));
    for (uint32_t i = 0; names && rc == 0 && i < names->n; i++)
        rc = write_version(&a, o, dir, names->members[i].key);
    if (rc == 0)
        rc = write_file(file_name(&a, dir, STR("aggregated_v2.json"), ""),
                        openapi_aggregated(o, STR("/apis"))->body);
    if (rc == 0)
        rc = write_file(file_name(&a, dir, STR("swagger.json"), ""), openapi_v2(o)->body);
    if (rc == 0)
        rc = write_file(file_name(&a, dir, STR("swagger.pb"), ""), openapi_v2_proto(o)->body);
    openapi_free(o);
    return rc;
}
