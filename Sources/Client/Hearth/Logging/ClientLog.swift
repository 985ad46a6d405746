// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync
import Foundation
import Synchronization

/// The events of a client, as lines of text, while logging is enabled.
final class ClientLog: Sendable {
  /// The receiver of the events of all clients; `nil` while logging is not enabled.
  static let sink = Mutex<(@Sendable (FirestoreLogEntry) -> Void)?>(nil)
  /// The receiver of events that a program should show whether or not logging is enabled; `nil` once it was disabled on
  /// purpose.
  static let warnings = Mutex<(@Sendable (FirestoreLogEntry) -> Void)?>(standardError)

  // A line that cannot be written is lost; this must not end the program.
  static let standardError: @Sendable (FirestoreLogEntry) -> Void = { entry in
    try? FileHandle.standardError.write(contentsOf: Data("\(entry)\n".utf8))
  }

  private let database: DatabaseID
  private let engine: SyncEngine
  private let tasks: CallbackTasks
  private let isRunning = Atomic(false)

  init(database: DatabaseID, engine: SyncEngine, tasks: CallbackTasks) {
    self.database = database
    self.engine = engine
    self.tasks = tasks
  }

  /// Follows the client's status until logging is disabled. Does nothing if it follows the status already.
  func start() {
    guard Self.sink.withLock({ $0 }) != nil else { return }
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
    tasks.start { [self] in
      let wasDisabled = await follow()
      isRunning.store(false, ordering: .releasing)
      // Logging may have been enabled again in between.
      if wasDisabled { start() }
    }
  }

  /// Writes the events of the client's status until logging is disabled or the client ends.
  /// - Returns: whether logging was disabled; if not, the client has ended.
  private func follow() async -> Bool {
    if let problem = engine.cacheProblem, let sink = Self.sink.withLock({ $0 }) {
      sink(FirestoreLogEntry("the cache is not in use: \(problem.notice)", database))
    }
    var last: ClientStatus?
    for await status in engine.status() {
      guard let sink = Self.sink.withLock({ $0 }) else { return true }
      for event in Self.events(from: last, to: status) { sink(FirestoreLogEntry(event, database)) }
      last = status
    }
    return false
  }

  /// Writes an event from before the client was there.
  static func write(_ event: String, _ database: DatabaseID) {
    sink.withLock { $0 }?(FirestoreLogEntry(event, database))
  }

  static func warn(_ event: String, _ database: DatabaseID) {
    warnings.withLock { $0 }?(FirestoreLogEntry(event, database, isWarning: true))
  }

  /// The lines about attempts to open a stream between two of its statuses.
  private static func attempts(_ name: String, from old: StreamStatus?, to new: StreamStatus) -> [String] {
    var events: [String] = []
    let isNewError = new.lastError != nil && new.lastError != old?.lastError
    if case .backoff(let until) = new.state {
      let isNext = if case .backoff(until)? = old?.state { false } else { true }
      if isNext, let error = new.lastError {
        let time = Date(timeIntervalSince1970: Double(until.microseconds) / 1e6)
        events.append("\(name) stream failed, \(error); next attempt at \(time.formatted(.iso8601))")
      }
    } else if isNewError, let error = new.lastError {
      events.append("\(name) stream failed, \(error)")
    }
    if new.state == .opening, old?.state != .opening || isNewError { events.append("\(name) stream opens") }
    return events
  }

  /// The lines about all that happened between two statuses.
  static func events(from old: ClientStatus?, to new: ClientStatus) -> [String] {
    var events: [String] = []
    let outcomes = new.recentOutcomes.filter { $0.sequence > old?.recentOutcomes.last?.sequence ?? 0 }
    for outcome in old == nil ? [] : outcomes {
      events.append("write \(outcome.batch) " + (outcome.rejection.map { "rejected, \($0)" } ?? "acknowledged"))
    }
    events += attempts("watch", from: old?.watch, to: new.watch) + attempts("write", from: old?.write, to: new.write)
    if old?.onlineState != new.onlineState || old?.reason != new.reason {
      events.append("\(new.onlineState)" + (new.reason.map { " (\($0))" } ?? ""))
    }
    return events
  }
}
