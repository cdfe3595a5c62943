/* The table of gates: its own order and rules, and what it says at each version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <string.h>

#include "feature/feature.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static enum feature find(const char *name) {
    enum feature f;
    if (!feature_find(str_of(name), &f))
        fail_msg("no gate '%s'", name);
    return f;
}

static const struct feature_spec *spec_at(const char *name, uint64_t minor) {
    return feature_spec_at(find(name), (struct feature_version){1, minor},
                           (struct feature_version){1, minor - 1});
}

static void rows_are_sorted_and_found(void **state) {
    (void)state;
    assert_true(FEATURE_COUNT > 250);
    for (int i = 0; i < FEATURE_COUNT; i++) {
        struct str name = feature_name((enum feature)i);
        enum feature f = FEATURE_COUNT;
        assert_true(feature_find(name, &f));
        assert_int_equal(f, i);
        if (i > 0)
            assert_true(str_cmp(feature_name((enum feature)(i - 1)), name) < 0);
    }
    const char *const strangers[] = {"", "NoSuchGate", "allalpha", "AllAlph", "AllAlphaa"};
    for (size_t i = 0; i < COUNT(strangers); i++) {
        enum feature f = FEATURE_AllBeta;
        assert_false(feature_find(str_of(strangers[i]), &f));
        assert_int_equal(f, FEATURE_AllBeta);
    }
}

static int at(const struct feature_spec *s) {
    return s->major * 1000 + s->minor;
}

/* What component-base asks of every gate before it lets it in. */
static void histories_are_well_formed(void **state) {
    (void)state;
    int newest = 0;
    for (int i = 0; i < FEATURE_COUNT; i++) {
        size_t n;
        const struct feature_spec *s = feature_specs((enum feature)i, &n);
        assert_true(n >= 1);
        for (size_t k = 0; k < n; k++) {
            newest = at(&s[k]) > newest ? at(&s[k]) : newest;
            if (k == 0)
                continue;
            bool by_age = s[k].compat_major != s[k - 1].compat_major ||
                          s[k].compat_minor != s[k - 1].compat_minor;
            assert_true(at(&s[k]) > at(&s[k - 1]) || (at(&s[k]) == at(&s[k - 1]) && by_age));
            assert_true(s[k].stage >= s[k - 1].stage);
            assert_true(s[k].locked || !s[k - 1].locked);
            assert_true(s[k].stage != s[k - 1].stage || s[k].on != s[k - 1].on ||
                        s[k].locked != s[k - 1].locked);
        }
    }
    assert_int_equal(newest, FEATURE_NEWEST.major * 1000 + FEATURE_NEWEST.minor);
}

static const struct {
    const char *gate;
    uint64_t minor;
    enum feature_stage stage;
    bool on, locked;
} states[] = {
    {"TaintTolerationComparisonOperators", 34, FEATURE_PRE_ALPHA, false, false},
    {"TaintTolerationComparisonOperators", 35, FEATURE_ALPHA, false, false},
    {"TaintTolerationComparisonOperators", 37, FEATURE_ALPHA, false, false},
    {"TolerationAffinitySemverOperators", 36, FEATURE_PRE_ALPHA, false, false},
    {"TolerationAffinitySemverOperators", 37, FEATURE_ALPHA, false, false},
    {"TaintTolerationCEL", 37, FEATURE_ALPHA, false, false},
    {"MatchLabelKeysInPodAffinity", 28, FEATURE_PRE_ALPHA, false, false},
    {"MatchLabelKeysInPodAffinity", 29, FEATURE_ALPHA, false, false},
    {"MatchLabelKeysInPodAffinity", 32, FEATURE_BETA, true, false},
    {"MatchLabelKeysInPodAffinity", 33, FEATURE_GA, true, true},
    {"MatchLabelKeysInPodTopologySpread", 26, FEATURE_ALPHA, false, false},
    {"MatchLabelKeysInPodTopologySpread", 27, FEATURE_BETA, true, false},
    {"MatchLabelKeysInPodTopologySpread", 37, FEATURE_BETA, true, false},
    {"MatchLabelKeysInPodTopologySpreadSelectorMerge", 34, FEATURE_BETA, true, false},
    {"SchedulerPopFromBackoffQ", 37, FEATURE_BETA, true, false},
    {"SchedulerAsyncPreemption", 37, FEATURE_BETA, true, false},
    {"SchedulerAsyncAPICalls", 37, FEATURE_BETA, false, false},
    {"OpportunisticBatching", 37, FEATURE_BETA, true, false},
    {"NominatedNodeNameForExpectation", 37, FEATURE_BETA, true, false},
    {"ClearingNominatedNodeNameAfterBinding", 37, FEATURE_BETA, true, false},
    {"PodTopologyLabelsAdmission", 37, FEATURE_BETA, true, false},
    {"NodeDeclaredFeatures", 37, FEATURE_GA, true, true},
    {"GenericWorkload", 37, FEATURE_BETA, false, false},
    {"StorageCapacityScoring", 37, FEATURE_BETA, true, false},
    {"MutablePVNodeAffinity", 37, FEATURE_ALPHA, false, false},
    {"DRADeviceTaints", 35, FEATURE_ALPHA, false, false},
    {"DRADeviceTaints", 37, FEATURE_GA, true, false},
    {"DRADeviceTaintRules", 36, FEATURE_BETA, false, false},
    {"DRADeviceTaintRules", 37, FEATURE_GA, true, false},
    {"DynamicResourceAllocation", 37, FEATURE_GA, true, true},
    {"AllowOverwriteTerminationGracePeriodSeconds", 37, FEATURE_DEPRECATED, false, true},
};

static void gates_that_matter_here(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(states); i++) {
        const struct feature_spec *s = spec_at(states[i].gate, states[i].minor);
        if (s->stage != states[i].stage || s->on != states[i].on || s->locked != states[i].locked)
            fail_msg("%s at 1.%u: %s, %d, %d", states[i].gate, (unsigned)states[i].minor,
                     feature_stage_name(s->stage), s->on, s->locked);
    }
}

/* One gate is on by default only where no older component is left. */
static void some_defaults_wait_for_the_oldest_component(void **state) {
    (void)state;
    struct feature_version now = {1, 37}, before = {1, 36};
    assert_false(feature_spec_at(FEATURE_DRAFractionalCapacityRange, now, before)->on);
    assert_true(feature_spec_at(FEATURE_DRAFractionalCapacityRange, now, now)->on);
    assert_int_equal(feature_spec_at(FEATURE_DRAFractionalCapacityRange, before, now)->stage,
                     FEATURE_PRE_ALPHA);
}

static void versions_compare_by_major_first(void **state) {
    (void)state;
    struct feature_version two = {2, 0}, zero = {0, 99};
    assert_int_equal(feature_spec_at(FEATURE_DRADeviceTaints, two, two)->stage, FEATURE_GA);
    assert_int_equal(feature_spec_at(FEATURE_DRADeviceTaints, zero, zero)->stage,
                     FEATURE_PRE_ALPHA);
    assert_int_equal(feature_spec_at(FEATURE_AllAlpha, zero, zero)->stage, FEATURE_ALPHA);
}

static void stages_have_names(void **state) {
    (void)state;
    assert_string_equal(feature_stage_name(FEATURE_PRE_ALPHA), "PRE-ALPHA");
    assert_string_equal(feature_stage_name(FEATURE_ALPHA), "ALPHA");
    assert_string_equal(feature_stage_name(FEATURE_BETA), "BETA");
    assert_string_equal(feature_stage_name(FEATURE_GA), "GA");
    assert_string_equal(feature_stage_name(FEATURE_DEPRECATED), "DEPRECATED");
}

static void a_set_is_bits(void **state) {
    (void)state;
    struct feature_set set = {0};
    for (int i = 0; i < FEATURE_COUNT; i++) {
        enum feature f = (enum feature)i;
        assert_false(feature_enabled(&set, f));
        feature_set_put(&set, f, true);
        assert_true(feature_enabled(&set, f));
        for (int k = 0; k < FEATURE_COUNT; k++)
            assert_int_equal(feature_enabled(&set, (enum feature)k), k == i);
        feature_set_put(&set, f, false);
    }
}

/* Every line of help at a version, in order; the lines that matter are looked for. */
static void help_lists_what_can_be_set(void **state) {
    (void)state;
    struct feature_config c;
    feature_config_init(&c, FEATURE_NEWEST);
    struct buf help = BUF_INIT(1 << 20);
    feature_write_help(&help, &c);
    const char *const shown[] = {
        "\nAllAlpha=true|false (ALPHA - default=false)\n",
        "\nAllBeta=true|false (BETA - default=false)\n",
        "\nDRAFractionalCapacityRange=true|false (BETA - default=false), or "
        "DRAFractionalCapacityRange=true|false (BETA - default=true) if "
        "--min-compatibility-version>=1.37\n",
        "\nMatchLabelKeysInPodTopologySpread=true|false (BETA - default=true)\n",
        "\nTaintTolerationComparisonOperators=true|false (ALPHA - default=false)\n",
    };
    for (size_t i = 0; i < COUNT(shown); i++)
        assert_true(str_find(buf_view(&help), str_of(shown[i])) != STR_NONE);
    const char *const hidden[] = {
        "DRADeviceTaints=", "MatchLabelKeysInPodAffinity=", "AllowOverwriteTermination"};
    for (size_t i = 0; i < COUNT(hidden); i++)
        assert_true(str_find(buf_view(&help), str_of(hidden[i])) == STR_NONE);
    struct str rest = buf_view(&help), line, last = STR("");
    for (bool more = true; more; last = line) {
        more = str_cut(rest, '\n', &line, &rest);
        assert_true(str_cmp(last, line) < 0);
    }
    buf_clear(&help);
    feature_config_init(&c, (struct feature_version){1, 34});
    feature_write_help(&help, &c);
    assert_true(str_find(buf_view(&help), STR("TaintTolerationComparisonOperators")) == STR_NONE);
    assert_true(str_find(buf_view(&help), STR("\nDRADeviceTaints=true|false (ALPHA - "
                                              "default=false)\n")) != STR_NONE);
    buf_release(&help);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sorted_and_found),
        cmocka_unit_test(histories_are_well_formed),
        cmocka_unit_test(gates_that_matter_here),
        cmocka_unit_test(some_defaults_wait_for_the_oldest_component),
        cmocka_unit_test(versions_compare_by_major_first),
        cmocka_unit_test(stages_have_names),
        cmocka_unit_test(a_set_is_bits),
        cmocka_unit_test(help_lists_what_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
