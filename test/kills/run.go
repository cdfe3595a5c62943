package main

// A run: kill, start again, come to rest, judge; as often as was asked for.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	patience    = 90 * time.Second
	startWithin = 60 * time.Second
	mostTold    = 20 // findings that are printed
)

type run struct {
	cast     string
	kills    int
	seed     uint64
	dir      string
	patience time.Duration

	began   time.Time
	log     *os.File
	mu      sync.Mutex
	found   []string
	c       *cluster
	a       *api
	h       *history
	churn   *churn
	rand    *rand.Rand
	killed  map[string]int
	rests   []time.Duration
	audited map[string]int
}

func (r *run) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.log, "%s %7.1f  %s\n", time.Now().UTC().Format("15:04:05.000"), time.Since(r.began).Seconds(), fmt.Sprintf(format, args...))
}

// find notes that something is wrong.
func (r *run) find(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	r.say("WRONG %s", what)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found = append(r.found, what); len(r.found) <= mostTold {
		fmt.Printf("WRONG %s: %s\n", r.cast, what)
	}
}

func (r *run) isWrong() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.found) > 0
}

func (r *run) open(name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(r.dir, name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
}

func (r *run) prepare(berth string) error {
	if err := os.RemoveAll(r.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return err
	}
	var err error
	if r.log, err = r.open("run.log"); err != nil {
		return err
	}
	events, err := r.open("events.log")
	if err != nil {
		return err
	}
	writes, err := r.open("writes.log")
	if err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	if berth, err = filepath.Abs(berth); err != nil {
		return err
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		return err
	}
	r.began, r.killed, r.rand = time.Now(), map[string]int{}, chance(r.seed, r.cast+" kills")
	if r.c, err = newCluster(r.cast, dir, berth, port); err != nil {
		return err
	}
	r.c.say, r.c.find = r.say, r.find
	r.h = newHistory(events, r.find)
	r.churn = newChurn(nil, r.h, chance(r.seed, r.cast+" churn"), writes)
	return nil
}

// await calls f until it is true.
func await(ctx context.Context, within time.Duration, f func() bool) bool {
	for end := time.Now().Add(within); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if f() {
			return true
		}
	}
	return false
}

// begin starts a cluster and waits until its nodes are ready.
func (r *run) begin(ctx context.Context) error {
	if err := r.c.parts[0].start(); err != nil {
		return err
	}
	if !await(ctx, startWithin, r.c.parts[0].isReady) {
		return fmt.Errorf("the server does not start: see %s", r.dir)
	}
	var err error
	if r.a, err = newAPI(r.c.kubeconfig()); err != nil {
		return err
	}
	r.churn.a = r.a
	var far []string
	if r.cast == "parts" {
		far = farNodes
	}
	if err := r.churn.prepare(far); err != nil {
		return err
	}
	if err := r.startAll(); err != nil {
		return err
	}
	var nodes []node
	if !await(ctx, startWithin, func() bool {
		_, err := list(r.a, "/api/v1/nodes", &nodes)
		return err == nil && len(nodes) == 5+len(far)
	}) {
		return fmt.Errorf("the nodes do not come: see %s", r.dir)
	}
	r.churn.label(nodes)
	return r.h.begin(ctx, r.a)
}

func (r *run) startAll() error {
	for _, p := range r.c.parts {
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

// ---- kills ----

// victims chooses who dies: one, those that lead, those of a kind, some, or all.
func (r *run) victims() []*part {
	parts := r.c.parts
	if len(parts) == 1 {
		return parts
	}
	switch n := r.rand.IntN(100); {
	case n < 20:
		return r.c.those("apiserver")
	case n < 35:
		return r.leader("scheduler")
	case n < 50:
		return r.leader("controller-manager")
	case n < 60:
		kubelets := r.c.those("kubelet")
		return kubelets[:1+r.rand.IntN(len(kubelets))]
	case n < 65:
		return r.c.those("scheduler")
	case n < 70:
		return r.c.those("controller-manager")
	case n < 85:
		return parts
	}
	some := slices.DeleteFunc(slices.Clone(parts), func(*part) bool { return r.rand.IntN(2) == 0 })
	if len(some) == 0 {
		return parts[:1]
	}
	return some
}

// leader gives the one that works, or both if none has said so.
func (r *run) leader(kind string) []*part {
	both := r.c.those(kind)
	for i, p := range both {
		if p.isReady() {
			return both[i : i+1]
		}
	}
	return both
}

// pause is some time by chance.
func (r *run) pause(ctx context.Context, least, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(least + time.Duration(r.rand.Int64N(int64(most-least)))):
	}
}

// kill kills once and starts again whom it killed, each after a while.
func (r *run) kill(ctx context.Context) error {
	victims := slices.Clone(r.victims())
	r.rand.Shuffle(len(victims), func(i, j int) { victims[i], victims[j] = victims[j], victims[i] })
	var names []string
	from := time.Now()
	var dead []*part
	for _, p := range victims {
		if p.kill() {
			dead = append(dead, p)
			names = append(names, p.name)
			kind, _, _ := strings.Cut(p.name, "-")
			r.killed[kind]++
		}
	}
	r.say("killed: %s", strings.Join(names, " "))
	most := 1500 * time.Millisecond
	if r.rand.IntN(8) == 0 {
		most = 6 * time.Second
	}
	r.rand.Shuffle(len(dead), func(i, j int) { dead[i], dead[j] = dead[j], dead[i] })
	for _, p := range dead {
		r.pause(ctx, 0, most/time.Duration(len(dead)))
		r.say("started: %s", p.name)
		if err := p.start(); err != nil {
			return err
		}
	}
	if slices.Contains(dead, r.c.parts[0]) {
		if !await(ctx, startWithin, r.a.isReady) && ctx.Err() == nil {
			r.find("%s is not ready again after %v", r.c.parts[0].name, startWithin)
		}
		r.h.away(from, time.Now())
	}
	return nil
}

// ---- rest ----

// rest waits until nothing is wrong, and says what is if that does not come.
func (r *run) rest(ctx context.Context) {
	begin := time.Now()
	var wrong []string
	var last *snapshot
	ok := await(ctx, r.patience, func() bool {
		s, err := r.a.everything()
		if err != nil {
			wrong = []string{err.Error()}
			return false
		}
		why, upTo := r.h.whyBehind(r.a)
		if why != "" {
			wrong = []string{why}
			return false
		}
		r.h.judge(upTo)
		last = s
		wrong = judgeRest(s, r.h, r.cast == "parts", r.churn.expects())
		return len(wrong) == 0 || r.isWrong()
	})
	if ctx.Err() != nil {
		return
	}
	took := time.Since(begin)
	if !ok {
		for _, w := range wrong {
			r.find("still after %v: %s", took.Round(time.Second), w)
		}
	}
	if r.isWrong() {
		r.keep(last)
		return
	}
	r.rests = append(r.rests, took)
	r.say("at rest after %.1f s: %d pods, %d of them pending", took.Seconds(), len(last.pods), countPending(last))
	r.audit()
}

func countPending(s *snapshot) int {
	n := 0
	for i := range s.pods {
		if s.pods[i].isPending() {
			n++
		}
	}
	return n
}

// keep writes what was there to the folder.
func (r *run) keep(s *snapshot) {
	if s == nil {
		return
	}
	all := map[string]any{"pods": s.pods, "nodes": s.nodes, "replicaSets": s.replicaSets, "deployments": s.deployments,
		"statefulSets": s.statefulSets, "daemonSets": s.daemonSets, "jobs": s.jobs, "claims": s.claims, "volumes": s.volumes,
		"namespaces": s.namespaces, "leases": s.leases, "slices": s.slices, "quotas": s.quotas, "budgets": s.budgets}
	data, err := json.MarshalIndent(all, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dir, "snapshot.json"), data, 0o600)
	}
	if err != nil {
		r.say("snapshot: %v", err)
	}
}

// audit looks for pods that the server has bound twice, by its own log.
func (r *run) audit() {
	bound, codes, err := readAudit(filepath.Join(r.dir, "audit.log"))
	if err != nil {
		r.find("audit log: %v", err)
		return
	}
	for uid, n := range bound {
		if n > 1 {
			r.find("the server has bound pod %s %d times, says its audit log", uid, n)
		}
	}
	r.audited = codes
}

// ---- all of it ----

func (r *run) execute(ctx context.Context, berth string) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := r.prepare(berth); err != nil {
		return false, err
	}
	defer r.c.stop()
	if err := r.begin(ctx); err != nil {
		return false, err
	}
	r.rest(ctx)
	r.say("the cluster is there")
	for n := 1; n <= r.kills && !r.isWrong() && ctx.Err() == nil; {
		r.churn.begin()
		for more := true; more && n <= r.kills && !r.isWrong() && ctx.Err() == nil; n++ {
			r.pause(ctx, 100*time.Millisecond, 3*time.Second)
			r.say("kill %d of %d", n, r.kills)
			if err := r.kill(ctx); err != nil {
				return false, err
			}
			more = r.rand.IntN(3) == 0
			if n%10 == 0 {
				fmt.Printf("%s: %d of %d kills, %.0f s, %d events, %d bindings\n", r.cast, n, r.kills, time.Since(r.began).Seconds(), r.h.events, r.h.bound)
			}
		}
		r.churn.rest()
		r.rest(ctx)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	r.report()
	return !r.isWrong(), nil
}

func (r *run) report() {
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	var sum, most time.Duration
	for _, d := range r.rests {
		sum += d
		most = max(most, d)
	}
	fmt.Printf("%s, seed %d: %.0f s; processes killed:", r.cast, r.seed, time.Since(r.began).Seconds())
	total := 0
	for _, kind := range slices.Sorted(maps.Keys(r.killed)) {
		fmt.Printf(" %s %d", kind, r.killed[kind])
		total += r.killed[kind]
	}
	fmt.Printf(", %d in all\n  %d events, %d pods, %d bindings seen; bindings by code:", total, r.h.events, len(r.h.pods), r.h.bound)
	for _, code := range slices.Sorted(maps.Keys(r.audited)) {
		fmt.Printf(" %s: %d", code, r.audited[code])
	}
	fmt.Printf("\n  writes of the churn by code:")
	for _, code := range slices.Sorted(maps.Keys(r.churn.codes)) {
		fmt.Printf(" %d: %d", code, r.churn.codes[code])
	}
	if len(r.rests) > 0 {
		fmt.Printf("\n  at rest %d times, after %.1f s on average, %.1f s at most", len(r.rests), (sum / time.Duration(len(r.rests))).Seconds(), most.Seconds())
	}
	fmt.Printf("; wrong: %d\n", len(r.found))
}
