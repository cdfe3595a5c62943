/*
 * Objects of small clusters, made as bytes say: everything that the default plug-ins look at, few
 * names, so that objects meet. What is written here is as a server would store it.
 */
#ifndef TEST_SCHED_WALK_OBJECTS_H
#define TEST_SCHED_WALK_OBJECTS_H

#include <stdio.h>
#include <stdlib.h>

#include "api/object.h"
#include "base/buf.h"
#include "feature/feature.h"

/* The bytes that are left; behind their end all are 0. */
struct choices {
    const uint8_t *p;
    size_t n;
};

static inline unsigned pick(struct choices *c, unsigned n) {
    if (!c->n)
        return 0;
    c->n--;
    return *c->p++ % n;
}

/*
 * Texts to make objects from. <a|b|c> is one of the three, $name the rule of this name, and # what
 * was taken of the last <#a|b|c>. Quotes of JSON are ', and " stands for ' in strings.
 */
static const struct walk_rule {
    const char *name, *text;
} walk_rules[] = {
    {"selector", "<{'matchLabels':{'app':'<x|y|z>'}}|"
                 "{'matchExpressions':[{'key':'<app|tier>','operator':'<Exists|DoesNotExist>'}]}|"
                 "{'matchExpressions':[{'key':'app','operator':'<In|NotIn>','values':['x','<y|z>']}"
                 "]}|{}>"},
    {"effect", "'effect':'<|NoSchedule|PreferNoSchedule|NoExecute>'"},
    {"toleration",
     "{<'operator':'Exists'<|,'key':'k<0|1|2>'>|"
     "'key':'k<0|1|2>','operator':'Equal','value':'<5|950|x|>'|"
     "'key':'k<0|1|2>','operator':'<Gt|Lt>','value':'<4|5|940|960>'|"
     "'key':'k<0|1|2>','operator':'<SemverGt|SemverLt|SemverEq>','value':'<v1.2|1.9.0|1.10.0>'|"
     "'expression':'<taint.key.startsWith(\"k\")|taint.value == \"950\"|int(taint.value) == 5|"
     "semver(taint.value).isLessThan(semver(\"1.9.0\"))>'>,$effect}"},
    {"nodeterm",
     "<{'matchExpressions':[{'key':'zone','operator':'<In|NotIn>','values':['z<0|1|2>','z3']}]}|"
     "{'matchExpressions':[{'key':'size','operator':'<Gt|Lt>','values':['<0|2|4|6|8>']}]}|"
     "{'matchExpressions':[{'key':'version','operator':'<SemverGt|SemverLt|SemverEq>','values':"
     "['1.<2|9|11>']}]}|"
     "{'matchFields':[{'key':'metadata.name','operator':'In','values':['n<0|1|2|3|4|5>']}]}>"},
    {"nodeaffinity",
     "'nodeAffinity':{<'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':"
     "[$nodeterm<|,$nodeterm>]}|'preferredDuringSchedulingIgnoredDuringExecution':"
     "[{'weight':<1|50|100>,'preference':$nodeterm}]>}"},
    {"podterm", "{'topologyKey':'<zone|host|rack>','labelSelector':$selector"
                "<||,'namespaces':['<a|b|c>']|,'namespaceSelector':$selector>}"},
    {"podterms",
     "{<'requiredDuringSchedulingIgnoredDuringExecution':[$podterm<||,$podterm>]|"
     "'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':<1|50|100>,'podAffinityTerm':"
     "$podterm}]>}"},
    {"affinity", ",'affinity':{<$nodeaffinity|'podAffinity':$podterms|'podAntiAffinity':$podterms|"
                 "$nodeaffinity,'podAffinity':$podterms|"
                 "'podAffinity':$podterms,'podAntiAffinity':$podterms>}"},
    {"policies", "'nodeAffinityPolicy':'<Honor|Ignore>','nodeTaintsPolicy':'<Ignore|Honor>'"},
    {"hard", "{'topologyKey':'<zone|host|rack>','maxSkew':<1|2>,'whenUnsatisfiable':"
             "'DoNotSchedule',<|'minDomains':<2|3>,>$policies,'labelSelector':$selector}"},
    {"soft", "{'topologyKey':'<zone|host|rack>','maxSkew':<1|2>,'whenUnsatisfiable':"
             "'ScheduleAnyway',$policies,'labelSelector':$selector}"},
    {"spread", ",'topologySpreadConstraints':[<$hard|$soft|$hard,$soft>]"},
    {"container",
     "{'name':'c','image':'image<0|1|2>'<||,'ports':[{'containerPort':80,'hostPort':<80|81>,"
     "'protocol':'<TCP|UDP>','hostIP':'<|127.0.0.1|0.0.0.0>'}]>,'resources':{'requests':{"
     "<|'cpu':'<1|2>','ex.io/gpu':'1'|'cpu':'<1|5|12|25>00m','memory':'<0|1|3>Gi'>}}}"},
    {"podstart",
     "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p<0|1|2|3|4|5>','namespace':'<a|b|c>',"
     "<'uid':'u<0|0|0|1>',|'uid':'u0',|'uid':'u0',|>'labels':{'app':'<x|y|z>'<||,'tier':'t'>}<|||||"
     "||"
     ",'deletionTimestamp':'2026-01-01T00:00:00Z'>},'spec':{'containers':[$container],"
     "'priority':<0|10|20|30><||||,'preemptionPolicy':'Never'><|||||||||,'schedulerName':'other'>"
     "<|||||||||,'schedulingGates':[{'name':'g'}]><|||||||,'nodeSelector':{'zone':'z<0|1|2>'}>"
     "<|,'tolerations':[$toleration<|,$toleration>]><|$affinity><||$spread>"
     "<||,'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c<0|1>'}}]>"},
    {"pending", "$podstart}}"},
    {"pod",
     "$podstart<||,'nodeName':'n<0|1|2|3|4|5>'>},'status':{<|||||||||'phase':'Succeeded'>}}"},
    {"taint", "{'key':'k<0|1|2>','value':'<5|950|1.2.3|1.10.0|x|>','effect':"
              "'<NoSchedule|PreferNoSchedule|NoExecute>'}"},
    {"node",
     "{'apiVersion':'v1','kind':'Node','metadata':{'name':'n<#0|1|2|3|4|5>','labels':{'host':'n#'"
     "<|,'zone':'z<0|1|2|3>'|,'zone':'z<0|1>','topology.kubernetes.io/zone':'z<0|1>'>"
     "<||,'rack':'r<0|1>'><|,'size':'<1|3|5|7>','version':'v1.<1|5|10|11>.0'>}},"
     "'spec':{<|||||||'unschedulable':true,>'taints':[<|||$taint|$taint,$taint>]},"
     "'status':{'allocatable':{'cpu':'<1|4|8|16>','memory':'<1|8|16|32>Gi','pods':'<1|10|20>',"
     "'ex.io/gpu':'<0|1|2>'},'images':[{'names':['image<0|1|2>:latest'],'sizeBytes':500000000}]}}"},
    {"claim", "{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'c<#0|1>',"
              "'namespace':'<a|b|c>','uid':'uc#'<|,'annotations':"
              "{'pv.kubernetes.io/bind-completed':'yes'}>},'spec':{'accessModes':"
              "['<ReadWriteOnce|ReadWriteOncePod>'],'storageClassName':'s<0|1>','resources':"
              "{'requests':{'storage':'1Gi'}}<|,'volumeName':'v<0|1>'>}}"},
    {"volume", "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v<#0|1>',"
               "'labels':{<||'topology.kubernetes.io/zone':'z1'>}},'spec':{'capacity':{'storage':"
               "'<1|2>Gi'},'accessModes':['ReadWriteOnce'],'storageClassName':'s<0|1>',"
               "'csi':{'driver':'d.io','volumeHandle':'h#'}"
               "<|,'nodeAffinity':{'required':{'nodeSelectorTerms':[$nodeterm]}}>"
               "<|||,'claimRef':{'kind':'PersistentVolumeClaim','namespace':'<a|b|c>','name':"
               "'c<#0|1>','uid':'uc#'}>}}"},
    {"class", "{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':{'name':"
              "'s<0|1>'},'provisioner':'<d.io|kubernetes.io/no-provisioner>',"
              "'volumeBindingMode':'<WaitForFirstConsumer|Immediate>'<||,'allowedTopologies':"
              "[{'matchLabelExpressions':[{'key':'zone','values':['z0','z1']}]}]>}"},
    {"csinode", "{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':{'name':"
                "'n<0|1|2|3|4|5>'},'spec':{'drivers':[{'name':'d.io','nodeID':'x','allocatable':"
                "{'count':<0|1|2>}}]}}"},
    {"namespace", "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'<a|b|c>','labels':"
                  "{'app':'<x|y>'<|,'tier':'t'>}}}"},
    {"service", "{'apiVersion':'v1','kind':'Service','metadata':{'name':'s<0|1>','namespace':"
                "'<a|b|c>'},'spec':{'selector':{'app':'<x|y|z>'}}}"},
    {"budget", "{'apiVersion':'policy/v1','kind':'PodDisruptionBudget','metadata':{'name':'b<0|1>',"
               "'namespace':'<a|b|c>'},'spec':{'selector':$selector},'status':"
               "{'disruptionsAllowed':<0|1|2>}}"},
    {"other", "<$namespace|$namespace|$claim|$claim|$claim|$volume|$volume|$class|$csinode|$"
              "service|$budget>"},
};

static inline struct str walk_rule(struct str name) {
    for (size_t i = 0; i < sizeof walk_rules / sizeof *walk_rules; i++)
        if (str_is(name, walk_rules[i].name))
            return str_of(walk_rules[i].text);
    abort();
}

/* Where the text that begins behind a < ends: at its > or, if the caller wants, at a |. */
static inline size_t walk_end(const char *text, bool at_bar) {
    int depth = 0;
    for (size_t i = 0;; i++) {
        if (depth == 0 && (text[i] == '>' || (at_bar && text[i] == '|')))
            return i;
        depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    }
}

/* Of "a|b|c" one; each may hold others. */
static inline struct str walk_take(struct choices *c, struct str all) {
    struct str list[16];
    unsigned n = 0;
    for (size_t from = 0; from <= all.n;) {
        size_t end = from + walk_end(all.p + from, true);
        list[n++] = str_sub(all, from, end);
        from = end + 1;
    }
    return list[pick(c, n)];
}

static inline void walk_write(struct choices *c, struct buf *out, struct str text,
                              struct str *remembered) {
    for (size_t i = 0; i < text.n; i++) {
        size_t end = i + 1;
        if (text.p[i] == '#') {
            buf_add(out, *remembered);
        } else if (text.p[i] == '$') {
            while (end < text.n && text.p[end] >= 'a' && text.p[end] <= 'z')
                end++;
            walk_write(c, out, walk_rule(str_sub(text, i + 1, end)), remembered);
            i = end - 1;
        } else if (text.p[i] == '<') {
            bool remember = text.p[end] == '#';
            end += remember;
            size_t close = end + walk_end(text.p + end, false);
            struct str taken = walk_take(c, (struct str){text.p + end, close - end});
            if (remember)
                *remembered = taken;
            walk_write(c, out, taken, remembered);
            i = close;
        } else {
            char quote = text.p[i] == '"' ? '\'' : '"';
            buf_add_char(out, text.p[i] == '\'' || text.p[i] == '"' ? quote : text.p[i]);
        }
    }
}

/* Appends an object by a rule. */
static inline void walk_text(struct choices *c, const char *rule, struct buf *out) {
    struct str remembered = {0};
    walk_write(c, out, walk_rule(str_of(rule)), &remembered);
}

/* An object by a rule, with defaults; the caller owns it. */
static inline struct api_object *walk_object(struct choices *c, const char *rule,
                                             const struct feature_set *gates) {
    struct buf text = BUF_INIT(1 << 16);
    struct arena a = {0};
    struct json tree;
    struct err err;
    struct api_object *o = NULL;
    walk_text(c, rule, &text);
    if (json_parse(&a, buf_view(&text), NULL, &tree, &err) < 0 ||
        api_object_decode(&tree, &(struct api_decode_opts){.strict = true}, &o, &err) < 0) {
        fprintf(stderr, "%.*s: %s\n", STR_ARG(buf_view(&text)), err.msg);
        abort();
    }
    arena_release(&a);
    buf_release(&text);
    api_object_default(o, gates);
    return o;
}

/* Bytes that look like chance and are the same everywhere (splitmix64). */
static inline void walk_bytes(uint64_t seed, uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        bytes[i] = (uint8_t)(z >> 32);
    }
}

#endif
