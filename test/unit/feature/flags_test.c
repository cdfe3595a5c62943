/* Flags: which gates they switch, and the exact text of every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "feature/feature.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The value of a flag; NULL = not given. */
static struct feature_flag flag(const char *value, struct str *room) {
    *room = str_of(value);
    return (struct feature_flag){room, value ? 1 : 0};
}

static int configure(const char *gates, const char *emulated, const char *min_compat,
                     struct feature_config *c, struct err *err) {
    struct str rooms[3];
    const struct feature_flags flags = {.gates = flag(gates, &rooms[0]),
                                        .emulated = flag(emulated, &rooms[1]),
                                        .min_compat = flag(min_compat, &rooms[2])};
    return feature_configure(&flags, c, err);
}

static const struct {
    const char *gates, *emulated, *min_compat;
    const char *on, *off; /* one gate each that tells */
} accepted[] = {
    {NULL, NULL, NULL, "DRADeviceTaints", "TaintTolerationComparisonOperators"},
    {"", NULL, NULL, "DRADeviceTaints", "TaintTolerationCEL"},
    {NULL, "1.35", NULL, "MatchLabelKeysInPodAffinity", "DRADeviceTaints"},
    {NULL, "kube=1.35", NULL, "MatchLabelKeysInPodAffinity", "DRADeviceTaints"},
    {NULL, " kube = v1.35.0-rc.1 ", NULL, "MatchLabelKeysInPodAffinity", "DRADeviceTaints"},
    {NULL, "\t1.35 or so", NULL, "MatchLabelKeysInPodAffinity", "DRADeviceTaints"},
    {NULL, "1.035", NULL, "MatchLabelKeysInPodAffinity", "DRADeviceTaints"},
    {NULL, NULL, "1.37", "DRAFractionalCapacityRange", "AllAlpha"},
    {NULL, NULL, "1.36", "DRADeviceTaints", "DRAFractionalCapacityRange"},
    {"TaintTolerationCEL=true,DRADeviceTaintRules=false", NULL, NULL, "TaintTolerationCEL",
     "DRADeviceTaintRules"},
    {" TaintTolerationCEL = true ,, ,TolerationAffinitySemverOperators=0", NULL, NULL,
     "TaintTolerationCEL", "TolerationAffinitySemverOperators"},
    {"kube:TaintTolerationCEL=t, kube : DRADeviceTaintRules=F", NULL, NULL, "TaintTolerationCEL",
     "DRADeviceTaintRules"},
    {"\xe3\x80\x80TaintTolerationCEL=\xc2\xa0True", NULL, NULL, "TaintTolerationCEL", "AllBeta"},
    /* the later value of one gate wins */
    {"TaintTolerationCEL=false,TaintTolerationCEL=true", NULL, NULL, "TaintTolerationCEL",
     "AllAlpha"},
    {"DRADeviceTaintRules=true,DRADeviceTaintRules=false", NULL, NULL, "DRADeviceTaints",
     "DRADeviceTaintRules"},
    /* a named gate wins over its stage, in any order */
    {"AllBeta=false,MatchLabelKeysInPodTopologySpread=true", NULL, NULL,
     "MatchLabelKeysInPodTopologySpread", "SchedulerAsyncPreemption"},
    {"MatchLabelKeysInPodTopologySpread=true,AllBeta=false", NULL, NULL,
     "MatchLabelKeysInPodTopologySpread", "SchedulerAsyncPreemption"},
    {"AllBeta=true", NULL, NULL, "SchedulerAsyncAPICalls", "TaintTolerationCEL"},
    {"AllAlpha=true,AllBeta=true,TaintTolerationCEL=false", NULL, NULL,
     "TolerationAffinitySemverOperators", "TaintTolerationCEL"},
    {"AllAlpha=false,TaintTolerationCEL=1", NULL, NULL, "TaintTolerationCEL",
     "TolerationAffinitySemverOperators"},
    {"AllAlpha=true,EventedPLEG=false", "1.36", NULL, "TaintTolerationComparisonOperators",
     "TaintTolerationCEL"},
    /* the rollback of KEP-3633 */
    {"MatchLabelKeysInPodAffinity=false", "1.32", NULL, "MatchLabelKeysInPodTopologySpread",
     "MatchLabelKeysInPodAffinity"},
    {NULL, "1.31", NULL, "MatchLabelKeysInPodAffinity", "TaintTolerationComparisonOperators"},
    {NULL, "1.29", NULL, "MatchLabelKeysInPodTopologySpread", "MatchLabelKeysInPodAffinity"},
    {"MatchLabelKeysInPodAffinity=true", "1.29", NULL, "MatchLabelKeysInPodAffinity", "AllAlpha"},
    /* a locked gate may be set to what it is */
    {"MatchLabelKeysInPodAffinity=true", NULL, NULL, "MatchLabelKeysInPodAffinity", "AllAlpha"},
};

static void assert_gate(const struct feature_config *c, const char *name, bool on, size_t row) {
    enum feature f;
    assert_true(feature_find(str_of(name), &f));
    if (feature_enabled(&c->enabled, f) != on)
        fail_msg("row %zu: %s is %s", row, name, on ? "off" : "on");
}

static void accepted_flags(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(accepted); i++) {
        struct feature_config c;
        struct err err = {0};
        if (configure(accepted[i].gates, accepted[i].emulated, accepted[i].min_compat, &c, &err))
            fail_msg("row %zu: %s", i, err.msg);
        assert_gate(&c, accepted[i].on, true, i);
        assert_gate(&c, accepted[i].off, false, i);
    }
}

#define X100                                                                                       \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
    "xxxxxxxx"

static const struct {
    const char *gates, *emulated, *min_compat;
    const char *text;
} refused[] = {
    {"Foo", NULL, NULL, "missing bool value for Foo"},
    {" AllAlpha ,A=true", NULL, NULL, "missing bool value for AllAlpha"},
    {"A=yes", NULL, NULL,
     "invalid value of A=yes, err: strconv.ParseBool: parsing \"yes\": invalid syntax"},
    {"A= t\"\xc3\xa9\x01 ", NULL, NULL,
     "invalid value of A=t\"\xc3\xa9\x01, err: strconv.ParseBool: parsing "
     "\"t\\\"\xc3\xa9\\x01\": invalid syntax"},
    {"A=", NULL, NULL, "invalid value of A=, err: strconv.ParseBool: parsing \"\": invalid syntax"},
    {"=true", NULL, NULL, "unrecognized feature gate: "},
    {"taintTolerationCEL=true", NULL, NULL, "unrecognized feature gate: taintTolerationCEL"},
    {"Nope=true,Nada=true", NULL, NULL, "unrecognized feature gate: Nope"},
    /* all of the syntax is read before any name is looked up */
    {"Nope=true,AllBeta", NULL, NULL, "missing bool value for AllBeta"},
    {"MatchLabelKeysInPodAffinity=false", NULL, NULL,
     "cannot set feature gate MatchLabelKeysInPodAffinity to false, feature is locked to true"},
    {"AllowOverwriteTerminationGracePeriodSeconds=true", NULL, NULL,
     "cannot set feature gate AllowOverwriteTerminationGracePeriodSeconds to true, feature is "
     "locked to false"},
    {"TaintTolerationCEL=false", "1.36", NULL,
     "cannot set feature gate TaintTolerationCEL to false, feature is PreAlpha at emulated version "
     "1.36, min compatibility version 1.35"},
    {"TaintTolerationCEL=true", "1.34", NULL,
     "cannot set feature gate TaintTolerationCEL to true, feature is PreAlpha at emulated version "
     "1.34, min compatibility version 1.34"},
    {"TaintTolerationCEL=true,MatchLabelKeysInPodAffinity=0", "1.36", "1.36",
     "[cannot set feature gate MatchLabelKeysInPodAffinity to false, feature is locked to true, "
     "cannot set feature gate TaintTolerationCEL to true, feature is PreAlpha at emulated version "
     "1.36, min compatibility version 1.36]"},
    {"DRADeviceTaints=false", NULL, NULL,
     "DRADeviceTaintRules is enabled, but depends on features that are disabled: "
     "[DRADeviceTaints]"},
    {"AllAlpha=true", "1.35", NULL,
     "EventedPLEG is enabled, but depends on features that are disabled: [PLEGOnDemandRelist]"},
    {"DRADeviceTaints=false,AllAlpha=true", "1.35", NULL,
     "[DRADeviceTaintRules is enabled, but depends on features that are disabled: "
     "[DRADeviceTaints], EventedPLEG is enabled, but depends on features that are disabled: "
     "[PLEGOnDemandRelist]]"},
    {"CompositePodGroup=true", NULL, NULL,
     "CompositePodGroup is enabled, but depends on features that are disabled: [GenericWorkload "
     "TopologyAwareWorkloadScheduling]"},
    {"wardle:A=true", NULL, NULL, "component not registered: wardle"},
    {"AllAlpha=true,kube:AllBeta=true", NULL, NULL,
     "set kube feature gates with default empty prefix or kube: prefix consistently, do not mix "
     "use"},
    {NULL, "1.38", NULL, "emulation version 1.38 is not between [1.29, 1.37.0]"},
    {NULL, "1.28", NULL,
     "[emulation version 1.28 is not between [1.29, 1.37.0], minCompatibilityVersion version 1.29 "
     "is not between [1.29, 1.28]]"},
    {NULL, "2.0", NULL, "emulation version 2.0 is not between [1.29, 1.37.0]"},
    {NULL, "1.18446744073709551615", NULL,
     "emulation version 1.18446744073709551615 is not between [1.29, 1.37.0]"},
    {NULL, "1.36", "1.37", "minCompatibilityVersion version 1.37 is not between [1.29, 1.36]"},
    {NULL, NULL, "1.2", "minCompatibilityVersion version 1.2 is not between [1.29, 1.37]"},
    {NULL, "x", NULL, "could not parse \"x\" as version"},
    {NULL, "kube=", NULL, "could not parse \"\" as version"},
    {NULL, "1.36,", NULL, "could not parse \"\" as version"},
    {NULL, "\v1.36", NULL, "could not parse \"\\v1.36\" as version"},
    {NULL, "1.36\nfoo", NULL, "could not parse \"1.36\\nfoo\" as version"},
    {NULL, "1", NULL, "illegal version string \"1\""},
    {NULL, "1.", NULL, "illegal version string \"1.\""},
    {NULL, "01.36", NULL, "illegal zero-prefixed version component \"01\" in \"01.36\""},
    {NULL, "1.18446744073709551616", NULL,
     "illegal non-numeric version component \"18446744073709551616\" in "
     "\"1.18446744073709551616\": strconv.ParseUint: parsing \"18446744073709551616\": value out "
     "of range"},
    {NULL, "1.36.1", NULL, "patch version not allowed, got: kube=1.36.1"},
    {NULL, "wardle=1.36.1", NULL, "patch version not allowed, got: wardle=1.36.1"},
    {NULL, "1.036.01.7", NULL, "patch version not allowed, got: kube=1.36.1.7"},
    {NULL, "v1.36.1-rc.1+b.2 ", NULL, "patch version not allowed, got: kube=1.36.1-rc.1+b.2"},
    {NULL, "1.36.1-0", NULL, "patch version not allowed, got: kube=1.36.1-0"},
    {NULL, "1.36.1-00a", NULL, "patch version not allowed, got: kube=1.36.1-00a"},
    {NULL, "1.36.1+00", NULL, "patch version not allowed, got: kube=1.36.1+00"},
    /* what is not a semantic version loses what stands behind the numbers */
    {NULL, "1.36.1-01", NULL, "patch version not allowed, got: kube=1.36.1"},
    {NULL, "1.36.1-a_b", NULL, "patch version not allowed, got: kube=1.36.1"},
    {NULL, "1.36.1-a..b", NULL, "patch version not allowed, got: kube=1.36.1"},
    {NULL, "1.36.1-", NULL, "patch version not allowed, got: kube=1.36.1"},
    {NULL, "1.36.1+", NULL, "patch version not allowed, got: kube=1.36.1"},
    {NULL, "1.36,kube=1.35", NULL, "duplicate version flag, kube=1.36 and kube=1.35"},
    {NULL, "wardle=1.2,other=1.3", NULL, "component not registered: wardle"},
    {NULL, NULL, "=1.36", "component not registered: "},
    /* the versions come first */
    {"Foo", "x", NULL, "could not parse \"x\" as version"},
    {"Foo", NULL, "x", "could not parse \"x\" as version"},
    {"Foo", "1.33", NULL, "missing bool value for Foo"},
};

static void refused_flags(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct feature_config c = {.emulated = {77, 77}};
        struct err err = {0};
        assert_int_equal(
            configure(refused[i].gates, refused[i].emulated, refused[i].min_compat, &c, &err), -1);
        assert_string_equal(err.msg, refused[i].text);
        assert_int_equal(err.code, ERR_USAGE);
        assert_int_equal(c.emulated.major, 77); /* untouched */
    }
}

static const struct {
    const char *gates, *emulated;
    const char *missing;
} incomplete[] = {
    {"AllAlpha=true", NULL, "GenericWorkload=true"},
    {"AllAlpha=true", "1.35", "EventedPLEG=false"},
    /* what is needed needs something itself */
    {"WorkloadWithJob=true,CompositePodGroup=true", NULL,
     "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"},
    {"CompositePodGroup=true,GenericWorkload=false", NULL, ""}, /* both are named */
    {"AllAlpha=true,GenericWorkload=false,AllBeta=true", NULL,
     "CompositePodGroup=false,DRAWorkloadResourceClaims=false,PodGroupPreemptionPolicy=false,"
     "TopologyAwareWorkloadScheduling=false,WorkloadWithJob=false"},
    {"TaintTolerationCEL=true", NULL, ""},
    {"Nope=true", NULL, ""},
};

static void what_is_missing_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(incomplete); i++) {
        struct str rooms[2];
        struct feature_flags flags = {.gates = flag(incomplete[i].gates, &rooms[0]),
                                      .emulated = flag(incomplete[i].emulated, &rooms[1])};
        AUTO(buf_release) struct buf out = BUF_INIT(1024);
        feature_write_missing(&out, &flags);
        if (!str_is(buf_view(&out), incomplete[i].missing))
            fail_msg("row %zu: %.*s", i, STR_ARG(buf_view(&out)));
    }
}

static void a_locked_gate_can_be_unlocked(void **state) {
    (void)state;
    struct str room;
    struct feature_flags flags = {.gates = flag("MatchLabelKeysInPodAffinity=false", &room)};
    struct feature_config c;
    struct err err;
    assert_int_equal(feature_configure(&flags, &c, &err), -1);
    flags.unlock = true;
    assert_int_equal(feature_configure(&flags, &c, &err), 0);
    assert_false(feature_enabled(&c.enabled, FEATURE_MatchLabelKeysInPodAffinity));
}

static void long_texts_are_cut(void **state) {
    (void)state;
    struct feature_config c;
    struct err err;
    assert_int_equal(configure("A=" X100 X100 X100 X100 X100 X100, NULL, NULL, &c, &err), -1);
    assert_int_equal(strlen(err.msg), ERR_TEXT - 1);
    assert_int_equal(configure(NULL, X100 X100 X100 X100 X100 X100, NULL, &c, &err), -1);
    assert_int_equal(strlen(err.msg), ERR_TEXT - 1);
    assert_true(str_ends(str_of(err.msg), STR("...")));
}

static void flags_may_be_repeated(void **state) {
    (void)state;
    const struct str gates[] = {STR("TaintTolerationCEL=false,AllBeta=true"), STR(""),
                                STR("TaintTolerationCEL=true")};
    const struct str emulated[] = {STR(""), STR("1.37")};
    struct feature_flags flags = {.gates = {gates, 3}, .emulated = {emulated, 2}};
    struct feature_config c;
    struct err err;
    assert_int_equal(feature_configure(&flags, &c, &err), 0);
    assert_true(feature_enabled(&c.enabled, FEATURE_TaintTolerationCEL));
    assert_true(feature_enabled(&c.named, FEATURE_TaintTolerationCEL));
    assert_true(feature_enabled(&c.enabled, FEATURE_AllBeta));
    assert_false(feature_enabled(&c.named, FEATURE_SchedulerAsyncAPICalls));
    const struct str twice[] = {STR("1.36"), STR("1.35")};
    flags.emulated = (struct feature_flag){twice, 2};
    assert_int_equal(feature_configure(&flags, &c, &err), -1);
    assert_string_equal(err.msg, "duplicate version flag, kube=1.36 and kube=1.35");
}

/* No flags, and the defaults of each version: all of them agree with what gates need. */
static void defaults_are_accepted_at_every_version(void **state) {
    (void)state;
    struct feature_config init, told;
    struct err err;
    const char *const versions[] = {"1.34", "1.35", "1.36", "1.37"};
    for (size_t i = 0; i < COUNT(versions); i++) {
        feature_config_init(&init, (struct feature_version){1, 34 + i});
        assert_int_equal(configure(NULL, versions[i], NULL, &told, &err), 0);
        assert_memory_equal(&init.enabled, &told.enabled, sizeof init.enabled);
        assert_int_equal(told.emulated.minor, 34 + i);
        assert_int_equal(told.min_compat.minor, i ? 33 + i : 34);
    }
    feature_config_init(&init, (struct feature_version){0, 0});
    assert_int_equal(init.min_compat.minor, 0);
    assert_false(feature_enabled(&init.enabled, FEATURE_DynamicResourceAllocation));
}

static char logged[4000];

static const char *log_of(const char *gates, const char *emulated) {
    struct feature_config c;
    struct err err;
    struct clock_manual clock;
    int ends[2];
    assert_int_equal(configure(gates, emulated, NULL, &c, &err), 0);
    assert_int_equal(pipe(ends), 0);
    clock_manual_init(&clock, 0);
    feature_config_log(&c, &(struct log){ends[1], 0, LOG_TEXT, &clock.clock});
    close(ends[1]);
    ssize_t n = read(ends[0], logged, sizeof logged - 1);
    close(ends[0]);
    logged[n > 0 ? n : 0] = '\0';
    return logged;
}

static void what_will_go_away_is_said(void **state) {
    (void)state;
    const char *text = log_of("DRADeviceTaintRules=false,AllowDNSOnlyNodeCSR=true,AllBeta=true,"
                              "TaintTolerationCEL=true",
                              NULL);
    assert_non_null(strstr(text, "] \"Warning: setting GA feature gate. It will be removed in a "
                                 "future release.\" featureGate=\"DRADeviceTaintRules\" "
                                 "value=false\n"));
    assert_non_null(strstr(text, "] \"Warning: setting deprecated feature gate. It will be removed "
                                 "in a future release.\" featureGate=\"AllowDNSOnlyNodeCSR\" "
                                 "value=true\n"));
    assert_null(strstr(text, "AllBeta"));
    assert_null(strstr(text, "TaintTolerationCEL"));
    text = log_of("TaintTolerationComparisonOperators=true,AllowDNSOnlyNodeCSR=false", "1.35");
    assert_non_null(strstr(text, "W0101 00:00:00.000000 flags.c:"));
    assert_non_null(strstr(text, "] \"component has alpha features enabled in emulated version, "
                                 "this is unsupported\" "
                                 "features=\"TaintTolerationComparisonOperators\"\n"));
    assert_string_equal(log_of(NULL, "1.35"), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_flags),
        cmocka_unit_test(refused_flags),
        cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(a_locked_gate_can_be_unlocked),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(flags_may_be_repeated),
        cmocka_unit_test(defaults_are_accepted_at_every_version),
        cmocka_unit_test(what_will_go_away_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
