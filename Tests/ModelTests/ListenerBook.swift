// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// One listener and what it was told.
struct ListenerBook {
  let query: Query
  let options: ListenerOptions
  /// Whether snapshots that nobody read in time come as one, which may then be of nothing.
  var mayMerge = false
  private(set) var last: ViewSnapshot?
  /// What follows from the changes alone.
  private var accumulated: [DocumentKey: Document] = [:]

  init(query: Query, options: ListenerOptions, mayMerge: Bool = false) {
    (self.query, self.options, self.mayMerge) = (query, options, mayMerge)
  }

  /// The changes add up to the documents.
  /// - Parameter name: whom a violation is about.
  mutating func note(_ snapshot: ViewSnapshot, _ name: String) throws(Violation) {
    try require(snapshot.query == query, "\(name) got a snapshot of another query")
    try compareWithLast(snapshot, name)
    for change in snapshot.changes {
      let key = change.document.key
      let had = accumulated[key] != nil
      try require(had == (change.kind != .added), "\(name) was told \(change.kind) of \(key)")
      if change.kind == .metadata {
        try require(accumulated[key]?.data == change.document.data, "\(name) got data as metadata of \(key)")
      }
      accumulated[key] = change.kind == .removed ? nil : change.document
    }
    let shown = snapshot.documents.documents
    try require(
      Set(shown.map(\.key)) == Set(accumulated.keys),
      "\(name)'s changes give \(accumulated.keys.sorted()), not \(shown.map(\.key))")
    for document in shown {
      let own = accumulated[document.key]
      try require(own?.data == document.data, "\(name)'s changes give other data of \(document.key)")
      if options.includeMetadataChanges {
        try require(
          own?.hasPendingWrites == document.hasPendingWrites || !snapshot.mutatedKeys.contains(document.key),
          "\(name)'s changes give other metadata of \(document.key)")
      }
    }
    if let limit = query.limit { try require(shown.count <= limit, "\(name) got more than its limit") }
    try require(query.orderBy.sorted(shown) == shown, "\(name)'s documents are out of order")
    last = snapshot
  }

  private func compareWithLast(_ snapshot: ViewSnapshot, _ name: String) throws(Violation) {
    guard let last else {
      try require(snapshot.changes.allSatisfy { $0.kind == .added }, "\(name)'s first snapshot has other changes")
      return try require(snapshot.oldDocuments.isEmpty, "\(name)'s first snapshot has old documents")
    }
    try require(
      mayMerge || !snapshot.changes.isEmpty || options.includeMetadataChanges, "\(name) got a snapshot of nothing")
    if options.includeMetadataChanges {
      try require(snapshot.oldDocuments == last.documents, "\(name) was told other old documents than it had")
    }
  }
}
