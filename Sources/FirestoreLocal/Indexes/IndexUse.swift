// SPDX-License-Identifier: Apache-2.0
package import FirestoreQuery

/// How an index took part in answering a query.
package struct IndexUse: Hashable, Sendable {
  package var index: FieldIndex
  /// The conditions that its entries answered; the others were checked on the documents it found.
  package var servedFilters: [FieldFilter]
  /// Whether documents were read in the query's order, and no more than its limit needs.
  package var servesOrder: Bool
}
