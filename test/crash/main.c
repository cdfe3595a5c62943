/*
 * crash_store PROGRAM SHIM DIRECTORY kills `berth apiserver` and breaks its disk, and checks what
 * is left: see README.md. KILLS, FAULTS, SEED, LANES, CONNECTIONS and ONLY of the environment
 * say how much, and of what.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "lane.h"

enum { LANES_MOST = 16 };

static uint64_t number_from(const char *name, int64_t otherwise) {
    int64_t number = otherwise;
    const char *text = getenv(name);
    if (text && *text && (!str_to_i64(str_of(text), &number) || number < 0)) {
        fprintf(stderr, "error: %s=%s is no number\n", name, text);
        exit(2);
    }
    return (uint64_t)number;
}

/* A part of the name of faults: the others are left out. */
static const char *part_from(const char *name) {
    const char *text = getenv(name);
    for (int i = 0; i < FAULTS; i++)
        if (!text || strstr(faults[i].name, text))
            return text ? text : "";
    fprintf(stderr, "error: %s=%s is in the name of no fault\n", name, text);
    exit(2);
}

/* ---- figures ---- */

static void add_fault(struct fault_tally *to, const struct fault_tally *from) {
    to->came += from->came;
    to->power_cuts += from->power_cuts;
    to->refused_answers += from->refused_answers;
    to->ended += from->ended;
    to->lost += from->lost;
    to->damage_told += from->damage_told;
    if (from->sample[0])
        memcpy(to->sample, from->sample, sizeof to->sample);
}

static struct tally sum(const struct tally *tallies, uint64_t lanes) {
    struct tally all = {0};
    for (uint64_t i = 0; i < lanes; i++) {
        const struct tally *t = &tallies[i];
        for (int j = 0; j < MOMENTS; j++)
            all.kills[j] += t->kills[j];
        for (int j = 0; j < FAULTS; j++)
            add_fault(&all.faults[j], &t->faults[j]);
        all.missed += t->missed;
        all.starts += t->starts;
        all.stores += t->stores;
        all.checks += t->checks;
        all.acknowledged += t->acknowledged;
        all.unanswered += t->unanswered;
        all.survived += t->survived;
        all.events += t->events;
        all.rewound += t->rewound;
        all.listed += t->listed;
        if (t->longest_us > all.longest_us)
            all.longest_us = t->longest_us;
    }
    return all;
}

static uint64_t kills_of(const struct tally *t) {
    uint64_t n = 0;
    for (int i = 0; i < MOMENTS; i++)
        n += t->kills[i];
    return n;
}

static uint64_t faults_of(const struct tally *t) {
    uint64_t n = 0;
    for (int i = 0; i < FAULTS; i++)
        n += t->faults[i].came;
    return n;
}

static void print_progress(const struct tally *t, int64_t since) {
    printf("%llu kills, %llu faults, %llu writes acknowledged, %lld s\n",
           (unsigned long long)kills_of(t), (unsigned long long)faults_of(t),
           (unsigned long long)t->acknowledged, (long long)((now_ms() - since) / 1000));
    fflush(stdout);
}

static void print_faults(const struct tally *t) {
    printf("\n%-42s %7s %7s %9s %7s %7s %7s\n", "disk", "came", "power", "answers", "ended by",
           "lost", "damage");
    printf("%-42s %7s %7s %9s %7s %7s %7s\n", "", "", "cut", "refused", "itself", "acked", "told");
    for (int i = 0; i < FAULTS; i++) {
        const struct fault_tally *f = &t->faults[i];
        printf("%-42s %7llu %7llu %9llu %7llu %7llu %7llu\n", faults[i].name,
               (unsigned long long)f->came, (unsigned long long)f->power_cuts,
               (unsigned long long)f->refused_answers, (unsigned long long)f->ended,
               (unsigned long long)f->lost, (unsigned long long)f->damage_told);
    }
    for (int i = 0; i < FAULTS; i++)
        if (t->faults[i].sample[0])
            printf("\n%s:\n    %s\n", faults[i].name, t->faults[i].sample);
}

static void print_table(const struct tally *t, int64_t since) {
    printf("\n%-42s %7s\n", "kills", "");
    for (int i = 0; i < MOMENTS; i++)
        printf("%-42s %7llu\n", moment_names[i], (unsigned long long)t->kills[i]);
    print_faults(t);
    printf("\n%llu kills and %llu disk faults in %lld s: %llu starts of %llu stores, the slowest "
           "with its checks %.2f s\n",
           (unsigned long long)kills_of(t), (unsigned long long)faults_of(t),
           (long long)((now_ms() - since) / 1000), (unsigned long long)t->starts,
           (unsigned long long)t->stores, (double)t->longest_us / 1e6);
    printf("%llu writes acknowledged, %llu left open (%llu of them were there), %llu "
           "events, %llu of them read again, %llu lists, %llu checks of the file\n",
           (unsigned long long)t->acknowledged, (unsigned long long)t->unanswered,
           (unsigned long long)t->survived, (unsigned long long)t->events,
           (unsigned long long)t->rewound, (unsigned long long)t->listed,
           (unsigned long long)t->checks);
}

/* ---- lanes ---- */

static pid_t start_lane(const struct lane_opts *all, uint64_t number, uint64_t lanes,
                        struct tally *tally) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char directory[4096];
    struct lane_opts opts = *all;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(directory, sizeof directory, "%s/lane-%llu", all->directory,
             (unsigned long long)number);
    opts.directory = directory;
    opts.seed = all->seed * 1000 + number;
    opts.kills = all->kills / lanes + (number < all->kills % lanes);
    opts.faults = all->faults / lanes + (number < all->faults % lanes);
    lane_run(&opts, tally);
    exit(0);
}

/* Waits for all lanes; true if nothing was wrong in any of them. */
static bool wait_for_lanes(const struct tally *tallies, uint64_t lanes, int64_t since) {
    uint64_t left = lanes;
    bool good = true;
    for (int64_t next = since + 10000; left && good;) {
        int status;
        while (left && waitpid(-1, &status, WNOHANG) > 0) {
            left--;
            good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        usleep(20000);
        if (now_ms() < next)
            continue;
        struct tally all = sum(tallies, lanes);
        print_progress(&all, since);
        next += 10000;
    }
    return good;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: crash_store PROGRAM SHIM DIRECTORY\n");
        return 2;
    }
    struct lane_opts opts = {.program = argv[1],
                             .shim = argv[2],
                             .directory = argv[3],
                             .kills = number_from("KILLS", 20),
                             .faults = number_from("FAULTS", 20),
                             .seed = number_from("SEED", 1),
                             .connections = (uint32_t)number_from("CONNECTIONS", 32),
                             .only = part_from("ONLY")};
    uint64_t lanes = number_from("LANES", 2);
    int64_t since = now_ms();
    if (lanes < 1 || lanes > LANES_MOST || opts.connections > WRITERS_MOST) {
        fprintf(stderr, "error: LANES up to %d, CONNECTIONS up to %d\n", LANES_MOST, WRITERS_MOST);
        return 2;
    }
    struct tally *tallies = mmap(NULL, LANES_MOST * sizeof *tallies, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED)
        BUG("no memory to share");
    signal(SIGPIPE, SIG_IGN);
    for (uint64_t i = 0; i < lanes; i++)
        if (start_lane(&opts, i, lanes, &tallies[i]) < 0)
            BUG("no process");
    bool good = wait_for_lanes(tallies, lanes, since);
    struct tally all = sum(tallies, lanes);
    print_table(&all, since);
    printf("%s; SEED=%llu\n", good ? "all is well" : "something is wrong",
           (unsigned long long)opts.seed);
    return good ? 0 : 1;
}
