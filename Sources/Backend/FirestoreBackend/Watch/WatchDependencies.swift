// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The documents, besides the watched ones, that decide whether streams may go on.
struct WatchDependencies {
  private var keys: [WatchSessionID: Set<DocumentKey>] = [:]
  private var sessions: [DatabaseID: [DocumentKey: Set<WatchSessionID>]] = [:]
  /// The streams with a changed document among these.
  private var concerned: Set<WatchSessionID> = []

  var isEmpty: Bool { keys.isEmpty }

  /// Replaces the documents that a stream depends on.
  mutating func set(_ new: Set<DocumentKey>, of session: WatchSessionID, in database: DatabaseID) {
    let old = keys[session] ?? []
    for key in old.subtracting(new) {
      sessions[database]?[key]?.remove(session)
      if sessions[database]?[key]?.isEmpty == true { sessions[database]?[key] = nil }
    }
    for key in new.subtracting(old) { sessions[database, default: [:]][key, default: []].insert(session) }
    keys[session] = new.isEmpty ? nil : new
    if sessions[database]?.isEmpty == true { sessions[database] = nil }
  }

  mutating func forget(_ session: WatchSessionID, in database: DatabaseID) {
    set([], of: session, in: database)
    concerned.remove(session)
  }

  /// Notes that a document has changed.
  /// - Returns: the streams that depend on it.
  mutating func note(_ key: DocumentKey, in database: DatabaseID) -> Set<WatchSessionID> {
    guard let affected = sessions[database]?[key] else { return [] }
    concerned.formUnion(affected)
    return affected
  }

  /// Notes that any document may have changed.
  mutating func noteAll(in database: DatabaseID) {
    for affected in (sessions[database] ?? [:]).values { concerned.formUnion(affected) }
  }

  /// Whether something has changed for a stream since this was last asked.
  mutating func takeConcern(_ session: WatchSessionID) -> Bool { concerned.remove(session) != nil }
}
