// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// Checks the conditions of a target against stored rows in place, without making documents of those that do not match.
///
/// The row's collection is known to be the right one, so that only filters, ordering fields and cursors are left.
struct StoredMatcher {
  private let target: Target
  let matchesEverything: Bool
  /// Whether a condition is about `__name__`, and the key of each row is needed.
  let readsKeys: Bool
  private let anyKey = DocumentKey(unchecked: .root)

  init(_ target: Target) {
    self.target = target
    readsKeys =
      target.filters.flatMap(\.fieldFilters).contains { $0.path.isDocumentID }
      || target.start != nil || target.end != nil
    matchesEverything = target.matchesWholeCollection
  }

  /// - Parameter collection: of the row.
  func matches(_ row: DocumentRow, in collection: ResourcePath) -> Bool {
    if matchesEverything { return true }
    return target.matchesContent(
      EncodedFieldsView(row.fieldBytes), of: readsKeys ? row.key(in: collection) : anyKey)
  }

  /// - Precondition: not `readsKeys`.
  func matches(_ fields: EncodedFieldsView) -> Bool {
    matchesEverything || target.matchesContent(fields, of: anyKey)
  }
}
