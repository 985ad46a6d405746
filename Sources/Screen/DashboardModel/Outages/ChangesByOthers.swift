// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// The documents of a snapshot that others changed: also those that this client wrote too, if more of them differs than
/// what the server computed for it.
package struct ChangesByOthers {
  package let changes: [(key: DocumentKey, kind: FeedRow.Kind)]
  /// The documents that were looked up, because the server no longer named them.
  package let lookedUp: [DocumentKey]

  package init(_ snapshot: ListenerSnapshot, _ writes: WriteQueue) {
    lookedUp = snapshot.causes.compactMap { if case .limboResolved(let key) = $0 { key } else { nil } }
    let isFromServer = snapshot.causes.contains {
      switch $0 {
      case .server, .limboResolved, .existenceFilter: true
      default: false
      }
    }
    guard isFromServer else {
      changes = []
      return
    }
    let causes = CausesOfChanges(snapshot.causes, writes)
    changes = snapshot.changes.compactMap { change in
      let key = change.document.key
      guard causes.localWrite(to: key) == nil, causes.end(of: key) == nil else { return nil }
      let acknowledged = causes.acknowledgement(of: key, wasPending: change.previous?.hasPendingWrites == true)
      let isChanged =
        change.kind == .modified || change.kind == .metadata
        ? Self.differs(change, transforms: acknowledged.flatMap { writes.transforms(of: $0, to: key) } ?? [])
        : acknowledged == nil
      return isChanged ? (key, FeedRow.Kind(change.kind)) : nil
    }
  }

  private static func differs(_ change: ListenerSnapshot.Change, transforms: Set<FieldPath>) -> Bool {
    let (old, new) = (change.previous?.data?.fields ?? Fields(), change.after.data?.fields ?? Fields())
    return FieldChange.between(old, new).contains { change in
      // The server fills in times, and computes what it was asked to.
      if case .serverTimestamp? = change.old { return false }
      return !transforms.contains { $0.isPrefix(of: change.path) || change.path.isPrefix(of: $0) }
    }
  }
}
