/*
 * What the API server reads from annotations while it converts an object to the form it works with:
 * fields of versions that are no longer served. An object whose annotation is no number is not
 * read.
 *
 * Follows k8s.io/kubernetes pkg/apis/apps/v1, Convert_v1_Deployment_To_apps_Deployment and
 * Convert_v1_DaemonSet_To_apps_DaemonSet.
 */
#include "api/object_int.h"
#include "base/goquote.h"
#include "base/limits.h"

static const struct numeric_annotation {
    enum api_type_id type;
    const char *key;
    bool may_be_empty;
    bool is_named; /* the text says which annotation it is */
} numeric_annotations[] = {
    {API_T_deployment, "deprecated.deployment.rollback.to", true, true},
    {API_T_daemon_set, "deprecated.daemonset.template.generation", false, false},
};

static int refuse(const struct numeric_annotation *n, struct str value, struct err *err) {
    AUTO(buf_release) struct buf quoted = BUF_INIT(4 * LIMIT_OBJECT_BYTES);
    goquote_write(&quoted, value);
    err_set(err, ERR_INVALID, "strconv.ParseInt: parsing %.*s: %s", STR_ARG(buf_view(&quoted)),
            labels_value_fault(value));
    if (n->is_named)
        err_wrap(err, "failed to parse annotation[%s]=%.*s as int64", n->key, STR_ARG(value));
    return -1;
}

static int check(const struct numeric_annotation *n, struct str value, struct err *err) {
    int64_t number;
    if ((!value.n && n->may_be_empty) || labels_value_to_i64(value, &number))
        return 0;
    return refuse(n, value, err);
}

int api__check_conversion(const struct api_object *o, struct err *err) {
    for (size_t i = 0; i < sizeof numeric_annotations / sizeof *numeric_annotations; i++) {
        const struct numeric_annotation *n = &numeric_annotations[i];
        if (o->type != &api_types[n->type])
            continue;
        const struct label *a = labels_find(&o->meta->annotations, str_of(n->key));
        if (a && check(n, a->value, err) < 0)
            return -1;
    }
    return 0;
}
