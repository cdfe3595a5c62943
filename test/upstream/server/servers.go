package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startTimeout = 120 * time.Second
	adminToken   = "admin-token"
	adminLine    = adminToken + ",admin,admin,system:masters\n"
)

// The programs of the servers.
type programs struct{ etcd, apiserver, berth string }

// A server under comparison.
type server struct {
	name   string
	base   string
	client *http.Client
	procs  []*exec.Cmd
	log    string // file, of the server itself
}

// hasEnded tells that the server itself does not run any more, though nobody stopped it.
func (s *server) hasEnded() bool {
	var status syscall.WaitStatus
	last := s.procs[len(s.procs)-1]
	pid, err := syscall.Wait4(last.Process.Pid, &status, syscall.WNOHANG, nil)
	return err != nil || pid == last.Process.Pid
}

// restart puts new servers, which are empty, in the place of those there are.
func (r *run) restart() (err error) {
	r.stop()
	if r.dir, err = os.MkdirTemp("", "compare"); err != nil {
		return err
	}
	var wait sync.WaitGroup
	var failed [2]error
	wait.Go(func() { r.berth, failed[0] = startBerth(r.dir, r.programs.berth) })
	wait.Go(func() { r.real, failed[1] = startReal(r.dir, r.programs.etcd, r.programs.apiserver) })
	wait.Wait()
	return errors.Join(failed[0], failed[1])
}

// stop ends the servers, and notes the processor time that they took.
func (r *run) stop() {
	for _, s := range []*server{r.berth, r.real} {
		if s == nil {
			continue
		}
		s.stop()
		for _, p := range s.procs {
			if p.ProcessState != nil {
				r.spent[filepath.Base(p.Path)] += p.ProcessState.UserTime() + p.ProcessState.SystemTime()
			}
		}
	}
	r.berth, r.real = nil, nil
	if r.dir != "" {
		os.RemoveAll(r.dir)
		r.dir = ""
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, // loopback, our own
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
	}}
}

func (s *server) start(dir, log, program string, args ...string) error {
	f, err := os.Create(filepath.Join(dir, log))
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(program, args...)
	cmd.Stderr = f
	cmd.Stdout = f
	cmd.Env = append(os.Environ(), "GOGC=400") // memory for time
	if err := cmd.Start(); err != nil {
		return err
	}
	s.procs = append(s.procs, cmd)
	return nil
}

// stop ends what was started, the last first.
func (s *server) stop() {
	for i := len(s.procs) - 1; i >= 0; i-- {
		s.procs[i].Process.Signal(os.Interrupt)
		done := make(chan struct{})
		go func() { s.procs[i].Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			s.procs[i].Process.Kill()
			<-done
		}
	}
}

func (s *server) waitReady() error {
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		req, _ := http.NewRequestWithContext(ctx, "GET", s.base+"/readyz", nil)
		authorize(req)
		resp, err := s.client.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		cancel()
		if err == nil && resp.StatusCode == 200 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s is not ready after %v", s.name, startTimeout)
}

// authorize makes it the administrator's request.
func authorize(req *http.Request) { req.Header.Set("Authorization", "Bearer "+adminToken) }

// startReal starts etcd and kube-apiserver, which are the reference.
func startReal(dir, etcd, apiserver string) (*server, error) {
	var ports [3]int
	for i := range ports {
		var err error
		if ports[i], err = freePort(); err != nil {
			return nil, err
		}
	}
	s := &server{name: "kube-apiserver", base: fmt.Sprintf("https://127.0.0.1:%d", ports[2]), client: newClient()}
	clients, peers := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	if err := s.start(dir, "etcd.log", etcd, "--name", "x", "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers,
		"--initial-advertise-peer-urls", peers, "--initial-cluster", "x="+peers); err != nil {
		return nil, err
	}
	key, tokens := filepath.Join(dir, "sa.key"), filepath.Join(dir, "tokens.csv")
	if out, err := exec.Command("openssl", "genrsa", "-out", key, "2048").CombinedOutput(); err != nil {
		return s, fmt.Errorf("openssl: %w: %s", err, out)
	}
	if err := os.WriteFile(tokens, []byte(adminLine), 0o600); err != nil {
		return s, err
	}
	if err := s.start(dir, "kube-apiserver.log", apiserver, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", ports[2]), "--etcd-servers="+clients, "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local", "--service-account-key-file="+key,
		"--service-account-signing-key-file="+key, "--cert-dir="+dir, "--authorization-mode=RBAC",
		"--token-auth-file="+tokens, "--endpoint-reconciler-type=none", "--allow-privileged"); err != nil {
		return s, err
	}
	return s, s.waitReady()
}

var kubeconfigServer = regexp.MustCompile(`"?server"?: *"?([^\s",]+)`)

// startBerth starts `berth apiserver` on a store that forgets.
func startBerth(dir, program string) (*server, error) {
	config, tokens := filepath.Join(dir, "berth.kubeconfig"), filepath.Join(dir, "berth-tokens.csv")
	if err := os.WriteFile(tokens, []byte(adminLine), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "apiserver", "--memory", "--secure-port", "0", "--write-kubeconfig", config,
		"--token-auth-file", tokens, "--enable-admission-plugins", "ServiceAccount")
	log, err := os.Create(filepath.Join(dir, "berth.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s := &server{name: "berth", client: newClient(), procs: []*exec.Cmd{cmd}, log: log.Name()}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "ready ") {
		return s, fmt.Errorf("berth apiserver does not start: %q %v", line, err)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		return s, err
	}
	found := kubeconfigServer.FindSubmatch(text)
	if found == nil {
		return s, fmt.Errorf("%s: names no server", config)
	}
	s.base = string(found[1])
	return s, s.waitReady()
}
