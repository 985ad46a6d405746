// SPDX-License-Identifier: Apache-2.0

// Google's client for Go at a server, doing what `hearth-bench --served-client` does, and reporting it in the same JSON:
// client listen|change|write, at FIRESTORE_EMULATOR_HOST.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cloud.google.com/go/firestore"
)

const (
	project = "compare"
	changes = 1000
	writes  = 2000
)

type result struct {
	Count            int       `json:"count"`
	Seconds          float64   `json:"seconds"`
	ProcessorSeconds float64   `json:"processorSeconds"`
	Allocations      float64   `json:"allocations"`
	Latencies        []float64 `json:"latencies"`
	Peak             float64   `json:"peak"`
}

type start struct {
	time        time.Time
	processor   float64
	allocations uint64
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func processorSeconds() float64 {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func allocations() uint64 {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return memory.Mallocs
}

func begin() start { return start{time.Now(), processorSeconds(), allocations()} }

func (s start) result(count int, latencies []float64) result {
	seconds := time.Since(s.time).Seconds()
	return result{
		count, seconds, processorSeconds() - s.processor, float64(allocations() - s.allocations), latencies, peak(),
	}
}

// The most resident memory in MB.
func peak() float64 {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	for _, line := range strings.Split(string(status), "\n") {
		if strings.HasPrefix(line, "VmHWM:") {
			kilobytes, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
			check(err)
			return kilobytes * 1024 / 1e6
		}
	}
	return 0
}

func listen(ctx context.Context, client *firestore.Client) result {
	start := begin()
	snapshots := client.Collection("cities").Snapshots(ctx)
	defer snapshots.Stop()
	snapshot, err := snapshots.Next()
	check(err)
	return start.result(snapshot.Size, []float64{})
}

func change(ctx context.Context, client *firestore.Client) result {
	snapshots := client.Collection("changes").Snapshots(ctx)
	defer snapshots.Stop()
	start := begin()
	latencies := []float64{}
	for {
		snapshot, err := snapshots.Next()
		check(err)
		now := time.Now().UnixNano()
		documents, err := snapshot.Documents.GetAll()
		check(err)
		if len(documents) == 0 {
			continue
		}
		data := documents[0].Data()
		number, sent := data["number"].(int64), data["sent"].(int64)
		if number < 0 {
			fmt.Println("ready")
			continue
		}
		latencies = append(latencies, float64(now-sent)/1e9)
		if number == changes-1 {
			return start.result(len(latencies), latencies)
		}
	}
}

func write(ctx context.Context, client *firestore.Client) result {
	document := client.Collection("writes").NewDoc()
	_, err := document.Set(ctx, map[string]interface{}{"number": -1})
	check(err)
	start := begin()
	latencies := []float64{}
	for number := 0; number < writes; number++ {
		begun := time.Now()
		_, err := document.Update(ctx, []firestore.Update{{Path: "number", Value: number}})
		check(err)
		latencies = append(latencies, time.Since(begun).Seconds())
	}
	return start.result(len(latencies), latencies)
}

func main() {
	ctx := context.Background()
	client, err := firestore.NewClient(ctx, project)
	check(err)
	defer client.Close()
	work := map[string]func(context.Context, *firestore.Client) result{"listen": listen, "change": change, "write": write}
	if len(os.Args) != 2 || work[os.Args[1]] == nil {
		check(fmt.Errorf("usage: client listen|change|write"))
	}
	check(json.NewEncoder(os.Stdout).Encode(work[os.Args[1]](ctx, client)))
}
