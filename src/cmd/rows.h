/*
 * Rows that the option tables of several commands have. `place` is where the value goes: the
 * offset of a member of the command's options.
 */
#ifndef CMD_ROWS_H
#define CMD_ROWS_H

#include "cli/opt.h"

/* struct opt_list */
#define ROW_CONFIG(place)                                                          \
    {                                                                              \
        .name = "config", .kind = OPT_FILES, .value = "FILE",                      \
        .help = "KubeSchedulerConfiguration with profiles, plug-ins and weights.", \
        .offset = (place)                                                          \
    }

/* struct opt_list */
#define ROW_ASSUME_ALLOCATABLE(place)                                                           \
    {                                                                                           \
        .name = "assume-allocatable", .kind = OPT_LIST, .value = "RESOURCE=AMOUNT",             \
        .help =                                                                                 \
            "What nodes without status.allocatable offer, such as cpu=4,memory=16Gi,pods=110.", \
        .offset = (place)                                                                       \
    }

/* struct opt_list; text: what becomes of such objects */
#define ROW_SKIP(place, text) \
    { .name = "skip", .kind = OPT_LIST, .value = "KIND", .help = (text), .offset = (place) }

/* bool; text: what becomes of the files */
#define ROW_LIVE(place, text) \
    { .name = "live", .kind = OPT_FLAG, .help = (text), .offset = (place) }

#define ROW_LIVE_SCENE                                                                         \
    "Read the cluster of the kubeconfig, as without -f, and what -f brings over it. So it is " \
    "also "                                                                                    \
    "with --kubeconfig and --context."

#define ROW_SKIP_PODS                                                                             \
    "Kinds that are left out, with the pods that they would have, such as Rollout. Separated by " \
    "commas or given several times."

/* struct str; text: whose namespace it is */
#define ROW_NAMESPACE(place, text)                                                            \
    {                                                                                         \
        .name = "namespace", .letter = 'n', .kind = OPT_STR, .value = "NAME", .help = (text), \
        .offset = (place)                                                                     \
    }

/* int: the place of the word in `choices`; first: the word that holds when none is given */
#define ROW_OUTPUT(place, text, first, choices)                                               \
    {                                                                                         \
        .name = "output", .letter = 'o', .kind = OPT_ENUM, .value = "FORMAT", .help = (text), \
        .offset = (place), .fallback = (first), .words = (choices)                            \
    }

/* int: enum text_or_json */
enum text_or_json { AS_TEXT, AS_JSON };
#define ROW_TEXT_OR_JSON(place)                               \
    ROW_OUTPUT(place, "Output format: text or json.", "text", \
               ((const char *const[]){[AS_TEXT] = "text", [AS_JSON] = "json", NULL}))

/* struct opt_list */
#define ROW_TAINT(place)                                                                         \
    {                                                                                            \
        .name = "taint", .kind = OPT_TEXTS, .value = "TAINT",                                    \
        .help =                                                                                  \
            "A taint, such as sla=950:NoSchedule or gpu:NoExecute. Can be given several times.", \
        .offset = (place)                                                                        \
    }

#endif
