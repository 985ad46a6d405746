// SPDX-License-Identifier: Apache-2.0
public import Hearth

/// An expectation about a snapshot of a ``TestListener``.
public struct SnapshotExpectation: Sendable, CustomStringConvertible {
  /// The expectation in a few words, for the text of a failure.
  public let description: String
  let holds: @Sendable (QuerySnapshot) -> Bool

  private init(_ description: String, _ holds: @escaping @Sendable (QuerySnapshot) -> Bool) {
    (self.description, self.holds) = (description, holds)
  }

  // MARK: Origin

  /// The result is in sync with the server: `metadata.isFromCache` is `false`.
  public static let synced = SnapshotExpectation("synced") { !$0.metadata.isFromCache }
  /// The result is from the cache.
  public static let fromCache = SnapshotExpectation("from the cache") { $0.metadata.isFromCache }
  /// The result shows writes that are not acknowledged.
  public static let pendingWrites = SnapshotExpectation("with pending writes") { $0.metadata.hasPendingWrites }
  /// The result shows no write that is not acknowledged.
  public static let noPendingWrites = SnapshotExpectation("without pending writes") { !$0.metadata.hasPendingWrites }

  // MARK: Documents

  /// The result has no documents.
  public static let empty = count(0)

  /// The result has so many documents.
  public static func count(_ count: Int) -> SnapshotExpectation {
    SnapshotExpectation("\(count) document\(count == 1 ? "" : "s")") { $0.count == count }
  }

  /// The result has exactly these documents, in this order.
  public static func documents(_ ids: String...) -> SnapshotExpectation {
    SnapshotExpectation("documents \(ids.joined(separator: ", "))") { $0.documents.map(\.documentID) == ids }
  }

  /// A field of a document of the result has a value.
  /// - Parameters:
  ///   - field: the path of the field.
  ///   - value: compared as a value of its own type, as `get(_:) as? Value`.
  ///   - id: the document's id.
  public static func field<Value: Equatable & Sendable>(
    _ field: String, _ value: Value, of id: String
  ) -> SnapshotExpectation {
    SnapshotExpectation("\(field) of \(id) is \(value)") { snapshot in
      guard let document = snapshot.documents.first(where: { $0.documentID == id }) else { return false }
      return document.get(field) as? Value == value
    }
  }

  // MARK: Changes

  /// The document came with this snapshot.
  public static func added(_ id: String) -> SnapshotExpectation { change(.added, "added", id) }
  /// The document changed with this snapshot, or its metadata did.
  public static func modified(_ id: String) -> SnapshotExpectation { change(.modified, "modified", id) }
  /// The document went with this snapshot.
  public static func removed(_ id: String) -> SnapshotExpectation { change(.removed, "removed", id) }

  private static func change(_ type: DocumentChangeType, _ word: String, _ id: String) -> SnapshotExpectation {
    SnapshotExpectation("\(word) \(id)") { snapshot in
      snapshot.documentChanges(includeMetadataChanges: true).contains {
        $0.type == type && $0.document.documentID == id
      }
    }
  }

  /// Anything else.
  /// - Parameters:
  ///   - description: the expectation in words, for the text of a failure.
  ///   - holds: whether a snapshot meets the expectation.
  public static func that(
    _ description: String, _ holds: @escaping @Sendable (QuerySnapshot) -> Bool
  ) -> SnapshotExpectation {
    SnapshotExpectation(description, holds)
  }

  // MARK: Accounts

  /// A snapshot in words: its first documents, its changes and its origin, without data.
  static func account(of snapshot: QuerySnapshot) -> String {
    let ids = snapshot.documents.prefix(5).map(\.documentID)
    let more = snapshot.count > 5 ? ", …" : ""
    let list = ids.isEmpty ? "" : " (\(ids.joined(separator: ", "))\(more))"
    let changes = snapshot.documentChanges(includeMetadataChanges: true).prefix(5).map { change in
      let word =
        switch change.type {
        case .added: "added"
        case .modified: "modified"
        case .removed: "removed"
        }
      return "\(word) \(change.document.documentID)"
    }
    let origin = snapshot.metadata.isFromCache ? "from the cache" : "synced"
    let pending = snapshot.metadata.hasPendingWrites ? ["with pending writes"] : []
    return (["\(snapshot.count) document\(snapshot.count == 1 ? "" : "s")\(list)"] + changes + [origin] + pending)
      .joined(separator: ", ")
  }
}
