// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FirestoreText
import Glibc

/// When `hearth watch --until` is satisfied.
enum WatchGoal: Hashable, Sendable {
  /// So many changes were printed.
  case count(Int)
  /// A change of this kind was printed.
  case change(WatchedChange.Kind)
  /// A snapshot that is in sync with the server was printed.
  case synced

  static func parse(_ text: String) throws -> WatchGoal {
    if let count = Int(text), count > 0 { return .count(count) }
    if text == "synced" { return .synced }
    if let kind = WatchedChange.Kind(rawValue: text) { return .change(kind) }
    throw TextError("Expected a number of changes, or added, modified, removed, metadata or synced.")
  }
}

/// Counts what was printed against a goal.
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

/// What ends a command that would run for ever: a signal, or a reader of its output that goes away.
final class Interruptions {
  enum Cause: Hashable, Sendable {
    case signal(Int32)
    case readerGone
  }

  let causes: AsyncStream<Cause>
  private let continuation: AsyncStream<Cause>.Continuation?
  private var signals: [any DispatchSourceSignal] = []

  /// As soon as they are heard, SIGINT, SIGTERM and SIGHUP do not end the process by themselves. In a shell they are the
  /// shell's, which says what is this command's.
  init() {
    if let shell = ShellSurroundings.current {
      (causes, continuation) = (shell.interruptions(), nil)
      return
    }
    let (causes, continuation) = AsyncStream.makeStream(of: Cause.self, bufferingPolicy: .bufferingNewest(1))
    (self.causes, self.continuation) = (causes, continuation)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield(.signal(number)) }
      source.activate()
      signals.append(source)
    }
    Self.watchOutput(continuation)
  }

  deinit {
    for source in signals { source.cancel() }
    continuation?.finish()
  }

  /// A pipe's writing end has an error when its reader is gone; a file never has one. One thread waits for it
  /// until the process ends.
  private static func watchOutput(_ continuation: AsyncStream<Cause>.Continuation) {
    DispatchQueue(label: "hearth.output").async {
      var state = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while poll(&state, 1, -1) < 0, errno == EINTR {}
      continuation.yield(.readerGone)
    }
  }
}
