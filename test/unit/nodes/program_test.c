/* Commands that are told without running them, and those that are not: a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/limits.h"
#include "codec/yml.h"
#include "nodes/life_int.h"

#define FOREVER (-1)

static const struct {
    const char *container;
    bool is_told;
    int32_t exit_code;
    int64_t ms; /* until it ends */
    const char *output;
} rows[] = {
    {"command: ['true']", true, 0, 0, ""},
    {"command: [/bin/false]", true, 1, 0, ""},
    {"command: [sleep, '10']", true, 0, 10000, ""},
    {"command: [sleep], args: [1m, '0.25']", true, 0, 60250, ""},
    {"command: [sleep, infinity]", true, 0, FOREVER, ""},
    /* What nobody lives to see is for ever: so many nanoseconds no number counts. */
    {"command: [sleep, 106751d]", true, 0, INT64_C(9223286400000), ""},
    {"command: [sleep, 106752d]", true, 0, FOREVER, ""},
    {"command: [sleep, 213504d]", true, 0, FOREVER, ""},
    {"command: [sleep, 365000d]", true, 0, FOREVER, ""},
    {"command: [sleep, 9999999h]", true, 0, FOREVER, ""},
    {"command: [sleep, 999999999.999999999d]", true, 0, FOREVER, ""},
    {"command: [sleep, 60000d, 60000d]", true, 0, FOREVER, ""},
    {"command: [sh, -c, 'sleep 60000d; echo a; sleep 60000d; echo no']", true, 0, FOREVER,
     "5184000000000 a\n"},
    {"command: [/pause]", true, 0, FOREVER, ""},
    {"command: [echo, a, 'b  c', $HOME]", true, 0, 0, "0 a b  c $HOME\n"},
    {"image: busybox, args: [echo, hello]", true, 0, 0, "0 hello\n"},
    {"image: 'docker.io/library/busybox:1.36@sha256:1', args: [echo, hello]", true, 0, 0,
     "0 hello\n"},
    {"image: nginx, args: [echo, hello]", false, 0, 0, ""},
    {"image: busybox", true, 0, 0, ""},
    {"image: busybox, stdin: true", false, 0, 0, ""},
    {"image: nginx", false, 0, 0, ""},
    {"command: [sh, -c, 'exit 1']", true, 1, 0, ""},
    {"command: [/bin/sh, -c], args: ['echo a; sleep 2; echo \"b c\" && false || exit 300']", true,
     44, 2000, "0 a\n2000 b c\n"},
    {"command: [sh, -c, 'false && echo no; true || echo no; echo yes']", true, 0, 0, "0 yes\n"},
    {"command: [sh, -c, 'exit; echo no']", true, 0, 0, ""},
    {"command: [sh, -c, 'false; exit']", true, 1, 0, ""},
    {"command: [sh, -c, ' ; \n']", true, 0, 0, ""},
    {"command: [sh, -c, \"echo 'it is $5'\"]", true, 0, 0, "0 it is $5\n"},
    {"command: [sh, -c, 'echo -n a; sleep 1; echo b; echo c']", true, 0, 1000, "0 ab\n1000 c\n"},
    {"command: [sh, -c, 'sleep inf; echo no']", true, 0, FOREVER, ""},
    /* What means more than it says is not told. */
    {"command: [sh, -c, 'echo $HOME']", false, 0, 0, ""},
    {"command: [sh, -c, 'echo \"$HOME\"']", false, 0, 0, ""},
    {"command: [echo, $(HOME)]", false, 0, 0, ""},
    {"command: [sh, -c, 'echo a | cat']", false, 0, 0, ""},
    {"command: [sh, -c, 'echo a > file']", false, 0, 0, ""},
    {"command: [sh, -c, 'sleep 1 &']", false, 0, 0, ""},
    {"command: [sh, -c, 'A=1 echo a']", false, 0, 0, ""},
    {"command: [sh, -c, 'echo -e a']", false, 0, 0, ""},
    {"command: [echo, -n, -n]", false, 0, 0, ""},
    {"command: [sh, -c, 'while true; do sleep 1; done']", false, 0, 0, ""},
    {"command: [sh, -c, \"echo 'a\"]", false, 0, 0, ""},
    {"command: [sh, -c, 'exit no']", false, 0, 0, ""},
    {"command: [exit, '1']", false, 0, 0, ""},
    {"command: [sleep]", false, 0, 0, ""},
    {"command: [sleep, '1.x']", false, 0, 0, ""},
    {"command: [sleep, '-1']", false, 0, 0, ""},
    {"command: [sh, -e, -c, 'true']", false, 0, 0, ""},
    {"command: [nginx]", false, 0, 0, ""},
    {"command: ['']", false, 0, 0, ""},
};

static struct api_object *pod_of(struct arena *a, const char *container) {
    struct json tree;
    struct err err = {0};
    struct api_object *o;
    struct str text = arena_printf(
        a, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, %s}]}}",
        container);
    if (yml_parse(a, text, &tree, &err) < 0)
        fail_msg("%s: %s", container, err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    return o;
}

static bool read(struct arena *a, const struct api_object *pod, struct nodes__program *out) {
    return nodes__read_program(a, &((const struct api_pod *)pod->body)->spec.containers.v[0], out);
}

static void programs(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a = {0};
        struct nodes__program p = {0};
        struct buf output = BUF_INIT(4096);
        struct api_object *pod = pod_of(&a, rows[i].container);
        bool is_told = read(&a, pod, &p);
        for (size_t k = 0; k < p.n; k++)
            buf_addf(&output, "%lld %.*s\n", (long long)(p.lines[k].at / (CLOCK_SECOND / 1000)),
                     STR_ARG(p.lines[k].text));
        int64_t ms = p.runs == INT64_MAX ? FOREVER : p.runs / (CLOCK_SECOND / 1000);
        if (is_told != rows[i].is_told ||
            (is_told && (ms != rows[i].ms || p.exit_code != rows[i].exit_code ||
                         !str_is(buf_view(&output), rows[i].output))))
            fail_msg("%s: %d, %lld ms, exit %d, %.*s", rows[i].container, is_told, (long long)ms,
                     p.exit_code, STR_ARG(buf_view(&output)));
        buf_release(&output);
        api_object_free(pod);
        arena_release(&a);
    }
}

/* What is long is not read. */
static void limits(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        struct arena a = {0};
        struct nodes__program p;
        struct buf text = BUF_INIT(65536);
        buf_add(&text, STR("command: [echo, "));
        buf_add_fill(&text, 'x', LIMIT_SIMULATED_COMMAND_BYTES + (size_t)more);
        buf_add(&text, STR("]"));
        buf_add_char(&text, 0);
        struct api_object *pod = pod_of(&a, text.p);
        assert_int_equal(read(&a, pod, &p), !more);
        api_object_free(pod);
        buf_clear(&text);
        buf_add(&text, STR("command: [echo"));
        for (int i = 1; i < LIMIT_SIMULATED_COMMAND_WORDS + more; i++)
            buf_add(&text, STR(", x"));
        buf_add(&text, STR("]"));
        buf_add_char(&text, 0);
        pod = pod_of(&a, text.p);
        assert_int_equal(read(&a, pod, &p), !more);
        api_object_free(pod);
        buf_release(&text);
        arena_release(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
