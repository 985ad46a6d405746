// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel
package import FirestoreProtocol
package import SerialExecutors
import Synchronization

/// Wraps any datastore and records its messages. In a client, the recorded messages show the effects of faults between
/// the client and the backend.
package struct TappedDatastore: Datastore {
  private let base: any Datastore
  private let database: DatabaseID
  private let names: DocumentNames
  private let tap: MessageTap

  package init(_ base: any Datastore, of database: DatabaseID, tap: MessageTap) {
    self.base = base
    self.database = database
    names = DocumentNames(database)
    self.tap = tap
  }

  package var canFallSilent: Bool { base.canFallSilent }
  package var answersInProcess: Bool { base.answersInProcess }
  package var loop: (any WorkLoop & TaskExecutor)? { base.loop }
  package func reconnect() { base.reconnect() }
  package var traffic: DatastoreTraffic? { base.traffic }

  // MARK: Streams

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) {
    let (tap, database, names) = (tap, database, names)
    try await stream("Listen") { number async throws(RPCStatus) in
      try await base.watch(
        requests: StreamRequests {
          guard let request = await requests.makeAsyncIterator().next() else { return nil }
          tap.note(.request, number, "Listen") { $0.set(request, in: database) }
          return request
        },
        deliver: { event in
          if case .changes(let changes) = event {
            for change in changes { tap.note(.response, number, "Listen") { $0.set(change, names) } }
          }
          await deliver(event)
        })
    }
  }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) {
    let (tap, database) = (tap, database)
    let unanswered = Unanswered()
    try await stream("Write") { number async throws(RPCStatus) in
      try await base.write(
        requests: StreamRequests {
          guard let request = await requests.makeAsyncIterator().next() else { return nil }
          unanswered.add(request.mutations)
          tap.note(.request, number, "Write") { $0.set(request, in: database) }
          return request
        },
        deliver: { event in
          tap.note(.response, number, "Write") { message in
            switch event {
            case .opened(let token): message.setHandshake(token: token)
            case .committed(let token, let response): message.set(response, token: token, to: unanswered.takeFirst())
            }
          }
          await deliver(event)
        })
    }
  }

  package func followCommits(deliver: @Sendable (CommitUpdate) async -> Void) async throws(RPCStatus) {
    let tap = tap
    try await stream("FollowCommits") { number async throws(RPCStatus) in
      try await base.followCommits { news in
        tap.note(.response, number, "FollowCommits") { $0.set(news) }
        await deliver(news)
      }
    }
  }

  private func stream(
    _ method: String, _ body: (Int) async throws(RPCStatus) -> Void
  ) async throws(RPCStatus) {
    let number = tap.nextStream()
    tap.note(.opened, number, method)
    do throws(RPCStatus) {
      try await body(number)
      tap.note(.ended, number, method)
    } catch {
      tap.note(.ended, number, method) { $0.status = error }
      throw error
    }
  }

  // MARK: Calls

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await call("Commit") { [database] in
      $0.set(mutations, in: database)
    } response: { event, response in
      event.set(response, to: mutations)
    } body: { () async throws(RPCStatus) in
      try await base.commit(mutations)
    }
  }

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await call(ProtocolEvent.method(of: read)) { [database] in
      $0.set(read, in: database)
    } response: { [names] event, answer in
      event.set(answer, to: read, names)
    } body: { () async throws(RPCStatus) in
      try await base.read(read)
    }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    let found = Mutex(0)
    try await call("RunQuery") { [database] in
      $0.set(request, in: database)
    } response: { event, _ in
      event.setDescendants(found.withLock(\.self))
    } body: { () async throws(RPCStatus) in
      try await base.visitDescendants(request) { documents in
        found.withLock { $0 += documents.count }
        return await deliver(documents)
      }
    }
  }

  private func call<Answer>(
    _ method: String, _ request: (inout ProtocolEvent) -> Void, response: (inout ProtocolEvent, Answer) -> Void,
    body: () async throws(RPCStatus) -> Answer
  ) async throws(RPCStatus) -> Answer {
    let number = tap.nextStream()
    tap.note(.request, number, method, request)
    do throws(RPCStatus) {
      let answer = try await body()
      tap.note(.response, number, method) { response(&$0, answer) }
      return answer
    } catch {
      tap.note(.ended, number, method) { $0.status = error }
      throw error
    }
  }
}

/// The unanswered writes of a stream. Answers arrive in the order of the requests.
private final class Unanswered: Sendable {
  private let writes = Mutex<[[Mutation]]>([])
  func add(_ mutations: [Mutation]) { writes.withLock { $0.append(mutations) } }
  func takeFirst() -> [Mutation] { writes.withLock { $0.isEmpty ? [] : $0.removeFirst() } }
}

/// A queue with the events of a client's streams and calls. Streams never wait for the queue's reader: if the queue is
/// full, events are only counted.
package final class MessageTap: Sendable {
  private struct State {
    var waiting: [ProtocolEvent] = []
    var cost = 0
    var missed = 0
    var streams = 0
  }

  /// Yields an element when events are waiting. One element can announce several events.
  package let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let room: Int
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  /// - Parameter room: the limit for the estimated memory use of the waiting events, in bytes.
  package init(room: Int = 8 << 20, now: @escaping @Sendable () -> Timestamp) {
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.room = room
    self.now = now
  }

  /// The number of the next stream or call, from 1.
  func nextStream() -> Int {
    state.withLock { state in
      state.streams += 1
      return state.streams
    }
  }

  func note(
    _ kind: ProtocolEvent.Kind, _ stream: Int, _ method: String, _ fill: (inout ProtocolEvent) -> Void = { _ in }
  ) {
    // Counts the event without creating it if earlier events were already dropped.
    let isCounted = state.withLock { state in
      if state.missed > 0 { state.missed += 1 }
      return state.missed > 0
    }
    if isCounted {
      signal.yield()
      return
    }
    var event = ProtocolEvent(kind, at: now(), stream: stream, method: method)
    fill(&event)
    let cost = event.cost
    state.withLock { state in
      guard state.missed == 0, state.cost + cost <= room else {
        state.missed += 1
        return
      }
      state.waiting.append(event)
      state.cost += cost
    }
    signal.yield()
  }

  /// Removes and returns the waiting events, oldest first. If events were dropped, the last event contains their
  /// number.
  package func take() -> [ProtocolEvent] {
    let time = now()
    return state.withLock { state in
      var taken = state.waiting
      if state.missed > 0 { taken.append(ProtocolEvent(missed: state.missed, at: time)) }
      (state.waiting, state.cost, state.missed) = ([], 0, 0)
      return taken
    }
  }
}
