package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
)

// Berth's side: a process that is shown lines with upstream's answers and says which it does not share.
type berth struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func startBerth(program string) (*berth, error) {
	cmd := exec.Command(program, "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &berth{in, bufio.NewReaderSize(out, 1<<16), cmd}, cmd.Start()
}

func (b *berth) show(l line) error {
	_, err := fmt.Fprintln(b.in, l)
	return err
}

// verdict on the oldest line that was shown: how Berth differs, or nothing.
func (b *berth) verdict() (string, error) {
	text, err := b.out.ReadBytes('\n')
	if err != nil {
		return "", fmt.Errorf("%s ended: %w", b.cmd.Path, err)
	}
	var why *string
	if err := json.Unmarshal(text, &why); err != nil || why == nil {
		return "", err
	}
	return *why, nil
}

func (b *berth) check(l line) (string, error) {
	if err := b.show(l); err != nil {
		return "", err
	}
	return b.verdict()
}

func (b *berth) stop() error {
	b.in.Close()
	return b.cmd.Wait()
}
