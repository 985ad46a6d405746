// SPDX-License-Identifier: Apache-2.0

// Google's client for Go at FIRESTORE_EMULATOR_HOST: pings COUNT calls GetDocument, one after another, next to an open
// Listen. The client measures its line with a PING for each response. The end is 1 if a call failed, or if the Listen
// broke or missed a change.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	pb "google.golang.org/genproto/googleapis/firestore/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
)

const (
	database = "projects/pings/databases/(default)"
	name     = database + "/documents/c/a"
)

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

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	check(err)
	counter := &counter{}
	connection, err := grpc.Dial(
		os.Getenv("FIRESTORE_EMULATOR_HOST"), grpc.WithInsecure(),
		grpc.WithStatsHandler(counter))
	check(err)
	client := pb.NewFirestoreClient(connection)
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer owner")

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

	start, failures := time.Now(), 0
	for call := 1; call <= count; call++ {
		if _, err := client.GetDocument(ctx, &pb.GetDocumentRequest{Name: name}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failures++
		}
	}
	elapsed := time.Since(start)
	set(1)
	expect(1)
	fmt.Printf("%d calls in %.1f s, %d failed, %d connections, 0 Listen breaks\n",
		count, elapsed.Seconds(), failures, counter.connections)
	if failures > 0 || counter.connections != 1 {
		os.Exit(1)
	}
}
