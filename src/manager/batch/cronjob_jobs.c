/*
 * The Jobs of a CronJob: those that are there, those that are kept, and new ones.
 *
 * Follows k8s.io/kubernetes pkg/controller/cronjob, func getJobFromTemplate2,
 * func (*ControllerV2) removeOldestJobs.
 */
#include <stdlib.h>

#include "codec/zone.h"
#include "controller/controller.h"
#include "manager/batch/cronjob_int.h"
#include "manager/batch/job_int.h"

/* ---- those that are there ---- */

struct cronjob__jobs cronjob__read_jobs(struct arena *a, const struct api_object *const *jobs,
                                        size_t n) {
    struct cronjob__jobs out = {arena_array(a, struct cronjob__job, n), n};
    for (size_t i = 0; i < n; i++) {
        const struct api_job_status *s = &((const struct api_job *)jobs[i]->body)->status;
        out.v[i] = (struct cronjob__job){
            .name = arena_str(a, jobs[i]->meta->name),
            .uid = arena_str(a, jobs[i]->meta->uid),
            .finished = job__condition(s, "Complete") ? "Complete"
                        : job__condition(s, "Failed") ? "Failed"
                                                      : NULL,
            .start = s->start_time,
            .completion = s->completion_time,
        };
    }
    return out;
}

static int compare_starts(const void *x, const void *y) {
    const struct cronjob__job *a = x, *b = y;
    if (a->start.set != b->start.set)
        return a->start.set ? -1 : 1;
    if (a->start.sec != b->start.sec)
        return a->start.sec < b->start.sec ? -1 : 1;
    return str_cmp(a->name, b->name);
}

void cronjob__find_old(struct arena *a, const struct cronjob__jobs *all, const char *finished,
                       struct api_opt_i32 kept, struct cronjob__jobs *out) {
    struct cronjob__job *v = arena_array(a, struct cronjob__job, all->n);
    size_t n = 0, most = kept.v > 0 ? (size_t)kept.v : 0;
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].finished && str_is(str_of(all->v[i].finished), finished))
            v[n++] = all->v[i];
    if (!kept.set || n <= most)
        return;
    qsort(v, n, sizeof *v, compare_starts);
    for (size_t i = 0; i < n - most; i++)
        out->v[out->n++] = v[i];
}

/* ---- new ones ---- */

struct str cronjob__job_name(struct arena *a, struct str cron_job, int64_t scheduled) {
    return arena_printf(a, "%.*s-%lld", STR_ARG(cron_job), (long long)(scheduled / 60));
}

struct str cronjob__stamp(struct arena *a, int64_t at, const struct zone *zone) {
    struct time_civil c = zone_to_civil(zone, at);
    int64_t offset = zone_offset(zone, at), minutes = (offset < 0 ? -offset : offset) / 60;
    struct str local = arena_printf(a, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)c.year,
                                    c.month, c.day, c.hour, c.minute, c.second);
    return offset ? arena_printf(a, "%.*s%c%02d:%02d", STR_ARG(local), offset < 0 ? '-' : '+',
                                 (int)(minutes / 60), (int)(minutes % 60))
                  : arena_printf(a, "%.*sZ", STR_ARG(local));
}

struct api_object *cronjob__new_job(const struct api_object *cron_job, int64_t scheduled,
                                    struct str stamp) {
    const struct api_job_template_spec *template =
        &((const struct api_cron_job *)cron_job->body)->spec.job_template;
    struct api_object *o = api_object_new(api_kind_find(STR("batch/v1"), STR("Job")));
    struct api_job *job = api_own_body(o);
    struct arena *a = &o->arena;
    struct api_object_meta meta;
    api_struct_copy(a, &api_types[API_T_object_meta], &template->metadata, &meta);
    api_struct_copy(a, &api_types[API_T_job_spec], &template->spec, &job->spec);
    job->metadata = (struct api_object_meta){
        .name = cronjob__job_name(a, cron_job->meta->name, scheduled),
        .namespace = arena_str(a, cron_job->meta->namespace),
        .labels = meta.labels,
        .annotations = meta.annotations,
    };
    labels_put(a, &job->metadata.annotations,
               (struct label){STR("batch.kubernetes.io/cronjob-scheduled-timestamp"),
                              arena_str(a, stamp)});
    controller_owner_set(o, cron_job);
    return o;
}

/* ---- status.active ---- */

bool cronjob__is_active(const struct api_object_reference_list *list, struct str uid) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].uid, uid))
            return true;
    return false;
}

void cronjob__drop_active(struct arena *a, struct api_object_reference_list *list, struct str uid) {
    struct api_object_reference_list old = *list;
    *list =
        (struct api_object_reference_list){arena_array(a, struct api_object_reference, old.n), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!str_eq(old.v[i].uid, uid))
            list->v[list->n++] = old.v[i];
}

void cronjob__add_active(struct arena *a, struct api_object_reference_list *list,
                         const struct api_object *job) {
    struct api_object_reference_list old = *list;
    list->v = arena_array(a, struct api_object_reference, old.n + 1);
    for (size_t i = 0; i < old.n; i++)
        list->v[i] = old.v[i];
    list->v[list->n++] = (struct api_object_reference){
        .kind = STR("Job"),
        .api_version = STR("batch/v1"),
        .namespace = arena_str(a, job->meta->namespace),
        .name = arena_str(a, job->meta->name),
        .uid = arena_str(a, job->meta->uid),
        .resource_version = arena_str(a, job->meta->resource_version),
    };
}
