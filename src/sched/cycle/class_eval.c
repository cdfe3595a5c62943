/* Remembered verdicts and scores, see eval_int.h. */
#include "sched/eval_int.h"

#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "sched/times_int.h"

/* So few nodes are asked again as quickly as it is to look up what they said. */
enum { FEW_SLOTS = 8 };

/* ---- who remembers ---- */

static size_t bytes_of(const struct sched__eval *ev) {
    size_t per_slot = sizeof *ev->verdict + (ev->best ? sizeof *ev->best : 0);
    if (ev->scored)
        per_slot +=
            sizeof *ev->fixed + sizeof *ev->total + ev->scaled_count * sizeof *ev->scaled[0].raw;
    return sizeof *ev + ev->arena.bytes + ev->size * per_slot;
}

static void unlink_eval(struct sched *s, struct sched__eval *ev) {
    *(ev->newer ? &ev->newer->older : &s->newest_eval) = ev->older;
    *(ev->older ? &ev->older->newer : &s->oldest_eval) = ev->newer;
    s->eval_bytes -= bytes_of(ev);
}

static void eval_free(struct sched *s, struct sched__eval *ev) {
    unlink_eval(s, ev);
    free(ev->verdict);
    free(ev->fixed);
    free(ev->total);
    free(ev->best);
    for (size_t i = 0; i < ev->scaled_count; i++)
        free(ev->scaled[i].raw);
    arena_release(&ev->arena);
    if (ev->owner)
        ev->owner->eval = NULL;
    free(ev);
}

/* What nobody owns, or few nodes said, is kept until another one is used. */
static bool is_passing(const struct sched__eval *ev) {
    return !ev->owner || ev->few;
}

static void link_newest(struct sched *s, struct sched__eval *ev) {
    struct sched__eval *before = s->newest_eval;
    ev->newer = NULL;
    ev->older = before;
    *(before ? &before->newer : &s->oldest_eval) = ev;
    s->newest_eval = ev;
    s->eval_bytes += bytes_of(ev);
    if (before && is_passing(before))
        eval_free(s, before);
}

void sched__eval_forget(struct sched *s, struct sched__pod_class *c) {
    if (c->eval)
        eval_free(s, c->eval);
    c->eval = NULL;
}

/* Does it say the same for as long as nodes do not change? Volumes have their own state, and the
 * number of a resource that nobody asks for is given to another one. */
static bool outlives_class(const struct sched__eval *ev) {
    const struct sched__pod_class *c = ev->owner;
    for (size_t i = 0; i < c->requests.n; i++)
        if (c->requests.v[i].resource >= SCHED__SCALARS)
            return false;
    return c->asked.v == c->requests.v && !c->has_volumes;
}

void sched__eval_leave(struct sched *s, struct sched__pod_class *c) {
    if (c->eval && c->eval == s->newest_eval && outlives_class(c->eval))
        c->eval->owner = NULL;
    else
        sched__eval_forget(s, c);
}

void sched__evals_release(struct sched *s) {
    if (s->newest_eval)
        eval_free(s, s->newest_eval);
    assert(!s->newest_eval);
}

static void take_over(struct sched *s, struct sched__pod_class *c) {
    struct sched__eval *ev = s->newest_eval;
    if (!ev || c->has_volumes || !str_eq(ev->needs, c->needs))
        return;
    if (ev->owner)
        ev->owner->eval = NULL;
    ev->owner = c;
    c->eval = ev;
}

static void make_room(struct sched *s) {
    while (s->eval_bytes > LIMIT_SCHED_EVAL_BYTES && s->oldest_eval != s->newest_eval)
        eval_free(s, s->oldest_eval);
}

/* ---- asking plug-ins ---- */

/* Does the plug-in have anything to do with pods of this class? */
static bool is_active(const struct sched__cycle *cy, enum sched_plugin p) {
    const struct sched__plugin *plugin = sched__plugin_at(p);
    return plugin->scope == SCHED__SCOPE_NODE && (!plugin->compile || cy->cls->data[p]);
}

static void run_restrictions(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct sched_order *order = &cy->profile->points[SCHED_PRE_FILTER];
    for (size_t i = 0; i < order->n; i++) {
        const struct sched__plugin *plugin = sched__plugin_at(order->v[i]);
        if (plugin->restrict_to && is_active(cy, order->v[i]))
            plugin->restrict_to(cy, from, to);
    }
}

static void start(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const uint8_t *state = cy->s->nodes.state;
    for (uint32_t i = from; i < to; i++)
        cy->verdict[i] = state[i] & SCHED__NODE_THERE ? SCHED__FITS : SCHED__GONE;
}

/* The slots that restrictions leave, if a plug-in can name them; NULL: none can. */
static const uint32_t *find_named(struct sched__cycle *cy, size_t *n) {
    const struct sched_order *order = &cy->profile->points[SCHED_PRE_FILTER];
    const uint32_t *named = NULL;
    for (size_t i = 0; i < order->n && !named; i++) {
        const struct sched__plugin *plugin = sched__plugin_at(order->v[i]);
        if (plugin->named && is_active(cy, order->v[i]))
            named = plugin->named(cy, n);
    }
    return named;
}

/* No node is looked at. */
static void leave_out_all(struct sched__cycle *cy) {
    const struct sched__nodes *nodes = &cy->s->nodes;
    memset(cy->verdict, SCHED__ABSENT, nodes->n);
    for (uint32_t i = 0; nodes->live < nodes->n && i < nodes->n; i++)
        if (!(nodes->state[i] & SCHED__NODE_THERE))
            cy->verdict[i] = SCHED__GONE;
}

static void run_filters(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct sched_order *order = &cy->profile->points[SCHED_FILTER];
    for (size_t i = 0; i < order->n; i++) {
        const struct sched__plugin *plugin = sched__plugin_at(order->v[i]);
        if (!plugin->filter || !is_active(cy, order->v[i]))
            continue;
        int64_t begin = sched__time_start(cy);
        plugin->filter(cy, from, to);
        sched__time_stop(cy, SCHED_FILTER, order->v[i], begin);
    }
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    start(cy, from, to);
    run_restrictions(cy, from, to);
    run_filters(cy, from, to);
}

void sched__eval_try(struct sched__cycle *cy, uint32_t slot) {
    start(cy, slot, slot + 1);
    run_filters(cy, slot, slot + 1);
}

static void ask_score(struct sched__cycle *cy, enum sched_plugin p, int64_t *scores, uint32_t from,
                      uint32_t to) {
    int64_t begin = sched__time_start(cy);
    sched__plugin_at(p)->score(cy, scores, from, to);
    sched__time_stop(cy, SCHED_SCORE, p, begin);
}

static void run_scores(struct sched__cycle *cy, struct sched__eval *ev, uint32_t from,
                       uint32_t to) {
    memset(ev->fixed + from, 0, (to - from) * sizeof *ev->fixed);
    int64_t *scores = cy->s->scores;
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++) {
        if (!ev->scoring[p] || sched__plugin_at(p)->scale != SCHED__SCALE_NONE)
            continue;
        ask_score(cy, p, scores, from, to);
        int64_t weight = cy->profile->weights[p];
        for (uint32_t i = from; i < to; i++)
            if (!ev->verdict[i])
                ev->fixed[i] += weight * (int32_t)scores[i]; /* any, where sums wrapped */
    }
    for (size_t k = 0; k < ev->scaled_count; k++)
        ask_score(cy, ev->scaled[k].plugin, ev->scaled[k].raw, from, to);
}

/* ---- the tournament ---- */

/* Of two slots the better one, the first of equals. */
static uint32_t better(const struct sched__eval *ev, uint32_t a, uint32_t b) {
    if (ev->total[a] != ev->total[b])
        return ev->total[a] > ev->total[b] ? a : b;
    return a < b ? a : b;
}

/* Who is at this place of the tournament. */
static uint32_t player(const struct sched__eval *ev, uint32_t i) {
    return i < ev->size ? ev->best[i] : i - ev->size;
}

static void play(struct sched__eval *ev, uint32_t i) {
    ev->best[i] = better(ev, player(ev, 2 * i), player(ev, 2 * i + 1));
}

static void replay_slot(struct sched__eval *ev, uint32_t slot) {
    for (uint32_t i = (ev->size + slot) / 2; i; i /= 2)
        play(ev, i);
}

/* Whoever is asked only once needs no tournament. */
static void build_tournament(struct sched__eval *ev) {
    if (!ev->best)
        ev->best = xmalloc(size_mul(ev->size, sizeof *ev->best));
    for (uint32_t i = ev->size - 1; i; i--)
        play(ev, i);
}

static uint32_t tournament_winner(const struct sched__eval *ev) {
    uint32_t first = player(ev, 1);
    return ev->total[first] == SCHED__NO_TOTAL ? SCHED__NONE : first;
}

/* ---- scales ---- */

_Static_assert(SCHED_PLUGIN_COUNT *INT64_C(100) <= INT64_MAX / INT32_MAX,
               "no weights make a sum of scores leave 64 bits");

int64_t sched__scale(enum sched__scale scale, int64_t score, int64_t max) {
    if (max)
        score = 100 * score / max;
    else
        score = 0;
    return scale == SCHED__SCALE_DOWN ? 100 - score : score;
}

static void find_max(const struct sched__eval *ev, struct sched__scaled *scaled, uint32_t n) {
    scaled->max = 0;
    scaled->at_max = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (ev->verdict[i] || scaled->raw[i] < scaled->max)
            continue;
        if (scaled->raw[i] > scaled->max) {
            scaled->max = scaled->raw[i];
            scaled->at_max = 0;
        }
        scaled->at_max++;
    }
}

static void sum_slot(const struct sched__cycle *cy, struct sched__eval *ev, uint32_t slot) {
    if (ev->verdict[slot]) {
        ev->total[slot] = SCHED__NO_TOTAL;
        return;
    }
    int64_t total = ev->fixed[slot];
    for (size_t k = 0; k < ev->scaled_count; k++) {
        const struct sched__scaled *scaled = &ev->scaled[k];
        total +=
            cy->profile->weights[scaled->plugin] *
            sched__scale(sched__plugin_at(scaled->plugin)->scale, scaled->raw[slot], scaled->max);
    }
    ev->total[slot] = total;
}

/* Adds a plug-in's weighted scores; returns what is to be added to all, if they are equal. */
static int64_t sum_scaled(struct sched__eval *ev, const struct sched__scaled *scaled,
                          int64_t weight, uint32_t n) {
    enum sched__scale scale = sched__plugin_at(scaled->plugin)->scale;
    if (!scaled->max)
        return weight * sched__scale(scale, 0, 0);
    for (uint32_t i = 0; i < n; i++)
        if (!ev->verdict[i])
            ev->total[i] += weight * sched__scale(scale, scaled->raw[i], scaled->max);
    return 0;
}

/* Adds what is the same for all that fit; returns the first slot with the best total. */
static uint32_t finish_totals(struct sched__eval *ev, int64_t same, uint32_t n) {
    int64_t most = SCHED__NO_TOTAL;
    uint32_t winner = SCHED__NONE;
    for (uint32_t i = 0; i < n; i++) {
        int64_t total = ev->verdict[i] ? SCHED__NO_TOTAL : ev->total[i] + same;
        ev->total[i] = total;
        if (total > most) {
            most = total;
            winner = i;
        }
    }
    return winner;
}

static void sum_all(const struct sched__cycle *cy, struct sched__eval *ev) {
    uint32_t n = cy->s->nodes.n;
    int64_t same = 0;
    memcpy(ev->total, ev->fixed, n * sizeof *ev->total);
    for (size_t k = 0; k < ev->scaled_count; k++) {
        find_max(ev, &ev->scaled[k], n);
        same += sum_scaled(ev, &ev->scaled[k], cy->profile->weights[ev->scaled[k].plugin], n);
    }
    ev->winner = finish_totals(ev, same, n);
}

/* ---- bringing up to date ---- */

static void prepare_scoring(struct sched__cycle *cy, struct sched__eval *ev) {
    ev->scored = true;
    ev->fixed = xcalloc(ev->size, sizeof *ev->fixed);
    ev->total = xcalloc(ev->size, sizeof *ev->total);
    const struct sched_order *order = &cy->profile->points[SCHED_SCORE];
    for (size_t i = 0; i < order->n; i++) {
        enum sched_plugin p = order->v[i];
        const struct sched__plugin *plugin = sched__plugin_at(p);
        if (!plugin->score || !is_active(cy, p) || !sched__ask_pre_score(cy, p))
            continue;
        ev->scoring[p] = true;
        if (plugin->scale != SCHED__SCALE_NONE)
            ev->scaled[ev->scaled_count++] = (struct sched__scaled){
                .plugin = p, .raw = xcalloc(ev->size, sizeof *ev->scaled[0].raw)};
    }
    ev->score_error = arena_str(&ev->arena, cy->error);
    cy->error = (struct str){0};
}

static struct sched__eval *eval_new(struct sched__cycle *cy) {
    struct sched__eval *ev = xcalloc(1, sizeof *ev);
    ev->owner = cy->cls;
    arena_start(&ev->arena, cy->cls->needs.n + 1);
    ev->needs = arena_str(&ev->arena, cy->cls->needs);
    ev->size = cy->s->nodes.n;
    ev->verdict = xcalloc(ev->size, sizeof *ev->verdict);
    link_newest(cy->s, ev);
    return ev;
}

/* Asks all nodes that are not left out beforehand. */
static void filter_all(struct sched__cycle *cy, struct sched__eval *ev) {
    size_t n;
    const uint32_t *named = find_named(cy, &n);
    ev->feasible = 0;
    ev->few = false;
    if (!named) {
        filter(cy, 0, ev->size);
        for (uint32_t i = 0; i < ev->size; i++)
            ev->feasible += !ev->verdict[i];
        return;
    }
    ev->few = n <= FEW_SLOTS;
    leave_out_all(cy);
    for (size_t i = 0; i < n; i++) {
        filter(cy, named[i], named[i] + 1);
        ev->feasible += !ev->verdict[named[i]];
    }
}

static void score_all(struct sched__cycle *cy, struct sched__eval *ev) {
    if (!ev->scored)
        prepare_scoring(cy, ev);
    if (!ev->score_error.p)
        run_scores(cy, ev, 0, ev->size);
    sum_all(cy, ev);
    ev->replay = true;
}

/* Scores decide between nodes: a class that has had no two to choose from has none. */
static bool needs_scores(const struct sched__cycle *cy, const struct sched__eval *ev) {
    return !cy->error.p && (ev->scored || ev->feasible > 1);
}

static void refresh_all(struct sched__cycle *cy, struct sched__eval *ev) {
    filter_all(cy, ev);
    if (needs_scores(cy, ev))
        score_all(cy, ev);
}

/* Counts a node that fits (sign 1) or is about to be asked again (-1); false when the largest
 * score of some plug-in is another one now. */
static bool count_slot(struct sched__eval *ev, uint32_t slot, int sign) {
    bool same = true;
    if (ev->verdict[slot])
        return true;
    ev->feasible += (uint32_t)sign;
    for (size_t k = 0; k < ev->scaled_count; k++) {
        struct sched__scaled *scaled = &ev->scaled[k];
        if (scaled->raw[slot] == scaled->max)
            scaled->at_max += (uint32_t)sign;
        same = same && scaled->raw[slot] <= scaled->max && scaled->at_max;
    }
    return same;
}

/* Asks nodes again; false when the largest score of some plug-in is another one now. */
static bool ask_again(struct sched__cycle *cy, struct sched__eval *ev, const uint32_t *changed,
                      size_t n) {
    bool same = true;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = changed[i];
        count_slot(ev, slot, -1);
        filter(cy, slot, slot + 1);
        if (ev->scored && !ev->score_error.p)
            run_scores(cy, ev, slot, slot + 1);
        same = count_slot(ev, slot, 1) && same;
    }
    for (size_t k = 0; k < ev->scaled_count; k++)
        same = same && (ev->scaled[k].at_max || !ev->feasible);
    return same;
}

static void refresh_some(struct sched__cycle *cy, struct sched__eval *ev) {
    const struct sched *s = cy->s;
    size_t from = ev->seen - s->changes_base, n = s->changes.n - from;
    if (!n)
        return;
    const uint32_t *changed = s->changes.v + from;
    bool same = ask_again(cy, ev, changed, n);
    if (!ev->scored) {
        if (needs_scores(cy, ev))
            score_all(cy, ev);
        return;
    }
    if (!same) {
        sum_all(cy, ev);
        ev->replay = true;
        return;
    }
    if (ev->replay)
        build_tournament(ev);
    ev->replay = false;
    for (size_t i = 0; i < n; i++) {
        sum_slot(cy, ev, changed[i]);
        replay_slot(ev, changed[i]);
    }
    ev->winner = tournament_winner(ev);
}

static bool is_stale(const struct sched__cycle *cy, const struct sched__eval *ev) {
    const struct sched *s = cy->s;
    return ev->size != s->nodes.n || ev->nodes_generation != s->nodes_generation ||
           (ev->storage_generation != s->storage_generation && cy->cls->has_volumes);
}

struct sched__eval *sched__eval_refresh(struct sched__cycle *cy) {
    struct sched *s = cy->s;
    uint64_t now = s->changes_base + s->changes.n;
    if (!cy->cls->eval)
        take_over(s, cy->cls);
    if (cy->cls->eval && is_stale(cy, cy->cls->eval))
        sched__eval_forget(s, cy->cls);
    bool fresh = !cy->cls->eval;
    if (fresh)
        cy->cls->eval = eval_new(cy);
    struct sched__eval *ev = cy->cls->eval;
    cy->verdict = ev->verdict;
    unlink_eval(s, ev); /* its size may change */
    if (fresh || ev->seen < s->changes_base || now - ev->seen > s->nodes.n / 4 + 1)
        refresh_all(cy, ev);
    else
        refresh_some(cy, ev);
    link_newest(s, ev);
    make_room(s);
    if (cy->error.p) { /* nothing to remember: the next one asks again */
        sched__eval_forget(s, cy->cls);
        cy->verdict = NULL;
        return NULL;
    }
    ev->seen = now;
    ev->nodes_generation = s->nodes_generation;
    ev->storage_generation = s->storage_generation;
    return ev;
}
