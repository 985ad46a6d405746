// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import SerialExecutors

extension SyncEngine {
  /// Runs streams and timers until the task is canceled or the engine is terminated. Returns when all of them have
  /// stopped. The owner must call this function once.
  package nonisolated func run() async {
    await withDiscardingTaskGroup { group in
      for await order in jobs.orders {
        group.addTask { await self.jobs.run(order.job) { await self.perform(order) } }
      }
      group.cancelAll()
    }
  }

  private nonisolated func perform(_ order: EngineJobs.Order) async {
    if order.delay > .zero {
      // A canceled task means that the job was abandoned.
      guard (try? await clock.sleep(for: order.delay)) != nil else { return }
    } else if case .timer = order.job {
      await pause()
    }
    switch order.job {
    case .timer(let timer, let generation): await fire(timer, generation)
    case .stream(let kind, let epoch):
      await began(kind, epoch)
      switch kind {
      case .watch: await runWatchStream(epoch)
      case .write: await runWriteStream(epoch)
      }
    }
  }

  private func fire(_ timer: SyncTimer, _ generation: Int) {
    guard jobs.isCurrent(timer, generation) else { return }
    switch timer {
    case .leaseRefresh: refreshLease()
    case .writeDeadline:
      let time = now()
      transition { core in core.expireWrites(at: time) }
    default: transition { core in core.fire(timer) }
    }
  }

  /// Handles the end of a stream's backoff. After this, the attempt to open the stream begins.
  private func began(_ kind: StreamKind, _ epoch: StreamEpoch) {
    var isCurrent = false
    transition { core in isCurrent = core.streamBegan(kind, in: epoch) }
    if isCurrent { record.began(kind, at: now()) }
  }

  /// Performs one step of a stream on the engine. If the stream's messages arrive on the engine's thread, the step runs
  /// immediately.
  private nonisolated func step<Answer: Sendable>(_ body: @Sendable (isolated SyncEngine) -> Answer) async -> Answer {
    if let answer = stepAtOnce(body) { return answer }
    return await inTurn(body)
  }

  private nonisolated func stepAtOnce<Answer: Sendable>(
    _ body: @Sendable (isolated SyncEngine) -> Answer
  ) -> Answer? {
    isOnStreamThread && loop?.isCurrent == true ? assumeIsolated(body) : nil
  }

  private func inTurn<Answer: Sendable>(_ body: @Sendable (isolated SyncEngine) -> Answer) -> Answer { body(self) }

  // MARK: Watch

  private nonisolated func runWatchStream(_ epoch: StreamEpoch) async {
    var status: RPCStatus?
    if datastore.canFallSilent {
      status = await withTaskGroup(of: RPCStatus?.self) { group in
        group.addTask { await self.watch(epoch) }
        group.addTask { await self.waitForSilence(of: epoch) }
        var first: RPCStatus?
        for await end in group where first == nil {
          first = end
          if end != nil { group.cancelAll() }
        }
        return first
      }
    } else {
      status = await watch(epoch)
    }
    await ended(.watch, status ?? RPCStatus(.unavailable, "The watch stream ended."), epoch)
  }

  /// Runs the watch stream until it ends.
  private nonisolated func watch(_ epoch: StreamEpoch) async -> RPCStatus {
    let signal = jobs.signal(for: .watch)
    let requests = StreamRequests<WatchRequest> {
      while !Task.isCancelled {
        if let request = await self.step({ engine in engine.takeWatchRequest(epoch) }) { return request }
        await signal.wait()
      }
      return nil
    }
    do throws(RPCStatus) {
      try await datastore.watch(requests: requests) { event in
        await self.step { engine in engine.receive(event, epoch) }
      }
    } catch {
      return error
    }
    return RPCStatus(.unavailable, "The watch stream ended.")
  }

  private func takeWatchRequest(_ epoch: StreamEpoch) -> WatchRequest? {
    var request: WatchRequest?
    transition { core in request = core.takeWatchRequest(in: epoch) }
    if request != nil { record.meters.sent(.watch) }
    return request
  }

  private func receive(_ event: WatchEvent, _ epoch: StreamEpoch) {
    hasHeardFromWatch = true
    switch event {
    case .opened: transition { core in core.watchStreamOpened(in: epoch) }
    case .changes(let changes):
      let time = now()
      record.meters.received(.watch, changes.count, at: time)
      if changes.contains(where: \.isSnapshot) { record.lastSnapshotAt = time }
      transition { core in core.receive(changes, in: epoch) }
    }
  }

  // MARK: Write

  private nonisolated func runWriteStream(_ epoch: StreamEpoch) async {
    let signal = jobs.signal(for: .write)
    let requests = StreamRequests<WriteRequest> {
      while !Task.isCancelled {
        if let request = await self.step({ engine in engine.takeWrite(epoch) }) { return request }
        await signal.wait()
      }
      return nil
    }
    var status = RPCStatus(.unavailable, "The write stream ended.")
    do throws(RPCStatus) {
      try await datastore.write(requests: requests) { event in
        await self.step { engine in engine.receive(event, epoch) }
      }
    } catch {
      status = error
    }
    await ended(.write, status, epoch)
  }

  private func takeWrite(_ epoch: StreamEpoch) -> WriteRequest? {
    var request: WriteRequest?
    transition { core in request = core.takeWrite(in: epoch, at: now())?.request }
    if request != nil { record.meters.sent(.write) }
    return request
  }

  private func receive(_ event: WriteEvent, _ epoch: StreamEpoch) {
    record.meters.received(.write, 1, at: now())
    transition { core in
      switch event {
      case .opened(let token): core.writeStreamOpened(token: token, in: epoch)
      case .committed(let token, let response): core.receive(response, token: token, in: epoch, at: now())
      }
    }
  }

  private func ended(_ kind: StreamKind, _ status: RPCStatus, _ epoch: StreamEpoch) {
    transition { core in core.streamEnded(kind, status, in: epoch, at: now()) }
  }
}

/// Ends a silent watch stream. A stream without messages may be stuck although the transport considers the stream
/// alive. For example, a proxy may answer in place of a stuck server, or the rest of a message may never arrive.
/// Backends send a keep-alive message every 30 s (PROTOCOL §2.7). Google's client also ends a stream after two minutes
/// of silence (nodejs-firestore: WATCH_IDLE_TIMEOUT_MS).
///
/// If a stream with listeners is silent for two minutes, the client ends it (up to one `step` later), and opens a new
/// stream over a new connection. The client's status reports the silence as the reason until the server answers. If a
/// server never sends keep-alive messages, the client opens a new stream after every two quiet minutes. The new stream
/// resumes from its tokens, so it transfers no documents, and listeners receive no events. Streams within the process
/// cannot get stuck, so the client never ends them.
package enum WatchSilence {
  package static let limit = Duration.seconds(120)
  /// The interval at which the client checks for silence. Because of these checks, messages do not have to reset a
  /// timer.
  package static let step = Duration.seconds(12)

  static let status = RPCStatus(
    .unavailable,
    "The server has sent nothing for two minutes, not even a keep-alive message. The watch stream is reopened.")
}

extension SyncEngine {
  /// - Returns: the reason for ending the stream; `nil` if the task was canceled.
  nonisolated func waitForSilence(of epoch: StreamEpoch) async -> RPCStatus? {
    var silence = Duration.zero
    while silence < WatchSilence.limit {
      // A canceled task means that the stream ended.
      guard (try? await clock.sleep(for: WatchSilence.step)) != nil else { return nil }
      silence = await wasSilent() ? silence + WatchSilence.step : .zero
    }
    datastore.reconnect()
    return WatchSilence.status
  }

  /// Whether there are targets, but no message has arrived since the last call.
  private func wasSilent() -> Bool {
    defer { hasHeardFromWatch = false }
    return !hasHeardFromWatch && core?.watching.plan.isEmpty == false
  }
}
