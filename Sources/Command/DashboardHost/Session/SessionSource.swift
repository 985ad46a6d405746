// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import DatastoreTapping
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import FirestoreSharing

/// The source of what a session shows. Each effect on a client goes to it, and to nothing else.
@MainActor
enum SessionSource {
  /// A client of the dashboard's own.
  case client(ClientSource)
  /// Another program's client; when the program ends, what was last known of it stays.
  case program(AttachedBridge)
  /// A recorded session, which plays by itself and can be asked for nothing, or a scenario, whose clients are its own.
  case recording

  /// - Parameters:
  ///   - tap: sees the messages between a client and its datastore.
  ///   - apply: the way of news to the dashboard.
  init(
    _ options: Session.Options, _ tap: MessageTap?, apply: @escaping @MainActor (Action) -> Void
  ) throws(StoreError) {
    switch options.subject {
    case .client: self = .client(try ClientSource(options, tap) { apply(Action($0, at: .now)) })
    case .program(let attachment):
      self = .program(AttachedBridge(attachment.link, attachment.program, attachment.greeting, apply: apply))
    case .recording, .scenario: self = .recording
    }
  }

  /// Begins to tell news, by tasks that last as long as the session.
  /// - Returns: what the user should read first.
  func begin(in group: inout TaskGroup<Void>, _ session: Session) -> [String] {
    switch self {
    case .client(let source): return source.begin(in: &group, session)
    case .program(let bridge):
      bridge.begin()
      group.addTask { await bridge.follow() }
      return []
    case .recording: return []
    }
  }

  func perform(_ effect: ClientRequest) {
    switch self {
    case .client(let source): source.bridge.perform(effect)
    case .program(let bridge): bridge.perform(effect)
    case .recording: break
    }
  }

  /// Tells nothing any more; the tasks of `begin` end by that, or by being cancelled.
  func close() {
    switch self {
    case .client(let source): source.bridge.close()
    case .program(let bridge): bridge.close()
    case .recording: break
    }
  }

  /// Ends the client after the tasks of `begin`.
  func end() async {
    if case .client(let source) = self { await source.end() }
  }

  /// The data, where other processes use it too.
  var data: SharedData? { if case .client(let source) = self { source.bridge.data } else { nil } }

  /// The cache's document; `nil` also where it cannot be read, and where documents are not this process's to edit.
  func cachedDocument(_ key: DocumentKey) async -> Document? {
    guard case .client(let source) = self else { return nil }
    return await source.bridge.cachedDocument(key)
  }
}
