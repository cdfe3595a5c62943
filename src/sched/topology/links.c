/* See links_int.h. */
#include "sched/links_int.h"

#include "base/vec.h"

void sched__link(struct sched__links *a, struct sched__links *b) {
    size_t at = a->n;
    vec_push(a, (struct sched__link){b, b->n});
    vec_push(b, (struct sched__link){a, at});
}

/* Takes an end out; the last one moves, and its other end is told where to. */
static void take_out(struct sched__links *links, size_t place) {
    struct sched__link moved = links->v[--links->n];
    if (place < links->n) {
        links->v[place] = moved;
        moved.other->v[moved.place].place = place;
    }
    vec_shrink(links);
}

void sched__unlink(struct sched__links *links, size_t place) {
    struct sched__link gone = links->v[place];
    take_out(gone.other, gone.place);
    take_out(links, place);
}

void sched__unlink_all(struct sched__links *links) {
    while (links->n)
        sched__unlink(links, links->n - 1);
    vec_release(links);
}

static bool lists(const struct sched__links *links, const struct sched__links *other) {
    for (size_t i = 0; i < links->n; i++)
        if (links->v[i].other == other)
            return true;
    return false;
}

bool sched__are_linked(const struct sched__links *a, const struct sched__links *b) {
    return a->n < b->n ? lists(a, b) : lists(b, a);
}
