// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel

/// Two series of documents in the order of their paths, side by side.
package struct Comparison {
  package struct Outcome: Hashable, Sendable {
    package var removed = 0
    package var added = 0
    package var modified = 0
    package var equal = 0

    package init(removed: Int = 0, added: Int = 0, modified: Int = 0, equal: Int = 0) {
      (self.removed, self.added, self.modified, self.equal) = (removed, added, modified, equal)
    }

    package var count: Int { removed + added + modified + equal }
    package var differs: Bool { removed + added + modified > 0 }
  }

  /// The number of segments that are left out of each side's paths.
  package let prefixes: (before: Int, after: Int)

  package init(prefixes: (before: Int, after: Int)) {
    self.prefixes = prefixes
  }

  /// - Parameters:
  ///   - body: called with each difference, in the order of the paths.
  ///   - progress: called with the number of compared documents.
  package func run(
    _ before: consuming ComparedDocuments, _ after: consuming ComparedDocuments,
    _ body: (DocumentDifference) throws -> Void, progress: (Int) -> Void = { _ in }
  ) async throws -> Outcome {
    var outcome = Outcome()
    var (before, after) = (before, after)
    var (old, new) = (try await before.next(), try await after.next())
    while old != nil || new != nil {
      progress(outcome.count)
      let paths = (old.map { relative($0.key, prefixes.before) }, new.map { relative($0.key, prefixes.after) })
      switch Self.order(paths.0, paths.1) {
      case .ascending:
        if let path = paths.0, let data = old?.data {
          outcome.removed += 1
          try body(DocumentDifference(path: path, kind: .removed(Self.text(data, before.database))))
        }
        old = try await before.next()
      case .descending:
        if let path = paths.1, let data = new?.data {
          outcome.added += 1
          try body(DocumentDifference(path: path, kind: .added(Self.text(data, after.database))))
        }
        new = try await after.next()
      case .equal:
        if let path = paths.0, let old, let new {
          let differences = Self.differences((old.data, before.database), (new.data, after.database))
          if differences.isEmpty {
            outcome.equal += 1
          } else {
            outcome.modified += 1
            try body(DocumentDifference(path: path, kind: .modified(differences)))
          }
        }
        (old, new) = (try await before.next(), try await after.next())
      }
    }
    return outcome
  }

  private func relative(_ key: DocumentKey, _ prefix: Int) -> ResourcePath {
    prefix == 0 ? key.path : ResourcePath(segments: key.path.segments.dropFirst(prefix).map(String.init))
  }

  /// Orders two paths; a side that is at its end sorts last.
  private static func order(_ before: ResourcePath?, _ after: ResourcePath?) -> Ordering {
    guard let before else { return .descending }
    guard let after else { return .ascending }
    return before.compare(after)
  }

  private static func differences(
    _ before: (data: DocumentData, database: DatabaseID), _ after: (data: DocumentData, database: DatabaseID)
  ) -> [FieldDifference] {
    if before.data.encoded.bytes == after.data.encoded.bytes, before.database == after.database { return [] }
    return FieldDifference.between(
      FieldDifference.Side(fields: before.data.fields, database: before.database),
      FieldDifference.Side(fields: after.data.fields, database: after.database))
  }

  private static func text(_ data: DocumentData, _ database: DatabaseID) -> String {
    DocumentJSON.line(of: data.fields, relativeTo: database)
  }
}
