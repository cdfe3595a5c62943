/* Parts and their lives. */
#include "cmd/parts/part.h"

#include "base/map.h"
#include "tolexpr/tolexpr.h"

void part_init(struct part *p, const struct part_opts *opts) {
    *p = (struct part){.opts = *opts};
    p->informers = informers_new(opts->client, &opts->ctx->log);
    p->expressions = tolexpr_new(
        &(struct tolexpr_opts){opts->min_compat, opts->ctx->clock, map_random_seed(), 0});
}

void part_warm(struct part *p) {
    for (size_t i = 0; i < PART_COMPONENTS && p->opts.components[i]; i++)
        if (p->opts.components[i]->warm)
            p->opts.components[i]->warm(p);
}

int part_start(struct part *p, struct err *err) {
    informers_renew(p->informers);
    for (size_t i = 0; i < PART_COMPONENTS && p->opts.components[i]; i++) {
        p->running[i] = p->opts.components[i]->start(p, err);
        if (!p->running[i])
            return -1;
    }
    return 0;
}

void part_stop(struct part *p) {
    for (size_t i = PART_COMPONENTS; i-- > 0;) {
        if (p->running[i])
            p->opts.components[i]->stop(p->running[i]);
        p->running[i] = NULL;
    }
    informers_free(p->informers);
    p->informers = NULL;
}

void part_release(struct part *p) {
    if (!p->opts.client)
        return;
    part_stop(p);
    client_free(p->opts.client);
    tolexpr_free(p->expressions);
    *p = (struct part){0};
}

bool part_is_ready(const struct part *p) {
    for (size_t i = 0; i < PART_COMPONENTS && p->opts.components[i]; i++)
        if (!p->running[i] || !p->opts.components[i]->is_ready(p, p->running[i]))
            return false;
    return true;
}

void part_metrics_write(const struct part *p, struct buf *out) {
    for (size_t i = 0; i < PART_COMPONENTS; i++)
        if (p->running[i])
            p->opts.components[i]->write_metrics(p->running[i], out);
    client_metrics_write(p->opts.client, out);
}
