/*
 * Requests, watches and informers by HTTPS to a real `berth apiserver`, which is the program beside
 * this test, or $BERTH. Without it, there is nothing to test.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../data.h"

#include "base/clock.h"
#include "base/log.h"
#include "client/http.h"
#include "client/informer.h"
#include "codec/yml.h"
#include "net/loop.h"

extern char **environ;

enum { WAIT_SECONDS = 60 };

static char program[4096];

struct place {
    char dir[64];
    bool is_durable;
    int port;
    pid_t server;
    struct arena arena;
    struct kubeconfig_access access;
    struct net_loop *loop;
    struct client *client;
    /* of the last request */
    bool has_answer;
    enum err_code code;
    int status;
    size_t items;
    char message[512], revision[32], token[256];
    const struct api_object *object;
};

/* ---- a server ---- */

static void read_ready(struct place *p) {
    char path[128], line[512] = "";
    snprintf(path, sizeof path, "%s/ready", p->dir);
    for (int i = 0; i < WAIT_SECONDS * 100 && !strchr(line, '\n'); i++) {
        FILE *f = fopen(path, "r");
        if (f && !fgets(line, sizeof line, f))
            line[0] = '\0';
        if (f)
            fclose(f);
        usleep(10000);
    }
    if (sscanf(line, "ready https://127.0.0.1:%d", &p->port) != 1)
        fail_msg("the server is not ready: %s", line);
}

static void start_server(struct place *p) {
    char port[16], kubeconfig[128], ready[128], log[128];
    posix_spawn_file_actions_t files;
    snprintf(port, sizeof port, "%d", p->port);
    snprintf(kubeconfig, sizeof kubeconfig, "%s/kubeconfig", p->dir);
    snprintf(ready, sizeof ready, "%s/ready", p->dir);
    snprintf(log, sizeof log, "%s/log", p->dir);
    char *args[] = {program,
                    "apiserver",
                    "--secure-port",
                    port,
                    "--write-kubeconfig",
                    kubeconfig,
                    p->is_durable ? "--data-dir" : "--memory",
                    p->is_durable ? p->dir : NULL,
                    NULL};
    unlink(ready);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, ready, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_int_equal(posix_spawn(&p->server, program, &files, NULL, args, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    read_ready(p);
}

static void stop_server(struct place *p, int signal_number) {
    kill(p->server, signal_number);
    waitpid(p->server, NULL, 0);
}

static void begin(struct place *p, bool is_durable) {
    struct err err = {0};
    *p = (struct place){.dir = "/tmp/berth-http-XXXXXX", .is_durable = is_durable};
    if (access(program, X_OK) < 0)
        skip();
    assert_non_null(mkdtemp(p->dir));
    start_server(p);
    struct kubeconfig_sources from = {.file = arena_printf(&p->arena, "%s/kubeconfig", p->dir)};
    if (kubeconfig_load(&p->arena, &from, &p->access, &err) < 0)
        fail_msg("%s", err.msg);
    p->loop = net_loop_new(&clock_system);
    struct client_http_opts opts = {
        .loop = p->loop, .access = &p->access, .user_agent = STR("http-test/1")};
    p->client = client_http_new(&opts, &err);
    if (!p->client)
        fail_msg("%s", err.msg);
}

static void end(struct place *p) {
    char command[128];
    api_object_unref(p->object);
    client_free(p->client);
    net_loop_free(p->loop);
    stop_server(p, SIGTERM);
    arena_release(&p->arena);
    snprintf(command, sizeof command, "rm -rf %s", p->dir);
    assert_int_equal(system(command), 0);
}

/* ---- requests ---- */

static void answered(void *arg, const struct client_answer *a) {
    struct place *p = arg;
    api_object_unref(p->object);
    p->object = a->object ? api_object_ref(a->object) : NULL;
    p->code = a->code;
    p->status = a->status;
    p->items = a->item_count;
    snprintf(p->message, sizeof p->message, "%.*s", STR_ARG(a->message));
    snprintf(p->revision, sizeof p->revision, "%.*s", STR_ARG(a->resource_version));
    snprintf(p->token, sizeof p->token, "%.*s", STR_ARG(a->continue_token));
    p->has_answer = true;
}

static void wait_for(struct place *p, const bool *what) {
    int64_t until = clock_mono(&clock_system) + WAIT_SECONDS * CLOCK_SECOND;
    while (!*what && clock_mono(&clock_system) < until)
        net_loop_turn(p->loop, CLOCK_SECOND);
    assert_true(*what);
}

static enum err_code ask(struct place *p, const struct client_request *r) {
    p->has_answer = false;
    client_send(p->client, r, answered, p);
    assert_false(p->has_answer);
    wait_for(p, &p->has_answer);
    return p->code;
}

static const struct api_kind *maps(void) {
    return client_kind(API_T_config_map);
}

static struct api_object *map_of(struct place *p, const char *name, const char *revision) {
    struct json tree;
    struct err err = {0};
    struct api_object *o;
    struct str text = arena_printf(&p->arena,
                                   "{kind: ConfigMap, apiVersion: v1, metadata: {name: %s, "
                                   "resourceVersion: '%s'}, data: {a: '1'}}",
                                   name, revision);
    assert_int_equal(yml_parse(&p->arena, text, &tree, &err), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

static enum err_code create(struct place *p, const char *name) {
    return ask(p, &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                           .kind = maps(),
                                           .namespace = STR("default"),
                                           .object = map_of(p, name, "")});
}

static enum err_code act(struct place *p, enum registry_verb verb, const char *name) {
    return ask(
        p, &(struct client_request){
               .verb = verb, .kind = maps(), .namespace = STR("default"), .name = str_of(name)});
}

static void objects_are_written_and_read(void **state) {
    (void)state;
    struct place p;
    begin(&p, false);
    assert_int_equal(create(&p, "one"), ERR_NONE);
    assert_int_equal(p.status, 201);
    assert_true(str_is(p.object->meta->name, "one"));
    assert_int_equal(create(&p, "one"), ERR_EXISTS);
    assert_string_equal(p.message, "configmaps \"one\" already exists");
    assert_int_equal(act(&p, REGISTRY_VERB_GET, "one"), ERR_NONE);
    assert_true(api_object_is(p.object, API_T_config_map));
    assert_int_equal(ask(&p, &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                                      .kind = maps(),
                                                      .namespace = STR("default"),
                                                      .name = STR("one"),
                                                      .patch_type = CLIENT_PATCH_MERGE,
                                                      .patch = STR("{\"data\":{\"b\":\"2\"}}")}),
                     ERR_NONE);
    const struct api_config_map *map = p.object->body;
    assert_int_equal(map->data.n, 2);
    assert_int_equal(ask(&p, &(struct client_request){.verb = REGISTRY_VERB_UPDATE,
                                                      .kind = maps(),
                                                      .namespace = STR("default"),
                                                      .name = STR("one"),
                                                      .object = map_of(&p, "one", "1")}),
                     ERR_CONFLICT);
    assert_int_equal(p.status, 409);
    assert_int_equal(act(&p, REGISTRY_VERB_DELETE, "one"), ERR_NONE);
    assert_int_equal(act(&p, REGISTRY_VERB_GET, "one"), ERR_NOT_FOUND);
    assert_string_equal(p.message, "configmaps \"one\" not found");
    assert_int_equal(p.status, 404);
    end(&p);
}

static void lists_come_in_parts(void **state) {
    (void)state;
    struct place p;
    begin(&p, false);
    assert_int_equal(create(&p, "one"), ERR_NONE);
    assert_int_equal(create(&p, "two"), ERR_NONE);
    struct client_request r = {
        .verb = REGISTRY_VERB_LIST, .kind = maps(), .selection = {.namespace = STR("default")}};
    assert_int_equal(ask(&p, &r), ERR_NONE);
    size_t all = p.items;
    assert_true(all >= 2);
    r.selection.limit = (int64_t)all - 1;
    assert_int_equal(ask(&p, &r), ERR_NONE);
    assert_int_equal(p.items, all - 1);
    assert_true(p.token[0]);
    r.selection.continue_token = arena_str(&p.arena, str_of(p.token));
    assert_int_equal(ask(&p, &r), ERR_NONE);
    assert_int_equal(p.items, 1);
    assert_false(p.token[0]);
    r.selection.continue_token = STR("nonsense");
    assert_int_equal(ask(&p, &r), ERR_INVALID);
    r = (struct client_request){
        .verb = REGISTRY_VERB_DELETE_COLLECTION,
        .kind = maps(),
        .selection = {.namespace = STR("default"), .field_selector = STR("metadata.name=two")}};
    assert_int_equal(ask(&p, &r), ERR_NONE);
    assert_int_equal(act(&p, REGISTRY_VERB_GET, "two"), ERR_NOT_FOUND);
    assert_int_equal(act(&p, REGISTRY_VERB_GET, "one"), ERR_NONE);
    end(&p);
}

static void cancelled_calls_are_not_answered(void **state) {
    (void)state;
    struct place p, nobody = {0};
    begin(&p, false);
    struct client_request r = {.verb = REGISTRY_VERB_LIST, .kind = maps()};
    client_cancel(client_send(p.client, &r, answered, &nobody));
    struct client_call *call = client_send(p.client, &r, answered, &nobody);
    net_loop_turn(p.loop, 0);
    net_loop_turn(p.loop, 0);
    client_cancel(call);
    assert_int_equal(ask(&p, &r), ERR_NONE);
    assert_false(nobody.has_answer);
    client_send(p.client, &r, answered, &nobody); /* and nobody waits for it when all ends */
    net_loop_turn(p.loop, 0);
    end(&p);
    assert_false(nobody.has_answer);
}

/* ---- watches ---- */

struct seen {
    bool has_begun, has_one, is_deleted, has_ended;
    size_t before;
    uint64_t revision;
    enum err_code code;
};

static void see(void *arg, const struct client_event *e) {
    struct seen *s = arg;
    bool is_one = e->object && str_is(e->object->meta->name, "one");
    s->before += e->type == CLIENT_ADDED && !s->has_begun;
    s->has_begun |= e->type == CLIENT_BOOKMARK && e->ends_initial_events;
    s->has_one |= e->type == CLIENT_ADDED && is_one;
    s->is_deleted |= e->type == CLIENT_DELETED && is_one;
    s->has_ended |= e->type == CLIENT_ENDED;
    s->code = e->type == CLIENT_ENDED ? e->code : s->code;
    s->revision = e->type == CLIENT_BOOKMARK ? e->revision : s->revision;
}

static void watches_tell_of_changes(void **state) {
    (void)state;
    struct place p;
    struct seen s = {0}, later = {0};
    begin(&p, false);
    assert_int_equal(create(&p, "zero"), ERR_NONE);
    struct client_watch *w =
        client_watch_start(p.client, maps(), &(struct client_selection){0}, see, &s);
    wait_for(&p, &s.has_begun);
    assert_true(s.before >= 1 && s.revision > 0 && !s.has_one);
    assert_int_equal(create(&p, "one"), ERR_NONE);
    wait_for(&p, &s.has_one);
    assert_int_equal(act(&p, REGISTRY_VERB_DELETE, "one"), ERR_NONE);
    wait_for(&p, &s.is_deleted);
    struct client_selection behind = {
        .namespace = STR("default"),
        .resource_version = arena_printf(&p.arena, "%llu", (unsigned long long)s.revision)};
    struct client_watch *w2 = client_watch_start(p.client, maps(), &behind, see, &later);
    wait_for(&p, &later.is_deleted);
    assert_true(later.has_one);
    client_watch_stop(w2);
    client_watch_stop(w);
    end(&p);
}

/* ---- connections ---- */

static size_t count_sockets(void) {
    size_t n = 0;
    for (int fd = 0; fd < 256; fd++) {
        char path[64], to[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t got = readlink(path, to, sizeof to);
        n += got > 7 && memcmp(to, "socket:", 7) == 0;
    }
    return n;
}

/* libcurl's descriptor, and the loop's for the same socket. */
static void all_share_one_connection(void **state) {
    (void)state;
    struct place p;
    struct seen s[3] = {0};
    struct client_watch *w[3];
    begin(&p, false);
    size_t before = count_sockets();
    for (int i = 0; i < 3; i++)
        w[i] = client_watch_start(p.client, maps(), &(struct client_selection){0}, see, &s[i]);
    for (int i = 0; i < 3; i++)
        wait_for(&p, &s[i].has_begun);
    assert_int_equal(create(&p, "one"), ERR_NONE);
    assert_int_equal(count_sockets(), before + 2);
    for (int i = 0; i < 3; i++) {
        wait_for(&p, &s[i].has_one);
        client_watch_stop(w[i]);
    }
    end(&p);
}

static void use_access(struct place *p, const struct kubeconfig_access *access) {
    struct err err = {0};
    client_free(p->client);
    p->client = client_http_new(
        &(struct client_http_opts){.loop = p->loop, .access = access, .user_agent = STR("t")},
        &err);
    assert_non_null(p->client);
}

static void servers_must_show_who_they_are(void **state) {
    (void)state;
    struct place p;
    begin(&p, false);
    struct kubeconfig_access access = p.access;
    access.authorities = STR("");
    use_access(&p, &access);
    assert_int_equal(create(&p, "one"), ERR_UNAVAILABLE);
    assert_int_equal(p.status, 0);
    access.is_insecure = true;
    use_access(&p, &access);
    assert_int_equal(create(&p, "one"), ERR_NONE);
    access = p.access;
    access.server_name = STR("kubernetes.default.svc");
    use_access(&p, &access);
    assert_int_equal(create(&p, "two"), ERR_NONE);
    access.server_name = STR("example.com");
    use_access(&p, &access);
    assert_int_equal(create(&p, "three"), ERR_UNAVAILABLE);
    access = p.access;
    access.certificate = access.key = STR("");
    access.token = STR("nonsense");
    use_access(&p, &access);
    assert_int_equal(create(&p, "three"), ERR_UNAUTHORIZED);
    assert_int_equal(p.status, 401);
    end(&p);
}

static void informers_survive_a_restart(void **state) {
    (void)state;
    struct place p;
    begin(&p, true);
    struct log log = {.fd = 2, .clock = &clock_system};
    struct informers *set = informers_new(p.client, &log);
    struct informer *i = informers_of(set, maps());
    assert_int_equal(create(&p, "one"), ERR_NONE);
    int64_t until = clock_mono(&clock_system) + WAIT_SECONDS * CLOCK_SECOND;
    while (!informer_get(i, STR("default"), STR("one")) && clock_mono(&clock_system) < until)
        net_loop_turn(p.loop, CLOCK_SECOND);
    assert_true(informer_has_synced(i));
    stop_server(&p, SIGKILL);
    assert_int_equal(act(&p, REGISTRY_VERB_GET, "one"), ERR_UNAVAILABLE);
    assert_int_equal(p.status, 0);
    start_server(&p);
    assert_int_equal(create(&p, "two"), ERR_NONE);
    assert_int_equal(act(&p, REGISTRY_VERB_DELETE, "one"), ERR_NONE);
    while ((!informer_get(i, STR("default"), STR("two")) ||
            informer_get(i, STR("default"), STR("one"))) &&
           clock_mono(&clock_system) < until)
        net_loop_turn(p.loop, CLOCK_SECOND);
    assert_non_null(informer_get(i, STR("default"), STR("two")));
    assert_null(informer_get(i, STR("default"), STR("one")));
    informers_free(set);
    end(&p);
}

int main(int argc, char **argv) {
    const char *given = getenv("BERTH"), *slash = strrchr(argv[0], '/');
    (void)argc;
    if (given)
        snprintf(program, sizeof program, "%s", given);
    else
        snprintf(program, sizeof program, "%.*sberth", slash ? (int)(slash - argv[0] + 1) : 0,
                 argv[0]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_are_written_and_read),
        cmocka_unit_test(lists_come_in_parts),
        cmocka_unit_test(cancelled_calls_are_not_answered),
        cmocka_unit_test(watches_tell_of_changes),
        cmocka_unit_test(all_share_one_connection),
        cmocka_unit_test(servers_must_show_who_they_are),
        cmocka_unit_test(informers_survive_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
