// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite

/// A client that a session shows. It performs requests, and reports events to a given closure.
@MainActor
protocol SessionClient: AnyObject {
  func perform(_ request: ClientRequest)
  /// Ends all requests. No events follow.
  func close()
  /// The cached document; `nil` if it is not cached or cannot be read, or if this process cannot edit documents.
  func cachedDocument(_ key: DocumentKey) async -> Document?
}

extension ClientBridge: SessionClient {}

extension AttachedBridge: SessionClient {
  func cachedDocument(_ key: DocumentKey) async -> Document? { nil }
}

extension Session {
  /// Opens the client that the session shows first: its own, or another program's. A session that shows a recording or
  /// a scenario has no such client.
  /// - Returns: the session's own client.
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

  /// Starts reporting events, with tasks that last as long as the session.
  /// - Returns: the first messages for the user.
  func beginFirst(in group: inout TaskGroup<Void>) -> [String] {
    if let bridge = clients[clientSet.first.number] as? AttachedBridge {
      bridge.begin()
      group.addTask { await bridge.follow() }
    }
    return own?.begin(in: &group, self) ?? []
  }
}
