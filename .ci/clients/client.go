// SPDX-License-Identifier: Apache-2.0

// Google's client for Go at FIRESTORE_EMULATOR_HOST. client listen|change|write does what `hearth-bench --served-client` does,
// and reports it in the same JSON. client pings COUNT calls GetDocument COUNT times, next to an open Listen: the client measures
// its line with a PING for each response. It exits with 1 if a call failed, or if the Listen broke or missed a change.
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
	pb "google.golang.org/genproto/googleapis/firestore/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
)

const (
	project = "compare"
	changes = 1000
	writes  = 2000

	database = "projects/pings/databases/(default)"
	name     = database + "/documents/c/a"
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

// Counts connections.
type counter struct{ connections int }

func (c *counter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (c *counter) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c *counter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c *counter) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnBegin); ok {
		c.connections++
	}
}

func pings(ctx context.Context, count int) {
	counter := &counter{}
	connection, err := grpc.Dial(
		os.Getenv("FIRESTORE_EMULATOR_HOST"), grpc.WithInsecure(),
		grpc.WithStatsHandler(counter))
	check(err)
	client := pb.NewFirestoreClient(connection)
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer owner")

	set := func(number int64) {
		fields := map[string]*pb.Value{"n": {ValueType: &pb.Value_IntegerValue{IntegerValue: number}}}
		_, err := client.Commit(ctx, &pb.CommitRequest{Database: database, Writes: []*pb.Write{
			{Operation: &pb.Write_Update{Update: &pb.Document{Name: name, Fields: fields}}}}})
		check(err)
	}
	set(0)

	changes, broken := make(chan int64, 100), make(chan error, 1)
	listen, err := client.Listen(ctx)
	check(err)
	check(listen.Send(&pb.ListenRequest{Database: database, TargetChange: &pb.ListenRequest_AddTarget{
		AddTarget: &pb.Target{TargetId: 1, TargetType: &pb.Target_Documents{
			Documents: &pb.Target_DocumentsTarget{Documents: []string{name}}}}}}))
	go func() {
		for {
			response, err := listen.Recv()
			if err != nil {
				broken <- err
				return
			}
			if change := response.GetDocumentChange(); change != nil {
				changes <- change.Document.Fields["n"].GetIntegerValue()
			}
		}
	}()
	expect := func(number int64) {
		select {
		case got := <-changes:
			if got != number {
				check(fmt.Errorf("the Listen delivered %d instead of %d", got, number))
			}
		case err := <-broken:
			check(fmt.Errorf("the Listen broke: %w", err))
		case <-time.After(10 * time.Second):
			check(fmt.Errorf("the Listen delivered nothing for 10 seconds"))
		}
	}
	expect(0)

	started, failures := time.Now(), 0
	for call := 1; call <= count; call++ {
		if _, err := client.GetDocument(ctx, &pb.GetDocumentRequest{Name: name}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failures++
		}
	}
	elapsed := time.Since(started)
	set(1)
	expect(1)
	fmt.Printf("%d calls in %.1f s, %d failed, %d connections, 0 Listen breaks\n",
		count, elapsed.Seconds(), failures, counter.connections)
	if failures > 0 || counter.connections != 1 {
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	if len(os.Args) == 3 && os.Args[1] == "pings" {
		count, err := strconv.Atoi(os.Args[2])
		check(err)
		pings(ctx, count)
		return
	}
	client, err := firestore.NewClient(ctx, project)
	check(err)
	defer client.Close()
	work := map[string]func(context.Context, *firestore.Client) result{"listen": listen, "change": change, "write": write}
	if len(os.Args) != 2 || work[os.Args[1]] == nil {
		check(fmt.Errorf("usage: client listen|change|write, or client pings COUNT"))
	}
	check(json.NewEncoder(os.Stdout).Encode(work[os.Args[1]](ctx, client)))
}
