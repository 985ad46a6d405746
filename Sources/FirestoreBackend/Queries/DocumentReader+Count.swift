// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DocumentReader {
  /// How many documents match, limit aside.
  func countMatches(of query: ServedQuery) throws(BackendError) -> Int {
    if let count = try recordedCount(of: query) { return count }
    var count = 0
    _ = try scanMatches(of: query, after: nil, rows: .max) { _ in
      count += 1
      return true
    }
    return count
  }

  /// How many documents match, limit aside, where that is on record: in whole collections, as they are now.
  func recordedCount(of query: ServedQuery) throws(BackendError) -> Int? {
    guard query.scope == .target, query.offset == 0, past == nil, query.target.matchesWholeCollections else {
      return nil
    }
    return try collections(of: query.target).reduce(0) { $0 + $1.count }
  }
}

extension Target {
  /// Whether every document of the collections matches: nothing restricts them and no ordering asks for a field.
  fileprivate var matchesWholeCollections: Bool {
    !isDocumentTarget && filters.isEmpty && start == nil && end == nil && orderBy.allSatisfy { $0.path.isDocumentID }
  }
}
