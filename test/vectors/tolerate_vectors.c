/* tolerate.jsonl: does this toleration match this taint? */
#include "match_vectors.h"
#include "vectors.h"

int vectors_check_tolerate(struct arena *a, const struct json *line, struct buf *why) {
    struct match_vectors v;
    struct api_toleration toleration = {0};
    struct api_taint taint = {0};
    struct json got = {.kind = JSON_OBJECT};
    if (match_vectors_decode(a, API_T_toleration, json_get(line, STR("toleration")), &toleration,
                             why) < 0 ||
        match_vectors_decode(a, API_T_taint, json_get(line, STR("taint")), &taint, why) < 0)
        return -1;
    match_vectors_init(&v, line);
    const struct match_tolerations *tolerations =
        match_tolerations_get(v.m, &(struct api_toleration_list){&toleration, 1});
    const struct match_taints *taints = match_taints_get(v.m, &(struct api_taint_list){&taint, 1});
    enum match_code code = match_toleration_check(&tolerations->v[0], &taints->v[0]);
    bool match = match_tolerates(&tolerations->v[0], &taints->v[0]);
    json_add(a, &got, STR("match"), json_of_bool(match));
    match_vectors_release(&v);
    if (match != (code == MATCH_YES)) {
        buf_addf(why, "match is %d, but its code %d", match, code);
        return -1;
    }
    return vectors_compare_members(line, &got, why);
}
