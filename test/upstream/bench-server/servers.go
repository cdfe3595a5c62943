package main

// Both servers: how they are started and stopped, and what they have used.

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	startTimeout = 180 * time.Second
	adminToken   = "admin-token"
	connections  = 4
)

// A server with all its processes; it can be stopped and started again on what it has stored.
type server struct {
	name          string
	dir           string
	address       string
	programs      func(s *server) ([][]string, error) // what to start, in this order
	component     []string                            // what to start when these are ready; may be nil
	componentPort int                                 // where it says whether it is ready
	processes     []*exec.Cmd
	conns         []*conn
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func writeTokens(dir string) (string, error) {
	path := filepath.Join(dir, "tokens.csv")
	return path, os.WriteFile(path, []byte(adminToken+",admin,admin,system:masters\n"), 0o600)
}

// berthServer is `berth apiserver` on a folder, with the plug-in that kube-apiserver has on by default.
func berthServer(dir, program string) (*server, error) {
	tokens, err := writeTokens(dir)
	if err != nil {
		return nil, err
	}
	s := &server{name: "berth", dir: dir}
	s.programs = func(s *server) ([][]string, error) {
		port, err := freePort()
		s.address = fmt.Sprintf("127.0.0.1:%d", port)
		return [][]string{{program, "apiserver", "--data-dir", filepath.Join(dir, "data"), "--secure-port",
			strconv.Itoa(port), "--token-auth-file", tokens, "--enable-admission-plugins", "ServiceAccount"}}, err
	}
	return s, nil
}

// realServer is kube-apiserver on an etcd that syncs what it writes.
func realServer(dir, etcd, apiserver string) (*server, error) {
	tokens, err := writeTokens(dir)
	if err != nil {
		return nil, err
	}
	key := filepath.Join(dir, "sa.key")
	if out, err := exec.Command("openssl", "genrsa", "-out", key, "2048").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("openssl: %w: %s", err, out)
	}
	s := &server{name: "upstream", dir: dir}
	s.programs = func(s *server) ([][]string, error) {
		var ports [3]int
		for i := range ports {
			var err error
			if ports[i], err = freePort(); err != nil {
				return nil, err
			}
		}
		s.address = fmt.Sprintf("127.0.0.1:%d", ports[2])
		clients, peers := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
		return [][]string{
			{etcd, "--name", "x", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", clients,
				"--advertise-client-urls", clients, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
				"--initial-cluster", "x=" + peers, "--quota-backend-bytes", strconv.Itoa(8 << 30)},
			{apiserver, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[2]),
				"--etcd-servers=" + clients, "--service-cluster-ip-range=10.0.0.0/24",
				"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key,
				"--service-account-signing-key-file=" + key, "--cert-dir=" + dir, "--authorization-mode=RBAC",
				"--token-auth-file=" + tokens, "--endpoint-reconciler-type=none", "--allow-privileged"},
		}, nil
	}
	return s, nil
}

func (s *server) spawn(args []string) error {
	log, err := os.OpenFile(filepath.Join(s.dir, filepath.Base(args[0])+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.processes = append(s.processes, cmd)
	return nil
}

// start gives the time from the first process to the answer "ready".
func (s *server) start() (time.Duration, error) {
	programs, err := s.programs(s)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	for _, args := range programs {
		if err := s.spawn(args); err != nil {
			return 0, err
		}
	}
	for time.Since(begin) < startTimeout {
		if s.isReady() {
			took := time.Since(begin)
			if err := s.startComponent(); err != nil {
				return took, err
			}
			return took, s.connect()
		}
		time.Sleep(2 * time.Millisecond)
	}
	return 0, fmt.Errorf("%s is not ready after %v; its log is in %s", s.name, startTimeout, s.dir)
}

// startComponent waits until the component knows the cluster.
func (s *server) startComponent() error {
	if s.component == nil {
		return nil
	}
	if err := s.spawn(s.component); err != nil {
		return err
	}
	url := fmt.Sprintf("https://127.0.0.1:%d/readyz", s.componentPort)
	for begin := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		_, err := readText(url)
		if err == nil {
			return nil
		}
		if time.Since(begin) > startTimeout {
			return fmt.Errorf("%s is not ready after %v: %w", s.component[0], startTimeout, err)
		}
	}
}

// readText asks by a connection of its own each time, which must not leave anything behind.
func readText(url string) ([]byte, error) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Get(url)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// tellLogs shows what the processes said last.
func (s *server) tellLogs() {
	logs, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, path := range logs {
		text, _ := os.ReadFile(path)
		say("the end of %s:\n%s", filepath.Base(path), text[max(0, len(text)-2000):])
	}
}

func (s *server) isReady() bool {
	c, err := dial(s.address, adminToken)
	if err != nil {
		return false
	}
	defer c.close()
	status, _, err := c.ask("GET", "/readyz", "", nil)
	return err == nil && status == 200
}

func (s *server) connect() error {
	s.conns = nil
	for range connections {
		c, err := dial(s.address, adminToken)
		if err != nil {
			return err
		}
		s.conns = append(s.conns, c)
	}
	return nil
}

// stop ends what was started, the last first.
func (s *server) stop() {
	for _, c := range s.conns {
		c.close()
	}
	for i := len(s.processes) - 1; i >= 0; i-- {
		cmd := s.processes[i]
		cmd.Process.Signal(os.Interrupt)
		done := make(chan struct{})
		go func() { cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			cmd.Process.Kill()
			<-done
		}
	}
	s.processes, s.conns = nil, nil
}

// ---- what the processes have used ----

// processorTime is user and system time of all processes, by the kernel's clock of each of them, which
// has what /proc/PID/stat has, in nanoseconds instead of ticks.
func (s *server) processorTime() time.Duration {
	var sum time.Duration
	for _, cmd := range s.processes {
		var ts syscall.Timespec
		clock := uintptr(^int32(cmd.Process.Pid)<<3 | 2)
		if _, _, no := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0); no != 0 {
			panic(fmt.Sprintf("%s: process %d has no clock: %v", s.name, cmd.Process.Pid, no))
		}
		sum += time.Duration(ts.Nano())
	}
	return sum
}

// memory is what all processes have in memory now, and the sum of the most that each of them had.
func (s *server) memory() (now, most int64) {
	for _, cmd := range s.processes {
		f, err := os.Open(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if len(fields) < 2 {
				continue
			}
			kib, _ := strconv.ParseInt(fields[1], 10, 64)
			switch fields[0] {
			case "VmRSS:":
				now += kib << 10
			case "VmHWM:":
				most += kib << 10
			}
		}
		f.Close()
	}
	return now, most
}
