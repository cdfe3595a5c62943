package main

// The processes of the churn: the real servers behind proxies, and Berth's components before them.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// A component of Berth with a connection of its own that can be broken.
type member struct {
	name  string
	args  []string
	proxy *proxy
	port  int // of health and figures
	log   string
	cmd   *exec.Cmd
	ended chan struct{}
}

func (m *member) metrics() string { return fmt.Sprintf("https://127.0.0.1:%d/metrics", m.port) }

// leads tells whether it has the Lease.
func (m *member) leads(lease string) bool {
	text, err := readText(m.metrics())
	return err == nil && gaugeOf(text, fmt.Sprintf(`leader_election_master_status{name="%s"}`, lease)) == 1
}

func (m *member) lives() bool {
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

// end has the process end as it is asked to.
func (m *member) end() error {
	defer m.proxy.close()
	if !m.lives() {
		return fmt.Errorf("%s ended by itself: %v", m.name, m.cmd.ProcessState)
	}
	m.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.ended:
	case <-time.After(60 * time.Second):
		m.cmd.Process.Kill()
		<-m.ended
	}
	if !m.cmd.ProcessState.Success() {
		return fmt.Errorf("%s: %v", m.name, m.cmd.ProcessState)
	}
	return nil
}

// start starts a component behind a proxy; the Lease outlasts the time in which the server comes again.
func (k *churn) start(name string, args []string) (*member, error) {
	p, err := newProxy(k.s.address)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	access := filepath.Join(k.s.dir, fmt.Sprintf("kubeconfig-%d", port))
	if err := os.WriteFile(access, fmt.Appendf(nil, kubeconfig, p.address(), adminToken), 0o600); err != nil {
		return nil, err
	}
	m := &member{name: name, args: args, proxy: p, port: port, log: filepath.Join(k.s.dir, fmt.Sprintf("%d.log", port)), ended: make(chan struct{})}
	m.cmd = exec.Command(k.c.berth, append(args, "--kubeconfig", access, "--secure-port", fmt.Sprint(port), "--feature-gates", liveGates,
		"--leader-elect-lease-duration", "150s", "--leader-elect-renew-deadline", "120s", "--kube-api-qps", "0")...)
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(m.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	m.cmd.Stdout, m.cmd.Stderr = log, log
	if err := m.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		m.cmd.Wait()
		close(m.ended)
	}()
	return m, nil
}

const auditPolicy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","omitStages":["RequestReceived"],"rules":[` +
	`{"level":"Metadata","verbs":["create"],"resources":[{"group":"","resources":["pods/binding"]}]},{"level":"None"}]}`

// startServer starts a real server that writes down who was bound.
func (k *churn) startServer(dir string) error {
	s, err := realServer(dir, k.c.etcd, k.c.apiserver)
	if err != nil {
		return err
	}
	k.s = s
	policy := filepath.Join(dir, "policy.json")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	if k.programs, err = s.programs(s); err != nil {
		return err
	}
	k.programs[0] = append(k.programs[0], "--unsafe-no-fsync")
	k.programs[1] = append(k.programs[1], "--feature-gates="+liveGates, "--audit-policy-file="+policy, "--audit-log-path="+filepath.Join(dir, "audit.log"))
	s.programs = func(*server) ([][]string, error) { return k.programs, nil }
	_, err = s.start()
	return err
}

func (k *churn) startAll(dir string) error {
	if err := k.startServer(dir); err != nil {
		return err
	}
	if _, err := newRoom(k.s, "churn", 0); err != nil {
		return err
	}
	for _, x := range []struct {
		name string
		args []string
	}{
		{"a scheduler that waits", []string{"scheduler"}},
		{"a scheduler that waits", []string{"scheduler"}},
		{evictionName, []string{"controller-manager", "--controllers", eviction}},
	} {
		m, err := k.start(x.name, x.args)
		if err != nil {
			return err
		}
		k.members = append(k.members, m)
	}
	return nil
}

// membersLive sees that no component has ended.
func (k *churn) membersLive() error {
	for _, m := range k.members {
		if !m.lives() {
			return fmt.Errorf("%s ended by itself: %v", m.name, m.cmd.ProcessState)
		}
	}
	return nil
}

// tellLogs shows what components said last.
func (k *churn) tellLogs() {
	for _, m := range k.members {
		text, _ := os.ReadFile(m.log)
		say("the end of the log of %s:\n%s", m.name, text[max(0, len(text)-2000):])
	}
}
