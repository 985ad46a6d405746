// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One difference between two snapshots of a view.
package struct DocumentChange: Equatable, Sendable {
  package enum Kind: Int, Hashable, Sendable {
    case removed, added, modified
    /// Only the document's pending-writes flag changed.
    case metadata
  }

  package var kind: Kind
  /// The document's new state. For a removed document, its last state in the view.
  package var document: Document

  package init(kind: Kind, document: Document) {
    self.kind = kind
    self.document = document
  }
}

/// The differences between two snapshots, by document. If a document changes twice, the two changes are merged. This
/// type is also used to merge unread snapshots (SDK: DocumentViewChangeSet).
package struct DocumentChangeSet: Sendable {
  /// The change, in the usual case that there is only one. Using a dictionary in this case would take longer than all
  /// other work.
  private var only: DocumentChange?
  /// All changes if there are several; otherwise empty.
  private var byKey: [DocumentKey: DocumentChange] = [:]

  package init() {}

  package init(_ changes: some Sequence<DocumentChange>) {
    for change in changes { track(change) }
  }

  package var isEmpty: Bool { only == nil && byKey.isEmpty }
  package var count: Int { only == nil ? byKey.count : 1 }

  package mutating func track(_ change: DocumentChange) {
    let key = change.document.key
    if byKey.isEmpty {
      guard let only else {
        only = change
        return
      }
      byKey[only.document.key] = only
      self.only = nil
    }
    guard let earlier = byKey.updateValue(change, forKey: key) else { return }
    switch (earlier.kind, change.kind) {
    case (.added, .removed):
      byKey[key] = nil
    case (.added, _):
      byKey[key] = DocumentChange(kind: .added, document: change.document)
    case (.removed, .added):
      byKey[key] = DocumentChange(kind: .modified, document: change.document)
    case (_, .metadata):
      byKey[key] = DocumentChange(kind: earlier.kind, document: change.document)
    case (.modified, .removed), (.metadata, .removed):
      byKey[key] = DocumentChange(kind: .removed, document: change.document)
    default:
      byKey[key] = DocumentChange(kind: .modified, document: change.document)
    }
  }

  /// The changes, ordered by kind: removed, added, modified, metadata. Each kind is in query order.
  package func changes(orderedBy query: Query) -> [DocumentChange] {
    count < 2 ? few : changes(orderedBy: query.orderBy)
  }

  /// The changes, provided that there is at most one.
  private var few: [DocumentChange] { only.map { [$0] } ?? Array(byKey.values) }

  /// The changes, ordered by kind: removed, added, modified, metadata. Each kind is sorted by `orderBy`.
  package func changes(orderedBy orderBy: [OrderBy]) -> [DocumentChange] {
    if count < 2 { return few }
    if let kind = byKey.first?.value.kind, byKey.allSatisfy({ $0.value.kind == kind }) {
      return orderBy.sorted(byKey.values.lazy.map(\.document)).map { DocumentChange(kind: kind, document: $0) }
    }
    let byKind = Dictionary(grouping: byKey.values, by: \.kind)
    return [DocumentChange.Kind.removed, .added, .modified, .metadata].flatMap { kind in
      orderBy.sorted((byKind[kind] ?? []).lazy.map(\.document)).map { DocumentChange(kind: kind, document: $0) }
    }
  }
}
