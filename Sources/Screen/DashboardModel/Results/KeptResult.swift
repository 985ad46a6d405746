// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreQuery

/// The documents of a listener's result in the order of its query, put together from its snapshots.
package struct KeptResult: Sendable {
  /// The size beyond which a result is not kept: its documents are in the client too, but not their order here.
  package static let most = 100_000

  package private(set) var documents: DocumentSet
  /// The number of documents in the result, as the last snapshot said; `nil` before the first.
  package private(set) var count: Int?
  package private(set) var isTooLarge = false
  /// Whether every change since the first snapshot was told.
  package private(set) var isTold = true

  private let query: Query
  /// The values of fields with few of them; `nil` for a result that is too large to be counted.
  private var counted: ValueMix? = ValueMix()

  package init(_ query: Query) {
    self.query = query
    documents = DocumentSet(comparing: query)
  }

  /// Whether the documents are all of the result.
  package var isWhole: Bool { isTold && !isTooLarge && count == documents.count }

  /// The documents of each value of the field that tells most; `nil` where not all of the result is known.
  package var mix: ValueMix.Shown? { isWhole ? counted?.shown : nil }

  /// - Parameter isTold: whether the snapshot follows the one before, and the first one had the whole result.
  package mutating func apply(_ snapshot: ListenerSnapshot, isTold: Bool) {
    count = snapshot.count
    if !isTold || snapshot.omitted != nil { self.isTold = false }
    guard !isTooLarge else { return }
    if snapshot.count > ValueMix.most { counted = nil }
    defer { counted?.choose() }
    if snapshot.count > Self.most {
      isTooLarge = true
      documents = DocumentSet(comparing: query)
      return
    }
    if documents.isEmpty, snapshot.changes.count > 1, snapshot.changes.allSatisfy({ $0.kind != .removed }) {
      documents = DocumentSet(comparing: query, documents: snapshot.changes.lazy.map(\.document))
      for change in snapshot.changes { counted?.replace(nil, with: change.document) }
      return
    }
    for change in snapshot.changes {
      let isGone = change.kind == .removed
      counted?.replace(documents[change.document.key], with: isGone ? nil : change.document)
      if isGone { documents.remove(change.document.key) } else { documents.insert(change.document) }
    }
  }

  /// Notes that changes were not told; the number of documents is known all the same.
  package mutating func miss(count: Int?) {
    self.count = count
    isTold = false
  }
}
