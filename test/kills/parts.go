package main

// The processes of a cluster: they are started, killed, and started again. One that ends by itself
// is noted, and started again as a supervisor would.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const gates = "TaintTolerationComparisonOperators=true,TolerationAffinitySemverOperators=true,TaintTolerationCEL=true"

// A leader is given up this much later, so that a run need not wait.
var election = []string{"--leader-elect-lease-duration", "4s", "--leader-elect-renew-deadline", "3s",
	"--leader-elect-retry-period", "500ms"}

// A process of the cluster, whichever life it is in.
type part struct {
	name    string
	args    []string
	cluster *cluster
	mu      sync.Mutex
	command *exec.Cmd // the life that goes on; nil: it is dead
	started time.Time
	killed  bool   // by us
	out     string // the file of its standard output in this life
	lives   int
	ended   chan struct{} // of this life
}

type cluster struct {
	dir, berth string
	parts      []*part
	say        func(format string, args ...any)
	find       func(format string, args ...any)
	closing    bool
}

func (p *part) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.command != nil {
		return nil
	}
	p.lives++
	p.out = filepath.Join(p.cluster.dir, p.name+".out")
	out, err := os.Create(p.out)
	if err != nil {
		return err
	}
	defer out.Close()
	log, err := os.OpenFile(filepath.Join(p.cluster.dir, p.name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	fmt.Fprintf(log, "---- life %d begins at %s\n", p.lives, time.Now().UTC().Format("15:04:05.000"))
	c := exec.Command(p.cluster.berth, p.args...)
	c.Stdout, c.Stderr = out, log
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		return err
	}
	p.command, p.killed, p.started, p.ended = c, false, time.Now(), make(chan struct{})
	go p.await(c, p.ended)
	return nil
}

// await notes the end of a life.
func (p *part) await(c *exec.Cmd, ended chan struct{}) {
	err := c.Wait()
	p.mu.Lock()
	p.command = nil
	byUs := p.killed || p.cluster.closing
	age := time.Since(p.started)
	p.mu.Unlock()
	close(ended)
	if byUs {
		return
	}
	// 1 is a Lease that was lost, which a machine that is busy, or a server that was away, may cause.
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		p.cluster.say("%s ended by itself after %.1f s: it lost its Lease", p.name, age.Seconds())
	} else {
		p.cluster.find("%s ended by itself after %.1f s: %v", p.name, age.Seconds(), err)
	}
	if err := p.start(); err != nil {
		p.cluster.find("%s: %v", p.name, err)
	}
}

// kill ends a life, if there is one, and says whether there was.
func (p *part) kill() bool {
	p.mu.Lock()
	c, ended := p.command, p.ended
	if c == nil {
		p.mu.Unlock()
		return false
	}
	p.killed = true
	p.mu.Unlock()
	c.Process.Signal(syscall.SIGKILL)
	<-ended
	return true
}

// isReady: it has said so, which of those that elect a leader only the leader does.
func (p *part) isReady() bool {
	data, err := os.ReadFile(p.out)
	return err == nil && strings.HasPrefix(string(data), "ready")
}

func (c *cluster) part(name string) *part {
	for _, p := range c.parts {
		if p.name == name {
			return p
		}
	}
	return nil
}

// those gives the parts whose names begin so.
func (c *cluster) those(prefix string) []*part {
	var found []*part
	for _, p := range c.parts {
		if strings.HasPrefix(p.name, prefix) {
			found = append(found, p)
		}
	}
	return found
}

func (c *cluster) add(name string, args ...string) {
	c.parts = append(c.parts, &part{name: name, args: args, cluster: c})
}

func (c *cluster) stop() {
	for _, p := range c.parts {
		p.mu.Lock()
		p.killed = true
		p.mu.Unlock()
	}
	c.closing = true
	for _, p := range c.parts {
		p.kill()
	}
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create]
  resources: [{group: "", resources: [pods/binding]}]
- {level: None}
`

// newCluster has the parts of one cast: `parts` are processes of their own, two of each that elect
// a leader, and `up` is all of it in one process.
func newCluster(cast, dir, berth string, port int) (*cluster, error) {
	c := &cluster{dir: dir, berth: berth}
	policy := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, err
	}
	serve := []string{"--data-dir", filepath.Join(dir, "data"), "--secure-port", fmt.Sprint(port), "--feature-gates", gates,
		"--audit-policy-file", policy, "--audit-log-path", filepath.Join(dir, "audit.log"), "--audit-log-maxsize", "0"}
	if cast == "up" {
		c.add("up", append([]string{"up", "--nodes", "5"}, serve...)...)
		return c, nil
	}
	connect := []string{"--kubeconfig", c.kubeconfig(), "--feature-gates", gates, "--kube-api-qps", "0", "--secure-port", "0"}
	c.add("apiserver", append([]string{"apiserver", "--enable-admission-plugins", "ServiceAccount"}, serve...)...)
	for _, kind := range []string{"scheduler", "controller-manager"} {
		for _, which := range []string{"1", "2"} {
			c.add(kind+"-"+which, append(append([]string{kind}, connect...), election...)...)
		}
	}
	c.add("kubelet-1", append([]string{"kubelet", "--nodes", "5"}, connect...)...)
	c.add("kubelet-2", append([]string{"kubelet", "--nodes", strings.Join(farNodes, ",")}, connect...)...)
	return c, nil
}

// Nodes that the driver makes, so that a kubelet looks after those of others.
var farNodes = []string{"far-0", "far-1", "far-2"}

func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "data", "admin.kubeconfig") }
