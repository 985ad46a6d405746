// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
package import SerialExecutors
import Synchronization

/// Any datastore with a tap on its messages: of a client it sees what the client sends and is given, with every fault
/// between it and the backend.
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
    try await stream(.listen) { number async throws(RPCStatus) in
      try await base.watch(
        requests: StreamRequests {
          guard let request = await requests.makeAsyncIterator().next() else { return nil }
          tap.note(.listen, number, .sent) { $0.note(request, in: database) }
          return request
        },
        deliver: { event in
          if case .changes(let changes) = event {
            for change in changes { tap.note(.listen, number, .received) { $0.note(change, names) } }
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
    try await stream(.write) { number async throws(RPCStatus) in
      try await base.write(
        requests: StreamRequests {
          guard let request = await requests.makeAsyncIterator().next() else { return nil }
          unanswered.add(request.mutations)
          tap.note(.write, number, .sent) { $0.note(request, in: database) }
          return request
        },
        deliver: { event in
          tap.note(.write, number, .received) { message in
            switch event {
            case .opened(let token): (message.kind, message.tokenLength) = ("handshake", token.count)
            case .committed(let token, let response):
              message.note(response, streamToken: token, to: unanswered.takeFirst())
            }
          }
          await deliver(event)
        })
    }
  }

  package func followCommits(deliver: @Sendable (CommitNews) async -> Void) async throws(RPCStatus) {
    let tap = tap
    try await stream(.commits) { number async throws(RPCStatus) in
      try await base.followCommits { news in
        tap.note(.commits, number, .received) { message in
          switch news {
          case .everything: message.kind = "everything"
          case .collections(let notices): (message.kind, message.count) = ("collections", notices.count)
          }
        }
        await deliver(news)
      }
    }
  }

  private func stream(
    _ channel: TappedMessage.Channel, _ body: (Int) async throws(RPCStatus) -> Void
  ) async throws(RPCStatus) {
    let number = tap.number(of: channel)
    tap.note(channel, number, .begun)
    do throws(RPCStatus) {
      try await body(number)
      tap.note(channel, number, .ended)
    } catch {
      tap.note(channel, number, .ended) { $0.status = error }
      throw error
    }
  }

  // MARK: Calls

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse {
    try await call { [database] in
      $0.note(mutations, in: database)
    } answer: { message, response in
      message.note(response, to: mutations)
    } body: { () async throws(RPCStatus) in
      try await base.commit(mutations)
    }
  }

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await call { [database] in
      $0.note(read, in: database)
    } answer: { [names] message, answer in
      message.note(answer, to: read, names)
    } body: { () async throws(RPCStatus) in
      try await base.read(read)
    }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    let found = Mutex(0)
    try await call { [database] in
      $0.note(request, in: database)
    } answer: { message, _ in
      message.count = found.withLock(\.self)
    } body: { () async throws(RPCStatus) in
      try await base.visitDescendants(request) { documents in
        found.withLock { $0 += documents.count }
        return await deliver(documents)
      }
    }
  }

  private func call<Answer>(
    _ request: (inout TappedMessage) -> Void, answer: (inout TappedMessage, Answer) -> Void,
    body: () async throws(RPCStatus) -> Answer
  ) async throws(RPCStatus) -> Answer {
    let number = tap.number(of: .call)
    var kind = ""
    tap.note(.call, number, .sent) { message in
      request(&message)
      kind = message.kind
    }
    do throws(RPCStatus) {
      let result = try await body()
      tap.note(.call, number, .received) { message in
        message.kind = kind
        answer(&message, result)
      }
      return result
    } catch {
      tap.note(.call, number, .ended) { message in
        message.kind = kind
        message.status = error
      }
      throw error
    }
  }
}

/// The writes that a stream has sent and that are not answered: the k-th answer is that of the k-th request.
private final class Unanswered: Sendable {
  private let writes = Mutex<[[Mutation]]>([])
  func add(_ mutations: [Mutation]) { writes.withLock { $0.append(mutations) } }
  func takeFirst() -> [Mutation] { writes.withLock { $0.isEmpty ? [] : $0.removeFirst() } }
}

/// The messages that passed by and wait to be taken. Streams never wait for their taker: of more than there is room for
/// the later ones are counted.
package final class MessageTap: Sendable {
  private struct State {
    var waiting: [TappedMessage] = []
    var cost = 0
    var missed = 0
    var numbers: [TappedMessage.Channel: Int] = [:]
  }

  /// Yields when messages wait; one signal stands for all that came since the last.
  package let signals: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private let room: Int
  private let now: @Sendable () -> Timestamp
  private let state = Mutex(State())

  /// - Parameter room: the memory of the messages that may wait, estimated in bytes.
  package init(room: Int = 8 << 20, now: @escaping @Sendable () -> Timestamp) {
    (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.room = room
    self.now = now
  }

  /// The number of the next stream or call of a kind, from 1.
  func number(of channel: TappedMessage.Channel) -> Int {
    state.withLock { state in
      state.numbers[channel, default: 0] += 1
      return state.numbers[channel] ?? 1
    }
  }

  func note(
    _ channel: TappedMessage.Channel, _ number: Int, _ event: TappedMessage.Event,
    _ fill: (inout TappedMessage) -> Void = { _ in }
  ) {
    // A message that would only be counted is not even made.
    let isCounted = state.withLock { state in
      if state.missed > 0 { state.missed += 1 }
      return state.missed > 0
    }
    if isCounted {
      signal.yield()
      return
    }
    var message = TappedMessage(now(), channel, number, event)
    fill(&message)
    let cost = message.cost
    state.withLock { state in
      guard state.missed == 0, state.cost + cost <= room else {
        state.missed += 1
        return
      }
      state.waiting.append(message)
      state.cost += cost
    }
    signal.yield()
  }

  /// Takes what waits, oldest first. Where there was no room the last message tells how many are missing.
  package func take() -> [TappedMessage] {
    let time = now()
    return state.withLock { state in
      var taken = state.waiting
      if state.missed > 0 {
        var gap = TappedMessage(time, .call, 0, .missed)
        gap.count = state.missed
        taken.append(gap)
      }
      (state.waiting, state.cost, state.missed) = ([], 0, 0)
      return taken
    }
  }
}
