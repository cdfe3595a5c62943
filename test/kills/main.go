// Kills the parts of a cluster with -9 at random moments while it is in use, starts them again, and
// judges what is there, by what watches have told since the beginning and by lists when it is at
// rest. The judgement knows the documents of Kubernetes and nothing of Berth.
//
//	kills -berth build/release/berth -kills 200 -seed 1 [-cast parts|up|all] [-folder F]
//
// The exit code is 1 when something is wrong; the folder then tells what.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	berth := flag.String("berth", "build/release/berth", "the program")
	kills := flag.Int("kills", 200, "how often something is killed")
	seed := flag.Uint64("seed", 1, "of all that is chosen by chance")
	cast := flag.String("cast", "all", "parts: processes; up: all in one; all: three quarters and one quarter of the kills")
	folder := flag.String("folder", "build/kill-components", "what is kept of the run")
	patience := flag.Duration("patience", patience, "how long a cluster may take to come to rest")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	shares := map[string]int{*cast: *kills}
	if *cast == "all" {
		shares = map[string]int{"parts": *kills - *kills/4, "up": *kills / 4}
	}
	for _, name := range []string{"parts", "up"} {
		if shares[name] == 0 {
			continue
		}
		r := &run{cast: name, kills: shares[name], seed: *seed, dir: filepath.Join(*folder, name), patience: *patience}
		ok, err := r.execute(ctx, *berth)
		if err != nil {
			fmt.Fprintf(os.Stderr, "kills: %s: %v\n", name, err)
			os.Exit(2)
		}
		if !ok {
			fmt.Printf("FAILED; all that is known is in %s; again: make kill-components KILLS=%d SEED=%d CAST=%s\n", r.dir, *kills, *seed, *cast)
			os.Exit(1)
		}
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

func chance(seed uint64, what string) *rand.Rand {
	var key [32]byte
	copy(key[:], fmt.Sprintf("%d %s", seed, what))
	return rand.New(rand.NewChaCha8(key))
}
