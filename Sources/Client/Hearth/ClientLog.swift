// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync
public import Foundation
import Synchronization

/// Writes the events of a client as lines of text while logging is enabled.
final class ClientLog: Sendable {
  /// Receives the log entries of all clients; `nil` while logging is not enabled.
  static let sink = Mutex<(@Sendable (FirestoreLogEntry) -> Void)?>(nil)
  /// Receives the warnings of all clients. Set even if logging was never enabled; `nil` after logging was explicitly
  /// disabled.
  static let warnings = Mutex<(@Sendable (FirestoreLogEntry) -> Void)?>(standardError)

  // A failure to write a line is ignored, so that it does not end the program.
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

  /// Follows the client's status until logging is disabled. Does nothing if this object already follows the status.
  func start() {
    guard Self.sink.withLock({ $0 }) != nil else { return }
    guard !isRunning.exchange(true, ordering: .acquiringAndReleasing) else { return }
    tasks.start { [self] in
      let wasDisabled = await follow()
      isRunning.store(false, ordering: .releasing)
      // Logging may have been enabled again meanwhile.
      if wasDisabled { start() }
    }
  }

  /// Follows the client's status and logs its events, until logging is disabled or the client ends.
  /// - Returns: true if logging was disabled; false if the client has ended.
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

  /// Writes an event that happened before the client was opened.
  static func write(_ event: String, _ database: DatabaseID) {
    sink.withLock { $0 }?(FirestoreLogEntry(event, database))
  }

  static func warn(_ event: String, _ database: DatabaseID) {
    warnings.withLock { $0 }?(FirestoreLogEntry(event, database, isWarning: true))
  }

  /// The lines that describe attempts to open a stream, derived from two successive statuses of the stream.
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

  /// The lines that describe all events between two statuses.
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

/// One event of a client, for the log of a program.
///
/// A log entry contains names of databases, write numbers and errors, but no documents.
public struct FirestoreLogEntry: Hashable, Sendable {
  /// Whether the entry is about an outage: its start, a new reason, or its end. All other entries are details.
  public let isWarning: Bool
  /// The time at which the event was reported.
  public let date: Date
  /// The full name of the database, such as `projects/my-app/databases/(default)`.
  public let database: String
  /// The text of the event, which is one line. Characters that could move a terminal's cursor, or reorder or hide text,
  /// are escaped.
  public let message: String

  init(_ event: String, _ database: DatabaseID, isWarning: Bool = false) {
    self.isWarning = isWarning
    date = Date()
    self.database = database.name
    message = Firestore.printable(event)
  }
}

extension FirestoreLogEntry: CustomStringConvertible {
  /// The event as one line of text, in the form that Hearth writes to standard error.
  public var description: String { "\(date.formatted(.iso8601)) Hearth \(database): \(message)" }
}

/// Decides when to warn that the backend does not answer. Warns when an outage has lasted ten seconds, at each later
/// change of the reason, and when the backend answers again.
struct OutageWarning: Sendable {
  /// The time that the SDKs wait for an answer before they treat the client as offline (ONLINE_STATE_TIMEOUT_MS).
  static let delay = Duration.seconds(10)

  private enum State: Sendable {
    case none
    /// An outage that has not been logged yet.
    case begun(ConnectionReason)
    case told(ConnectionReason)
  }

  enum Step: Hashable, Sendable {
    /// The caller must call `timeIsUp` with this number after the delay.
    case wait(Int)
    case say(String)
  }

  private var state = State.none
  /// The number of outages so far.
  private var count = 0

  /// Records a change of the connection.
  /// - Parameter reason: the reason why the backend does not answer; `nil` if the backend answers, or if the client
  ///   needs no connection.
  mutating func note(_ reason: ConnectionReason?) -> Step? {
    switch (state, reason) {
    case (.none, nil): return nil
    case (.none, let reason?):
      state = .begun(reason)
      count += 1
      return .wait(count)
    case (.begun, let reason?):
      state = .begun(reason)
      return nil
    case (.begun, nil):
      state = .none
      return nil
    case (.told(let last), let reason?):
      // The reason of the last failed attempt remains valid during the next attempt.
      if last == reason || reason == .connecting { return nil }
      state = .told(reason)
      return .say("the backend still does not answer: \(reason)")
    case (.told, nil):
      state = .none
      return .say("the backend answers again, or the client no longer needs it")
    }
  }

  /// Handles the end of the delay after which an outage is logged.
  /// - Parameter number: the number of the outage.
  /// - Returns: the warning, if this outage still continues; otherwise `nil`.
  mutating func timeIsUp(_ number: Int) -> String? {
    guard number == count, case .begun(let reason) = state else { return nil }
    state = .told(reason)
    let cause = "\(reason)"
    return
      "the backend has not answered for 10 seconds: \(cause)\(cause.hasSuffix(".") ? "" : ".") Reads use the cache, writes wait, and the "
      + "client keeps trying"
  }
}

/// Reports one client's `OutageWarning` lines to `ClientLog.warnings`.
final class OutageReporter: Sendable {
  private let warning = Mutex(OutageWarning())
  private let database: DatabaseID
  private let clock: any Clock<Duration>
  private let tasks: CallbackTasks

  init(_ database: DatabaseID, clock: any Clock<Duration>, tasks: CallbackTasks) {
    self.database = database
    self.clock = clock
    self.tasks = tasks
  }

  func watch(_ engine: SyncEngine) {
    engine.watchOutages { [weak self] reason in self?.note(reason) }
  }

  private func note(_ reason: ConnectionReason?) {
    switch warning.withLock({ $0.note(reason) }) {
    case .say(let line): ClientLog.warn(line, database)
    case .wait(let number):
      tasks.start { [self] in
        // The sleep throws when the client ends.
        guard (try? await clock.sleep(for: OutageWarning.delay)) != nil else { return }
        if let line = warning.withLock({ $0.timeIsUp(number) }) { ClientLog.warn(line, database) }
      }
    case nil: break
    }
  }
}
