// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import FirestoreSync

@Suite("Stream pipelines and connectivity")
struct PipelineTests {
  private static let now = Timestamp(seconds: 5)
  private static let denied = RPCStatus(.permissionDenied, "no")
  private static let gone = RPCStatus(.unavailable, "gone")

  /// A pipeline whose stream is open, with two batches in flight.
  private static func writes() -> WritePipeline {
    var writes = WritePipeline()
    writes.begin(
      nil,
      with: (1...2).map {
        MutationBatch(id: BatchID($0), localWriteTime: now, mutations: [set("rooms/\($0)")])
      })
    var generator = CountingGenerator()
    _ = writes.start(using: &generator)
    _ = writes.opened(token: [1], in: writes.stream.epoch)
    while writes.take(in: writes.stream.epoch, at: now) != nil {}
    return writes
  }

  @Test("A permanent error rejects only the oldest batch in flight; the others are resent")
  func failedWriteStream() {
    var refusing = Self.writes()
    var losing = Self.writes()
    let epoch = refusing.stream.epoch

    let refusal = refusing.failed(Self.denied, in: epoch)
    let loss = losing.failed(Self.gone, in: epoch)

    #expect(refusal?.wasOpen == true && refusal?.refused?.id == BatchID(1))
    #expect(loss?.wasOpen == true && loss?.refused == nil)
    #expect(refusing.queue.inFlightCount == 0 && refusing.isDue && losing.isDue)
    #expect(refusing.queue.pipeline.map { $0.lastError?.code } == [.permissionDenied, nil])
    #expect(losing.queue.pipeline.map { $0.lastError?.code } == [.unavailable, .unavailable])
  }

  @Test("S8: An old stream does not affect the write pipeline")
  func oldWriteStream() {
    var writes = Self.writes()
    let old = writes.stream.epoch
    let closed = writes.stop().count

    let taken = writes.take(in: old, at: Self.now)
    let end = writes.failed(Self.denied, in: old)
    let opened = writes.opened(token: [2], in: old)

    #expect(closed == 1 && taken == nil && end == nil && !opened && !writes.isOpen(in: old))
    #expect(writes.isDue && writes.stream.lastError == nil)
  }

  @Test("S4: A response with the wrong number of results is rejected")
  func misfit() {
    var writes = Self.writes()
    let version = SnapshotVersion(microseconds: 9)
    let result = MutationResult(version: version)

    let misfit = writes.answered(CommitResponse(commitTime: version, results: [result, result]), token: [2])
    let fitting = writes.answered(CommitResponse(commitTime: version, results: [result]), token: [2])

    #expect(misfit == nil && fitting?.id == BatchID(1))
  }

  @Test("S5: A requested target awaits one response, and a stopped stream awaits none")
  func watchedTarget() throws {
    var watching = WatchPipeline(database: database)
    let target = TargetData(id: TargetID(2), target: query("rooms").target, sequenceNumber: 1)
    let lookup = { (data: TargetData) in
      WatchedTarget(target: data.target, purpose: data.purpose, syncedKeys: [])
    }
    var generator = CountingGenerator()
    #expect(watching.want(target).isEmpty && watching.isDue, "no stream is there to be woken")
    _ = watching.start(using: &generator)
    let epoch = watching.stream.epoch
    _ = watching.opened(in: epoch)
    #expect(watching.responsesOwed(target.id) == 0)

    let request = watching.takeRequest(in: epoch, stored: { _ in nil }, lookup)
    #expect(request != nil && watching.responsesOwed(target.id) == 1)
    try watching.receive(.added([target.id]), lookup)
    #expect(watching.responsesOwed(target.id) == 0)
    let isOver = watching.drop(target.id).count
    #expect(isOver == 2 && watching.isIdle, "the stream is woken for the removal, and closed after a while")
    let closed = watching.stop().count

    #expect(closed == 1 && !watching.isDue && !watching.plan.hasRequests)
  }

  @Test("A failed write stream means offline if the state of the watch stream is unknown")
  func connectivity() {
    var network = Connectivity()
    network.failed(Self.gone)
    #expect(network.onlineState == .unknown && network.stateOfEitherStream == .offline)
    let timers = network.changeOnlineState { $0.watchStreamStarted() }.count
    network.forgetFailure()
    #expect(timers == 1 && network.stateOfEitherStream == .unknown)
    network.stop(by: .secondary)
    #expect(!network.isUsed && network.isEnabled && !network.holdsWrites)
  }
}
