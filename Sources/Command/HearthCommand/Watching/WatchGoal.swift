// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreText
import Glibc

/// The condition that ends `hearth watch --until`.
enum WatchGoal: Hashable, Sendable {
  /// A number of printed changes.
  case count(Int)
  /// A printed change of this kind.
  case change(WatchedChange.Kind)
  /// A printed snapshot that is in sync with the server.
  case synced

  static func parse(_ text: String) throws -> WatchGoal {
    if let count = Int(text), count > 0 { return .count(count) }
    if text == "synced" { return .synced }
    if let kind = WatchedChange.Kind(rawValue: text) { return .change(kind) }
    throw TextError("Expected a number of changes, or added, modified, removed, metadata or synced.")
  }
}

/// Counts printed changes towards a goal.
struct WatchProgress {
  let goal: WatchGoal?
  private(set) var isReached = false
  private var count = 0

  init(_ goal: WatchGoal?) { self.goal = goal }

  mutating func printed(_ kind: WatchedChange.Kind) {
    count += 1
    if goal == .count(count) || goal == .change(kind) { isReached = true }
  }

  mutating func finishedSnapshot(isFromCache: Bool) {
    if goal == .synced, !isFromCache { isReached = true }
  }
}

/// The events that end a command without an end of its own: a signal, or the loss of its output's reader.
final class Interruptions {
  enum Cause: Hashable, Sendable {
    case signal(Int32)
    case readerGone
  }

  let causes: AsyncStream<Cause>
  private let continuation: AsyncStream<Cause>.Continuation?
  private let signals: [any DispatchSourceSignal]

  /// Passes on what others find to be this command's.
  init(_ causes: AsyncStream<Cause>) {
    self.causes = causes
    continuation = nil
    signals = []
  }

  private init(
    _ causes: AsyncStream<Cause>, _ continuation: AsyncStream<Cause>.Continuation, _ signals: [any DispatchSourceSignal]
  ) {
    (self.causes, self.continuation, self.signals) = (causes, continuation, signals)
  }

  /// Hears the signals and the output of the process: from then on SIGINT, SIGTERM and SIGHUP do not end it by
  /// themselves.
  static func ofProcess() -> Interruptions {
    let (causes, continuation) = AsyncStream.makeStream(of: Cause.self, bufferingPolicy: .bufferingNewest(1))
    let signals = [SIGINT, SIGTERM, SIGHUP].map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(.signal(number)) }
      source.activate()
      return source
    }
    watchOutput(continuation)
    return Interruptions(causes, continuation, signals)
  }

  deinit {
    for source in signals { source.cancel() }
    continuation?.finish()
  }

  /// Waits for the loss of the output's reader on a thread, until the process ends: a pipe's writing end then has an
  /// error, a file never.
  private static func watchOutput(_ continuation: AsyncStream<Cause>.Continuation) {
    DispatchQueue(label: "hearth.output").async {
      var state = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while poll(&state, 1, -1) < 0, errno == EINTR {}
      continuation.yield(.readerGone)
    }
  }
}
