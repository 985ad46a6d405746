// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery
package import TerminalCanvas

/// The words for changes of a result.
package struct ResultWords {
  private static let mostFields = 2

  private let interest: FieldInterest
  package let glyphs: Glyphs

  package init(_ interest: FieldInterest, _ glyphs: Glyphs) {
    (self.interest, self.glyphs) = (interest, glyphs)
  }

  /// The fields in which a document differs from the one in the snapshot before.
  package func changes(_ change: ListenerSnapshot.Change) -> [FieldChange] {
    guard let old = change.previous?.data, let new = change.document.data, old != new else { return [] }
    return FieldChange.between(old.fields, new.fields)
  }

  package func text(_ changes: [FieldChange], _ document: Document) -> String {
    changes.isEmpty ? "" : interest.text(of: changes, in: document, glyphs, limit: Self.mostFields)
  }

  /// The reason why a document left a result, as far as the snapshot tells it.
  /// - Parameter isFull: whether the result has as many documents as its limit allows.
  package func reason(_ change: ListenerSnapshot.Change, of query: Query, isFull: Bool) -> String {
    guard let now = change.now else { return isFull ? "beyond the limit" : "left" }
    if now.state == .missing { return "deleted" }
    guard let new = now.data else { return "left" }
    if query.matches(now) { return isFull ? "beyond the limit" : "left" }
    let old = change.document.data?.fields ?? Fields()
    let asked = Set(query.filters.flatMap(\.fieldFilters).map(\.path) + query.explicitOrderBy.map(\.path))
    let changed = FieldChange.between(old, new.fields).filter { change in
      asked.contains { $0.first.equalsUTF8(change.path.first) }
    }
    return changed.isEmpty ? "no longer asked for" : text(changed, now)
  }
}
