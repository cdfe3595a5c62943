package main

// Connections that break: what a component says to its server goes through here.

import (
	"net"
	"sync"
	"time"
)

// A proxy of TCP with an address that stays while the server behind it is started again.
type proxy struct {
	listener net.Listener
	target   string
	flowing  sync.RWMutex // held for writing while nothing gets through

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

func newProxy(target string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, target: target, conns: map[net.Conn]struct{}{}}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve(from net.Conn) {
	defer from.Close()
	to, err := net.DialTimeout("tcp", p.target, 5*time.Second)
	if err != nil {
		return
	}
	defer to.Close()
	p.mu.Lock()
	p.conns[from], p.conns[to] = struct{}{}, struct{}{}
	p.mu.Unlock()
	go p.carry(to, from)
	p.carry(from, to)
	p.mu.Lock()
	delete(p.conns, from)
	delete(p.conns, to)
	p.mu.Unlock()
}

// carry has what one says come to the other; when one ends, both do.
func (p *proxy) carry(from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	bytes := make([]byte, 64<<10)
	for {
		n, err := from.Read(bytes)
		p.flowing.RLock()
		if n > 0 {
			_, writing := to.Write(bytes[:n])
			if err == nil {
				err = writing
			}
		}
		p.flowing.RUnlock()
		if err != nil {
			return
		}
	}
}

// cut breaks all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// stall lets nothing through for a while, and breaks all connections then.
func (p *proxy) stall(d time.Duration) {
	p.flowing.Lock()
	time.Sleep(d)
	p.cut()
	p.flowing.Unlock()
}

func (p *proxy) close() {
	p.listener.Close()
	p.cut()
}
