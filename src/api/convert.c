/*
 * What the API server reads from annotations while it converts an object to the form it works with:
 * fields of versions that are no longer served. An object whose annotation is no number is not
 * read.
 *
 * Follows k8s.io/kubernetes pkg/apis/apps/v1, func Convert_v1_Deployment_To_apps_Deployment,
 * func Convert_v1_DaemonSet_To_apps_DaemonSet.
 */
#include "api/object_int.h"
#include "base/goquote.h"
#include "base/limits.h"

enum { LONGEST_PATH = 256 };

static const struct numeric_annotation {
    enum api_type_id type;
    const char *key;
    bool may_be_empty;
    bool is_named; /* the text says which annotation it is */
} numeric_annotations[] = {
    {API_T_deployment, "deprecated.deployment.rollback.to", true, true},
    {API_T_daemon_set, "deprecated.daemonset.template.generation", false, false},
};

static int refuse(const struct numeric_annotation *n, struct str value, struct api_faults *faults) {
    AUTO(buf_release) struct buf text = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    AUTO(buf_release) struct buf path = BUF_INIT(LONGEST_PATH);
    if (n->is_named)
        buf_addf(&text, "failed to parse annotation[%s]=%.*s as int64: ", n->key, STR_ARG(value));
    buf_add(&text, STR("strconv.ParseInt: parsing "));
    goquote_write(&text, value);
    buf_addf(&text, ": %s", labels_value_fault(value));
    buf_addf(&path, "metadata.annotations[%s]", n->key);
    api__fault_add(faults, API_FAULT_VALUE, buf_view(&path), buf_view(&text));
    return -1;
}

static int check(const struct numeric_annotation *n, struct str value, struct api_faults *faults) {
    int64_t number;
    if ((!value.n && n->may_be_empty) || labels_value_to_i64(value, &number))
        return 0;
    return refuse(n, value, faults);
}

int api__check_conversion(const struct api_object *o, struct api_faults *faults) {
    for (size_t i = 0; i < sizeof numeric_annotations / sizeof *numeric_annotations; i++) {
        const struct numeric_annotation *n = &numeric_annotations[i];
        if (o->type != &api_types[n->type])
            continue;
        const struct label *a = labels_find(&o->meta->annotations, str_of(n->key));
        if (a && check(n, a->value, faults) < 0)
            return -1;
    }
    return 0;
}
