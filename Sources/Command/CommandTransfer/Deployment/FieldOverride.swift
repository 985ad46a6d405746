// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON

/// A field of which a project deviates from the indexes that every field has, or by which documents expire.
package struct FieldOverride: Hashable, Sendable {
  package struct Index: Hashable, Sendable, Comparable {
    /// `COLLECTION` or `COLLECTION_GROUP`.
    var scope: String
    /// The member of the field, such as `"order": "ASCENDING"`, on one line.
    var mode: String

    package static func < (one: Index, other: Index) -> Bool { (one.scope, one.mode) < (other.scope, other.mode) }
  }

  package var collectionGroup: String
  package var path: String
  /// Whether documents expire at the time in this field.
  package var isLifetime: Bool
  /// The indexes of the field alone, sorted; none exempts the field.
  package var indexes: [Index]

  /// Reads a `google.firestore.admin.v1.Field`.
  /// - Returns: `nil` for JSON that is none, and for the field that stands for all fields of the database.
  init?(deployed json: JSONSyntax) {
    guard let name = json.text("name"), let group = DeployedIndex.collection(in: name), group != "__default__",
      let range = name.firstRange(of: "/fields/")
    else { return nil }
    (collectionGroup, path) = (group, String(name[range.upperBound...]))
    isLifetime = json["ttlConfig"] != nil
    indexes = (json["indexConfig"]?["indexes"]?.elements ?? []).compactMap { index in
      guard let field = index["fields"]?.elements?.first, let mode = DeployedIndex.mode(of: field) else { return nil }
      return Index(scope: index.text("queryScope") ?? "COLLECTION", mode: mode)
    }.sorted()
  }

  /// The entry of `firestore.indexes.json`, on one line.
  package var definition: String {
    let list = indexes.map { "{\"queryScope\": \"\($0.scope)\", \($0.mode)}" }.joined(separator: ", ")
    return "{\"collectionGroup\": \(quoted(collectionGroup)), \"fieldPath\": \(quoted(path)), "
      + "\(isLifetime ? "\"ttl\": true, " : "")\"indexes\": [\(list)]}"
  }

  /// Whether two say the same of a field, whatever the state of its lifetime.
  package static func == (one: FieldOverride, other: FieldOverride) -> Bool {
    one.collectionGroup == other.collectionGroup && one.path == other.path && one.isLifetime == other.isLifetime
      && one.indexes == other.indexes
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(collectionGroup)
    hasher.combine(path)
  }
}
