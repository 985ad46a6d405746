// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import FirestoreModel
import FirestoreQuery

/// Updates the tree after changes of documents: the marks of changed rows, and the statistics of the fields.
extension Browser {
  /// The time when the tint of a change fades. This is after at most 3 s and at a full second, so that the clock and
  /// the fading need only one frame.
  private static func fading(from now: Timestamp) -> Timestamp { Timestamp(seconds: now.seconds &+ 3) }

  /// Adds the documents of a newly shown part of the collection to the statistics. These documents determine the
  /// columns.
  mutating func noteContents(_ documents: [Document], in path: ResourcePath) {
    for document in documents { statistics[path, default: FieldStatistics()].note(document) }
    columns[path, default: TreeColumns()].decide(for: documents, statistics[path] ?? FieldStatistics())
  }

  /// Marks the shown documents that have changed.
  /// - Parameter edge: the request of the window, if the window was full. A document that enters such a window at its
  ///   edge is not marked as new.
  package mutating func mark(
    changesFrom window: CollectionWindow, to new: [Document], cutAt edge: CollectionWindow.Request?, at now: Timestamp
  ) {
    let (old, path) = (window.loaded, window.path)
    forgetMarks(at: now)
    let before = Dictionary(old.map { ($0.key, $0) }, uniquingKeysWith: { $1 })
    for document in new {
      guard let previous = before[document.key] else {
        statistics[path, default: FieldStatistics()].note(document)
        // A document that was missing from the cache is not necessarily new.
        guard !window.isFromCache || document.hasPendingWrites, !isOutside(document, of: old, edge) else {
          continue
        }
        marks[document.key] = Mark(names: [], isNew: true, until: Self.fading(from: now))
        continue
      }
      guard let data = document.data, let earlier = previous.data, data != earlier else { continue }
      let changes = FieldChange.between(earlier.fields, data.fields)
      for change in changes { statistics[path, default: FieldStatistics()].note(change) }
      let names = Set(changes.map(\.path.first))
      let kept = marks[document.key]
      marks[document.key] = Mark(
        names: (kept?.names ?? []).union(names), isNew: kept?.isNew ?? false,
        until: Self.fading(from: now))
      columns[path]?.note(document)
    }
    let seen = statistics[path] ?? FieldStatistics()
    if columns[path]?.isOutgrown(by: new.count, seen) != false {
      columns[path, default: TreeColumns()].decide(for: new, seen)
    }
  }

  /// Whether a document entered a full window because another document left it.
  private func isOutside(_ document: Document, of old: [Document], _ edge: CollectionWindow.Request?) -> Bool {
    guard let edge, let first = old.first, let last = old.last else { return false }
    switch edge.place {
    case .start, .from: return edge.order.isBefore(last, document)
    case .end, .until: return edge.order.isBefore(document, first)
    }
  }

  /// Adds a document's fields to the statistics if a listener reports the document and no collection window shows it.
  package mutating func noteFields(of document: Document, previous: Document?) {
    let path = document.key.collection
    statistics[path, default: FieldStatistics()].note(document)
    guard let data = document.data, let earlier = previous?.data, data != earlier else { return }
    for change in FieldChange.between(earlier.fields, data.fields) { statistics[path]?.note(change) }
  }
}

extension Browser {
  /// The time when the next tint fades.
  package func nextMarkExpiry(after now: Timestamp) -> Timestamp? {
    let fading = marks.values.lazy.map(\.until).filter { $0 > now }.min()
    return [fading, result?.nextMarkExpiry(after: now)].compactMap(\.self).min()
  }

  /// Removes expired marks. Documents with pending writes keep their mark, but without a tint.
  package mutating func forgetMarks(at now: Timestamp) {
    result?.forgetMarks(at: now)
    guard !marks.isEmpty else { return }
    marks = marks.filter { $1.until > now || document($0)?.hasPendingWrites == true }
  }

  package func isMarked(_ key: DocumentKey, _ name: String) -> Bool {
    marks[key]?.names.contains { $0.equalsUTF8(name) } ?? false
  }
}

/// Collections that security rules have denied.
extension Browser {
  /// Requests again those open collections that were denied, if `isWanted` accepts them.
  package mutating func openDenied(
    limit: Int, in database: DatabaseID, where isWanted: (ResourcePath) -> Bool
  ) -> [Effect] {
    let denied = windows.values.filter { window in
      window.failure?.code == .permissionDenied && !window.isLoading && expanded.contains(window.path)
        && isWanted(window.path)
    }
    return denied.map(\.path).sorted().flatMap { path in
      open(path, at: .start, landing: .stay, limit: limit, in: database) + [.client(.count(path))]
    }
  }
}
