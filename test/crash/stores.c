/* The stores of a lane: made, filled with keys, thrown away; and what is done when something is
 * wrong with one. */
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "codec/base64.h"
#include "journal.h"
#include "lane.h"

enum { MOST = 64 << 20, STORE_STARTS = 40 };

/* ---- something is wrong ---- */

static void save_text(const struct lane *l, const char *name, struct str text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", l->opts.directory, name);
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fwrite(text.p, 1, text.n, f);
    fclose(f);
}

/* Ends the lane; what is known lies beside the store. */
static void give_up(void *ctx, const char *text) {
    struct lane *l = ctx;
    AUTO(buf_release) struct buf history = BUF_INIT(MOST);
    AUTO(buf_release) struct buf log = BUF_INIT(MOST);
    process_end(&l->process, SIGKILL, 0);
    model_print(&l->model, &history);
    process_log(&l->process, &log);
    save_text(l, "history", buf_view(&history));
    save_text(l, "wrong", str_of(text));
    fprintf(stderr, "wrong in cycle %llu%s%s: %s\nthe server's log ends: %.*s\nevidence: %s\n",
            (unsigned long long)l->cycle, l->fault ? ", " : "",
            l->fault ? faults[l->fault - l->tally->faults].name : "", text,
            STR_ARG(str_sub(buf_view(&log), log.n > 600 ? log.n - 600 : 0, log.n)),
            l->opts.directory);
    exit(1);
}

/* ---- stores ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where) {
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static void make_keys(struct lane *l) {
    struct model *m = &l->model;
    for (uint32_t i = 0; i < KINDS; i++)
        l->markers[i] = model_add_key(m, (struct key){.kind = i, .ours = true});
    l->first_shared = (uint32_t)m->keys.n;
    for (uint32_t i = 0; i < SHARED_KEYS; i++)
        model_add_key(m, (struct key){.kind = 0, .shared = true, .ours = true});
    for (uint32_t i = 0; i < l->opts.connections; i++) {
        l->writers[i] = (struct writer){.lane = l, .first_key = (uint32_t)m->keys.n};
        for (uint32_t j = 0; j < KEYS_OF_WRITER; j++) /* every other one is a ConfigMap */
            model_add_key(m, (struct key){.kind = j ? (i + j) % KINDS : 0});
    }
}

void lane_new_store(struct lane *l) {
    char data[4096];
    snprintf(data, sizeof data, "%s/data", l->opts.directory);
    nftw(data, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    link_release(&l->link);
    model_release(&l->model);
    l->model = (struct model){
        .seed = crash_next(&l->seed), .text = BUF_INIT(MOST), .wrong = give_up, .ctx = l};
    make_keys(l);
    for (uint32_t i = 0; i < WATCHERS; i++)
        l->watchers[i] = (struct watcher){.lane = l, .kind = i % KINDS, .rewinds = i >= KINDS};
    l->namespace_made = false;
    l->starts_of_store = l->verified = 0;
    l->store_life = 1 + crash_chance(&l->seed, STORE_STARTS);
    l->tally->stores++;
}

/* The value of a line "KEY: base64" of a kubeconfig. */
static struct str credential(struct lane *l, struct arena *a, struct str text, struct str key) {
    struct str value = {0}, rest;
    struct err err;
    size_t at = str_find(text, key);
    if (at == STR_NONE)
        model_wrong(&l->model, "the kubeconfig has no %.*s", STR_ARG(key));
    str_cut(str_sub(text, at + key.n, text.n), '\n', &value, &rest);
    if (base64_decode(a, str_trim(value), &value, &err) < 0)
        model_wrong(&l->model, "the kubeconfig: %s", err.msg);
    return value;
}

void lane_learn_credentials(struct lane *l) {
    AUTO(arena_release) struct arena a = {0};
    static char text[65536];
    char path[4096];
    snprintf(path, sizeof path, "%s/data/admin.kubeconfig", l->opts.directory);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f)
        fclose(f);
    struct str all = {text, n};
    link_init(&l->link, credential(l, &a, all, STR("client-certificate-data:")),
              credential(l, &a, all, STR("client-key-data:")));
}
