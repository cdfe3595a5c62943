package main

// A client of HTTP/2 that costs little: one goroutine reads a connection and calls back, requests are
// submitted from there or from anywhere, and what was submitted while there was something to read
// leaves as one write.

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const (
	windowMost  = 1<<31 - 1
	windowAgain = 1 << 29 // so much was read before the window of the connection is opened again
	ioBytes     = 64 << 10
)

// A request. What is called is called by the goroutine that reads the connection.
type request struct {
	method, path, contentType, accept string
	body                              []byte
	onHead                            func(r *request)              // may be nil
	onData                            func(r *request, data []byte) // may be nil; the bytes are borrowed
	onEnd                             func(r *request)              // may be nil

	status int
	bytes  int
	sent   time.Time
	err    error
	id     uint32
}

type conn struct {
	carrier    net.Conn
	host       string
	token      string
	in         *bufio.Reader
	framer     *http2.Framer
	decoder    *hpack.Decoder
	decoded    *request // whose headers are being decoded
	unreturned int64    // bytes that were read and not given back to the window

	mu       sync.Mutex
	out      *bufio.Writer
	encoder  *hpack.Encoder
	head     bytes.Buffer
	streams  map[uint32]*request
	next     uint32
	window   int64 // what the server is ready to take
	perBody  int64 // what it takes of one body at first
	frameMax int
	atOnce   int        // streams that it allows
	waiting  []*request // for the window, or for other streams to end
	failure  error
}

// dial connects with TLS and HTTP/2, and begins to read.
func dial(address, token string) (*conn, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	carrier, err := tls.DialWithDialer(dialer, "tcp", address, &tls.Config{
		InsecureSkipVerify: true, // loopback, a server of our own
		NextProtos:         []string{"h2"},
	})
	if err != nil {
		return nil, err
	}
	if p := carrier.ConnectionState().NegotiatedProtocol; p != "h2" {
		carrier.Close()
		return nil, fmt.Errorf("%s speaks %q instead of HTTP/2", address, p)
	}
	c := &conn{carrier: carrier, host: address, token: token, streams: map[uint32]*request{}, next: 1,
		window: 65535, perBody: 65535, frameMax: 16384, atOnce: 100}
	c.in = bufio.NewReaderSize(carrier, ioBytes)
	c.out = bufio.NewWriterSize(carrier, ioBytes)
	c.framer = http2.NewFramer(c.out, c.in)
	c.framer.SetReuseFrames()
	c.framer.SetMaxReadFrameSize(1 << 20)
	c.encoder = hpack.NewEncoder(&c.head)
	c.decoder = hpack.NewDecoder(4096, c.takeField)
	if err := c.greet(); err != nil {
		carrier.Close()
		return nil, err
	}
	go c.read()
	return c, nil
}

func (c *conn) greet() error {
	if _, err := c.out.WriteString(http2.ClientPreface); err != nil {
		return err
	}
	err := c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: windowMost},
		http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1 << 20})
	if err != nil {
		return err
	}
	if err := c.framer.WriteWindowUpdate(0, windowMost-65535); err != nil {
		return err
	}
	return c.out.Flush()
}

func (c *conn) takeField(f hpack.HeaderField) {
	if f.Name == ":status" && c.decoded != nil {
		c.decoded.status, _ = strconv.Atoi(f.Value)
	}
}

// ---- what is sent ----

func (c *conn) field(name, value string) {
	c.encoder.WriteField(hpack.HeaderField{Name: name, Value: value})
}

func (c *conn) writeHead(r *request) error {
	c.head.Reset()
	c.field(":method", r.method)
	c.field(":scheme", "https")
	c.field(":authority", c.host)
	c.field(":path", r.path)
	c.field("authorization", "Bearer "+c.token)
	c.field("user-agent", "bench-server/v1 (linux/amd64)")
	accept := r.accept
	if accept == "" {
		accept = "application/json"
	}
	c.field("accept", accept)
	if r.contentType != "" {
		c.field("content-type", r.contentType)
	}
	if r.body != nil {
		c.field("content-length", strconv.Itoa(len(r.body)))
	}
	return c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: r.id, BlockFragment: c.head.Bytes(),
		EndStream: r.body == nil, EndHeaders: true})
}

func (c *conn) writeBody(r *request) error {
	for rest := r.body; ; {
		n := min(len(rest), c.frameMax)
		if err := c.framer.WriteData(r.id, n == len(rest), rest[:n]); err != nil {
			return err
		}
		if rest = rest[n:]; len(rest) == 0 {
			return nil
		}
	}
}

// send writes a request; the caller has the lock. While there is no room for it, it waits.
func (c *conn) send(r *request) {
	if n := int64(len(r.body)); n > c.window || n > c.perBody || len(c.streams) >= c.atOnce {
		c.waiting = append(c.waiting, r)
		return
	}
	c.window -= int64(len(r.body))
	r.id = c.next
	c.next += 2
	c.streams[r.id] = r
	if err := c.writeHead(r); err != nil {
		c.failure = err
		return
	}
	if r.body != nil {
		c.failure = c.writeBody(r)
	}
}

// submit sends a request, at once or, from a callback, when there is nothing more to read. When it
// fails, nothing is called back.
func (c *conn) submit(r *request, atOnce bool) error {
	r.status, r.bytes, r.err, r.sent = 0, 0, nil, time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure != nil {
		return c.failure
	}
	c.send(r)
	if atOnce && c.failure == nil {
		c.failure = c.out.Flush()
	}
	if c.failure != nil {
		c.carrier.Close() // the reader ends what is under way
	}
	return nil
}

func (c *conn) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Flush()
}

// reset gives a stream up.
func (c *conn) reset(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.streams[r.id]; !ok {
		return
	}
	delete(c.streams, r.id)
	c.framer.WriteRSTStream(r.id, http2.ErrCodeCancel)
	c.out.Flush()
}

func (c *conn) close() {
	c.carrier.Close()
}

// ---- what comes ----

func (c *conn) read() {
	for {
		if c.in.Buffered() == 0 {
			c.mu.Lock()
			err := c.out.Flush()
			c.mu.Unlock()
			if err != nil {
				c.fail(err)
				return
			}
		}
		frame, err := c.framer.ReadFrame()
		if err == nil {
			err = c.take(frame)
		}
		if err != nil {
			c.fail(err)
			return
		}
	}
}

// fail ends all that is under way.
func (c *conn) fail(err error) {
	c.mu.Lock()
	if c.failure != nil {
		err = c.failure
	}
	c.failure = err
	ended := c.waiting
	for _, r := range c.streams {
		ended = append(ended, r)
	}
	c.streams, c.waiting = map[uint32]*request{}, nil
	c.mu.Unlock()
	c.carrier.Close()
	for _, r := range ended {
		r.err = err
		if r.onEnd != nil {
			r.onEnd(r)
		}
	}
}

func (c *conn) stream(id uint32) *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.streams[id]
}

func (c *conn) end(id uint32, err error) {
	c.mu.Lock()
	r := c.streams[id]
	delete(c.streams, id)
	c.sendWaiting()
	c.mu.Unlock()
	if r == nil {
		return
	}
	r.err = err
	if r.onEnd != nil {
		r.onEnd(r)
	}
}

func (c *conn) take(frame http2.Frame) error {
	switch f := frame.(type) {
	case *http2.HeadersFrame:
		if !f.HeadersEnded() {
			return fmt.Errorf("headers in more than one frame")
		}
		c.decoded = c.stream(f.StreamID)
		if _, err := c.decoder.Write(f.HeaderBlockFragment()); err != nil {
			return err
		}
		if err := c.decoder.Close(); err != nil {
			return err
		}
		if c.decoded != nil && c.decoded.onHead != nil {
			c.decoded.onHead(c.decoded)
		}
		if f.StreamEnded() {
			c.end(f.StreamID, nil)
		}
	case *http2.DataFrame:
		return c.takeData(f)
	case *http2.RSTStreamFrame:
		c.end(f.StreamID, fmt.Errorf("stream reset: %v", f.ErrCode))
	case *http2.GoAwayFrame:
		if f.ErrCode != http2.ErrCodeNo {
			return fmt.Errorf("the server goes away: %v %s", f.ErrCode, f.DebugData())
		}
	case *http2.SettingsFrame, *http2.PingFrame, *http2.WindowUpdateFrame:
		return c.control(frame)
	}
	return nil
}

func (c *conn) takeData(f *http2.DataFrame) error {
	data := f.Data()
	if r := c.stream(f.StreamID); r != nil {
		r.bytes += len(data)
		if r.onData != nil && len(data) > 0 {
			r.onData(r, data)
		}
	}
	if f.StreamEnded() {
		c.end(f.StreamID, nil)
	}
	c.unreturned += int64(f.Length)
	if c.unreturned < windowAgain {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := uint32(c.unreturned)
	c.unreturned = 0
	return c.framer.WriteWindowUpdate(0, n)
}

func (c *conn) control(frame http2.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f := frame.(type) {
	case *http2.PingFrame:
		if !f.IsAck() {
			return c.framer.WritePing(true, f.Data)
		}
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			c.window += int64(f.Increment)
			c.sendWaiting()
		}
	case *http2.SettingsFrame:
		if f.IsAck() {
			return nil
		}
		f.ForeachSetting(func(s http2.Setting) error {
			switch s.ID {
			case http2.SettingInitialWindowSize:
				c.perBody = int64(s.Val)
				c.sendWaiting()
			case http2.SettingMaxFrameSize:
				c.frameMax = int(s.Val)
			case http2.SettingMaxConcurrentStreams:
				c.atOnce = int(s.Val)
				c.sendWaiting()
			case http2.SettingHeaderTableSize:
				c.encoder.SetMaxDynamicTableSize(min(s.Val, 4096))
			}
			return nil
		})
		return c.framer.WriteSettingsAck()
	}
	return nil
}

func (c *conn) sendWaiting() {
	waiting := c.waiting
	if waiting == nil || len(c.streams) >= c.atOnce {
		return
	}
	c.waiting = nil
	for _, r := range waiting {
		c.send(r)
	}
}

// ---- one request at a time ----

// ask sends a request and gives its body.
func (c *conn) ask(method, path, contentType string, body []byte) (int, []byte, error) {
	var all bytes.Buffer
	done := make(chan struct{})
	r := &request{method: method, path: path, contentType: contentType, body: body,
		onData: func(_ *request, data []byte) { all.Write(data) },
		onEnd:  func(*request) { close(done) }}
	if err := c.submit(r, true); err != nil {
		return 0, nil, err
	}
	select {
	case <-done:
		return r.status, all.Bytes(), r.err
	case <-time.After(120 * time.Second):
		c.close()
		return 0, nil, io.ErrNoProgress
	}
}
