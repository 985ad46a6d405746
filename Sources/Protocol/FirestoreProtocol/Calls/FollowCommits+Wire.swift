// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The call `hearth.v1.Commits/Follow`, which reports the collections that commits change. Google's servers do not
/// support it.
///
/// ```
/// FollowRequest    { string database = 1; }
/// CommitUpdate     { bool everything = 1; repeated CollectionNotice collections = 2; }
/// CollectionNotice { string collection = 1; int64 created = 2; int64 deleted = 3; int64 changed = 4; }
/// ```
package enum FollowCommits {
  package static let service = "hearth.v1.Commits"
  package static let method = "Follow"
  package static let path = "/\(service)/\(method)"
}

extension WireWriter {
  package mutating func followRequest(in database: DatabaseID) { field(1, string: database.name) }

  package mutating func commitNews(_ news: CommitUpdate) {
    switch news {
    case .everything: field(1, boolean: true)
    case .collections(let notices): for notice in notices { field(2) { $0.collectionNotice(notice) } }
    }
  }

  private mutating func collectionNotice(_ notice: CollectionNotice) {
    field(1, string: notice.collection.text)
    for (number, count) in [(2, notice.created), (3, notice.deleted), (4, notice.changed)] where count > 0 {
      field(number, integer: Int64(count))
    }
  }
}

extension WireReader {
  /// - Returns: the name of the database, as the client sent it.
  package mutating func followRequest() throws(WireError) -> String {
    var name = ""
    while let tag = try tag() {
      if tag.field == 1, tag.type == .lengthDelimited { name = try string() } else { try skip(tag.type) }
    }
    return name
  }

  /// Reads a notification. Skips names that are not collections.
  package mutating func commitNews() throws(WireError) -> CommitUpdate {
    var notices: [CollectionNotice] = []
    var isEverything = false
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): isEverything = try boolean()
      case (2, .lengthDelimited):
        var inner = try message()
        if let notice = try inner.collectionNotice() { notices.append(notice) }
      default: try skip(tag.type)
      }
    }
    return isEverything ? .everything : .collections(notices)
  }

  private mutating func collectionNotice() throws(WireError) -> CollectionNotice? {
    var (name, created, deleted, changed) = ("", 0, 0, 0)
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): name = try string()
      case (2, .varint): created = Int(try integer())
      case (3, .varint): deleted = Int(try integer())
      case (4, .varint): changed = Int(try integer())
      default: try skip(tag.type)
      }
    }
    // An invalid name shows that another kind of server sent it.
    guard let path = try? ResourcePath(validating: name), !path.isDocument, !path.isRoot else { return nil }
    return CollectionNotice(path, created: max(0, created), deleted: max(0, deleted), changed: max(0, changed))
  }
}
