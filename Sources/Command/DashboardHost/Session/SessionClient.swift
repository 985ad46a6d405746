// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite

/// A client that a session shows. It performs requests, and reports events with a closure.
@MainActor
protocol SessionClient: AnyObject {
  func perform(_ request: ClientRequest)
  /// Ends all requests. No events are reported after this call.
  func close()
  /// The cached document; `nil` if it is not cached or cannot be read, or if this process cannot edit documents.
  func cachedDocument(_ key: DocumentKey) async -> Document?
}

extension ClientBridge: SessionClient {}

extension AttachedBridge: SessionClient {
  func cachedDocument(_ key: DocumentKey) async -> Document? { nil }
}

extension Session {
  /// Opens the client that is shown first, which is the session's own or another program's. If the session shows a
  /// recording or a scenario, there is no such client.
  /// - Returns: the session's own client, if any.
  func openFirst() throws(StoreError) -> ClientSource? {
    let first = clientSet.first.number
    let report: @MainActor (Action) -> Void = { [weak self] in self?.apply($0, from: first) }
    switch options.subject {
    case .client:
      let source = try ClientSource(options, tap) { report(Action($0, at: .now)) }
      clients[first] = source.bridge
      return source
    case .program(let attachment):
      clients[first] = AttachedBridge(attachment.link, attachment.program, attachment.greeting, apply: report)
      return nil
    case .recording, .scenario: return nil
    }
  }

  /// Starts to report the client's events, in tasks that run as long as the session.
  /// - Returns: the first messages to the user.
  func beginFirst(in group: inout TaskGroup<Void>) -> [String] {
    if let bridge = clients[clientSet.first.number] as? AttachedBridge {
      bridge.begin()
      group.addTask { await bridge.follow() }
    }
    return own?.begin(in: &group, self) ?? []
  }
}
