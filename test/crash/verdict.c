/* What must be true of the model behind a failure or a restart. */
#include "model.h"

/* ---- behind a death ---- */

void model_died(struct model *m, bool harmless) {
    for (size_t i = m->settled; i < m->writes.n; i++) {
        struct write *w = &m->writes.v[i];
        if (w->fate == FATE_FAILED)
            w->fate = harmless ? FATE_NEVER : FATE_SENT;
    }
}

/* ---- behind a start ---- */

static void settle_write(struct model *m, uint64_t id) {
    struct write *w = model_write(m, id);
    if (w->fate == FATE_ACKED && !w->seen)
        model_wrong(m, "write %llu to k%u was acknowledged with revision %llu and has no event",
                    (unsigned long long)id, w->key, (unsigned long long)w->revision);
    if (w->fate == FATE_SENT) {
        m->unanswered++;
        m->survived += w->seen != 0;
        w->fate = w->seen ? FATE_ACKED : FATE_NEVER;
    }
    w->revision = w->seen;
}

/* Events lead to what the list showed; what is newer than the list is the driver's own. */
static void settle_key(struct model *m, struct key *k) {
    unsigned number = (unsigned)(k - m->keys.v);
    if (k->logged.revision > m->feeds[k->kind].listed) {
        if (!k->ours)
            model_wrong(m, "k%u was written at revision %llu by nobody", number,
                        (unsigned long long)k->logged.revision);
    } else if (k->listed.id != k->logged.id ||
               (k->listed.id && k->listed.revision != k->logged.revision)) {
        model_wrong(m, "k%u: a list shows write %llu at revision %llu, events lead to %llu at %llu",
                    number, (unsigned long long)k->listed.id,
                    (unsigned long long)k->listed.revision, (unsigned long long)k->logged.id,
                    (unsigned long long)k->logged.revision);
    }
    k->told = k->logged;
    k->busy = k->doubtful = false;
    vec_clear(&k->deletes);
}

void model_settle(struct model *m) {
    for (size_t i = m->settled; i < m->writes.n; i++)
        settle_write(m, i + 1);
    m->settled = m->writes.n;
    for (size_t i = 0; i < m->keys.n; i++)
        settle_key(m, &m->keys.v[i]);
}

/* ---- while a server lives on ---- */

void model_expect_told(struct model *m) {
    for (size_t i = 0; i < m->keys.n; i++) {
        const struct key *k = &m->keys.v[i];
        if (k->listed.id != k->told.id || (k->told.id && k->listed.revision != k->told.revision))
            model_wrong(m,
                        "k%zu: a list behind a failure shows write %llu at revision %llu, and "
                        "acknowledged was %llu at %llu",
                        i, (unsigned long long)k->listed.id, (unsigned long long)k->listed.revision,
                        (unsigned long long)k->told.id, (unsigned long long)k->told.revision);
    }
}

/* ---- behind a disk that lied ---- */

/* The revision of a write; 0: nobody told. */
static uint64_t revision_of(const struct write *w) {
    return w->revision ? w->revision : w->seen;
}

/* The newest write to a key that is known to have been made up to a revision; 0: none. */
static uint64_t newest_until(const struct model *m, uint32_t key, uint64_t revision) {
    uint64_t id = 0, newest = 0;
    for (size_t i = 0; i < m->writes.n; i++) {
        const struct write *w = &m->writes.v[i];
        uint64_t own = revision_of(w);
        if (w->key == key && w->fate == FATE_ACKED && own <= revision && own > newest) {
            id = i + 1;
            newest = own;
        }
    }
    return id;
}

/* May the key be deleted, if this is the newest write that must have been made? */
static bool may_be_gone(const struct model *m, uint32_t key, uint64_t id) {
    for (size_t i = id ? id - 1 : 0; i < m->writes.n; i++)
        if (m->writes.v[i].key == key && m->writes.v[i].op == OP_DELETE &&
            m->writes.v[i].fate != FATE_NEVER)
            return true;
    return id == 0;
}

static bool is_of_past(struct model *m, uint32_t key, uint64_t revision) {
    const struct state *s = &m->keys.v[key].listed;
    uint64_t id = newest_until(m, key, revision);
    if (!s->id)
        return may_be_gone(m, key, id);
    const struct write *w = model_write(m, s->id);
    if (w->fate == FATE_ACKED)
        return w->revision == s->revision && s->id == id;
    return w->fate != FATE_NEVER && (!id || s->revision > revision_of(model_write(m, id)));
}

size_t model_expect_past(struct model *m) {
    uint64_t newest = 0;
    size_t lost = 0;
    for (size_t i = 0; i < m->keys.n; i++)
        if (m->keys.v[i].listed.revision > newest)
            newest = m->keys.v[i].listed.revision;
    for (uint32_t i = 0; i < m->keys.n; i++)
        if (!is_of_past(m, i, newest))
            model_wrong(m, "k%u: write %llu at revision %llu in a state of revision %llu", i,
                        (unsigned long long)m->keys.v[i].listed.id,
                        (unsigned long long)m->keys.v[i].listed.revision,
                        (unsigned long long)newest);
    for (size_t i = 0; i < m->writes.n; i++)
        lost += m->writes.v[i].fate == FATE_ACKED && m->writes.v[i].revision > newest;
    return lost;
}
