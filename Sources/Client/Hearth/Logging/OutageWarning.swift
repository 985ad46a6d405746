// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreSync
import Foundation
import Synchronization

/// The moments at which a program is told that its backend does not answer: after ten seconds, whenever the reason
/// changes then, and when it answers again.
struct OutageWarning: Sendable {
  /// The time that the SDKs wait for an answer (ONLINE_STATE_TIMEOUT_MS).
  static let delay = Duration.seconds(10)

  private enum State: Sendable {
    case none
    /// An outage that the program has not been told yet.
    case begun(ConnectionReason)
    case told(ConnectionReason)
  }

  enum Step: Hashable, Sendable {
    /// Calls `timeIsUp` with this number when the delay is over.
    case wait(Int)
    case say(String)
  }

  private var state = State.none
  /// The number of outages so far.
  private var count = 0

  /// Notes a change of the connection.
  /// - Parameter reason: the reason why the backend does not answer; `nil` if it does, or if no answer is wanted.
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
      // The outcome of the last attempt holds while the next one is under way.
      if last == reason || reason == .connecting { return nil }
      state = .told(reason)
      return .say("the backend still does not answer: \(reason)")
    case (.told, nil):
      state = .none
      return .say("the backend answers again, or is not needed")
    }
  }

  /// Ends the delay of an outage.
  /// - Parameter number: the number of the outage that was waited for.
  /// - Returns: the line for the program, if that outage goes on; `nil` otherwise.
  mutating func timeIsUp(_ number: Int) -> String? {
    guard number == count, case .begun(let reason) = state else { return nil }
    state = .told(reason)
    return "the backend has not answered for 10 seconds: \(reason). Reads come from the cache, writes wait, and the "
      + "client keeps trying"
  }
}

/// Writes the lines of `OutageWarning` to standard error, for one client.
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
        // Cancelled with the client.
        guard (try? await clock.sleep(for: OutageWarning.delay)) != nil else { return }
        if let line = warning.withLock({ $0.timeIsUp(number) }) { ClientLog.warn(line, database) }
      }
    case nil: break
    }
  }
}
