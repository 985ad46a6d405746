// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite

/// A client that a session shows. It performs requests, and reports events to the closure that it was made with.
@MainActor
protocol SessionClient: AnyObject {
  func perform(_ request: ClientRequest)
  /// Ends every request; no events follow.
  func close()
  /// The cache's document; `nil` also where it cannot be read, and where documents are not this process's to edit.
  func cachedDocument(_ key: DocumentKey) async -> Document?
}

extension ClientBridge: SessionClient {}

extension AttachedBridge: SessionClient {
  func cachedDocument(_ key: DocumentKey) async -> Document? { nil }
}

extension Session {
  /// Opens the client that the session shows first: its own, or that of another program. A recording and a scenario have
  /// none here.
  /// - Returns: the client of the session's own.
  func openFirst() throws(StoreError) -> ClientSource? {
    let first = stage.first.number
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

  /// Begins to report events, by tasks that last as long as the session.
  /// - Returns: what the user should read first.
  func beginFirst(in group: inout TaskGroup<Void>) -> [String] {
    if let bridge = clients[stage.first.number] as? AttachedBridge {
      bridge.begin()
      group.addTask { await bridge.follow() }
    }
    return own?.begin(in: &group, self) ?? []
  }
}
