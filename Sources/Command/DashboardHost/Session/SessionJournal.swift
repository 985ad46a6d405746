// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import Logging

/// Writes log entries about a session: its start and end, messages to the user, and the state of the connection. They
/// contain no contents of documents.
struct SessionJournal {
  private let log = Logger(label: "hearth.dashboard")
  private var last: ClientStatus?

  /// - Parameter status: the status of the client at the start.
  mutating func begin(_ configuration: DashboardConfiguration, _ status: ClientStatus) {
    last = status
    log.info(
      "a dashboard begins",
      metadata: ["project": "\(configuration.backend.project)", "database": "\(configuration.backend.database)"])
  }

  func end(_ status: Int32) { log.info("a dashboard ends", metadata: ["status": "\(status)"]) }

  mutating func note(_ action: Action) {
    switch action {
    case .host(.notice(let kind, let text), _):
      let level: Logger.Level =
        switch kind {
        case .info: .debug
        case .warning: .warning
        case .error: .error
        }
      log.log(level: level, "\(text)")
    case .client(.status(let status), _): note(status)
    default: break
    }
  }

  private mutating func note(_ status: ClientStatus) {
    defer { last = status }
    guard let last else { return }
    if last.isNetworkEnabled != status.isNetworkEnabled {
      log.debug("the network is switched \(status.isNetworkEnabled ? "on" : "off")")
    }
    if last.onlineState != status.onlineState { log.debug("the client is \(status.onlineState)") }
    for (name, old, new) in [("watch", last.watch, status.watch), ("write", last.write, status.write)] {
      if let error = new.lastError, error != old.lastError { log.debug("\(name) stream: \(error)") }
    }
  }
}
