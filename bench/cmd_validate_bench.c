/*
 * What `berth validate` costs on many small files, as a repository of manifests has them, and on
 * the same pods as one list. Each run is a process of its own, from a warm disk: its time on the
 * clock, its processor time, and the most memory it had.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"

enum { PODS = 35000, PER_FOLDER = 1000, ROUNDS = 5 };

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void write_pod(FILE *f, int i) {
    fprintf(f,
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web-%d\n  labels:\n    app: web\n"
            "    tier: front\nspec:\n  tolerations:\n  - key: sla\n    operator: Equal\n"
            "    value: \"950\"\n    effect: NoSchedule\n  nodeSelector:\n    disk: ssd\n"
            "  containers:\n  - name: app\n    image: registry.example.com/web:1.%d\n    ports:\n"
            "    - containerPort: 8080\n    resources:\n      requests:\n        cpu: 100m\n"
            "        memory: 128Mi\n",
            i, i % 50);
}

static void write_json_pod(FILE *f, int i) {
    fprintf(f,
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-%d\",\"labels\":"
            "{\"app\":\"web\",\"tier\":\"front\"}},\"spec\":{\"tolerations\":[{\"key\":\"sla\","
            "\"operator\":\"Equal\",\"value\":\"950\",\"effect\":\"NoSchedule\"}],"
            "\"nodeSelector\":{\"disk\":\"ssd\"},\"containers\":[{\"name\":\"app\",\"image\":"
            "\"registry.example.com/web:1.%d\",\"ports\":[{\"containerPort\":8080}],\"resources\":"
            "{\"requests\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"}}}]}}\n",
            i, i % 50);
}

static FILE *create(const char *dir, int n, const char *ending) {
    char path[256];
    snprintf(path, sizeof path, "%s/%d.%s", dir, n, ending);
    FILE *f = fopen(path, "w");
    if (!f)
        die(path);
    return f;
}

/* DIR/NN/N.yaml or .json, one pod each. */
static void make_files(const char *dir, const char *ending, void (*write)(FILE *f, int i)) {
    if (mkdir(dir, 0700) < 0)
        die(dir);
    for (int i = 0; i < PODS; i++) {
        char folder[200];
        snprintf(folder, sizeof folder, "%s/%02d", dir, i / PER_FOLDER);
        if (i % PER_FOLDER == 0 && mkdir(folder, 0700) < 0)
            die(folder);
        FILE *f = create(folder, i, ending);
        write(f, i);
        fclose(f);
    }
}

static void make_list(const char *dir) {
    FILE *f = create(dir, PODS, "json");
    fputs("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n", f);
    for (int i = 0; i < PODS; i++) {
        fputs(i ? "," : "", f);
        write_json_pod(f, i);
    }
    fputs("]}\n", f);
    fclose(f);
}

static int run_berth(const char *path, const char *extra) {
    static const char *const no_env[] = {NULL};
    int null = open("/dev/null", O_RDWR);
    struct cmd_ctx ctx;
    cmd_ctx_init(&ctx, null, null, null, no_env);
    struct arena a = {0};
    struct opt_list words = {0};
    const char *line[] = {"validate", "-R", "-f", path, extra};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++)
        if (line[i])
            opt_list_add(&a, &words, str_of(line[i]));
    return cmd_main(&ctx, &words);
}

struct cost {
    double wall, cpu, mib;
};

static double seconds(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static struct cost measure(const char *path, const char *extra) {
    struct timespec from, to;
    struct rusage usage;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run_berth(path, extra));
    if (wait4(pid, &status, 0, &usage) < 0 || status != 0)
        die("berth validate");
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (struct cost){
        .wall = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9,
        .cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime),
        .mib = (double)usage.ru_maxrss / 1024,
    };
}

/* The best of some rounds: others work on the machine, too. */
static void report(const char *what, const char *path, const char *extra) {
    struct cost best = measure(path, extra);
    for (int i = 1; i < ROUNDS; i++) {
        struct cost c = measure(path, extra);
        best.wall = c.wall < best.wall ? c.wall : best.wall;
        best.cpu = c.cpu < best.cpu ? c.cpu : best.cpu;
        best.mib = c.mib > best.mib ? c.mib : best.mib;
    }
    printf("| %s | %.2f s | %.2f s | %.0f | %.1f MiB |\n", what, best.wall, best.cpu,
           PODS / best.cpu, best.mib);
    fflush(stdout);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

int main(void) {
    char dir[] = "/tmp/berth-validate-XXXXXX", yaml[64], json[64], list[64];
    if (!mkdtemp(dir))
        die("mkdtemp");
    snprintf(yaml, sizeof yaml, "%s/yaml", dir);
    snprintf(json, sizeof json, "%s/json", dir);
    snprintf(list, sizeof list, "%s/%d.json", dir, PODS);
    make_files(yaml, "yaml", write_pod);
    make_files(json, "json", write_json_pod);
    make_list(dir);
    printf("%d pods, best of %d runs\n\n", PODS, ROUNDS);
    printf("| input | time | processor time | pods/s of processor time | peak memory |\n"
           "|---|---|---|---|---|\n");
    report("one YAML file each", yaml, NULL);
    report("one JSON file each", json, NULL);
    report("one JSON list", list, NULL);
    report("one JSON list, `-o json`", list, "-ojson");
    report("one JSON list, `--no-warnings`", list, "--no-warnings");
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}
