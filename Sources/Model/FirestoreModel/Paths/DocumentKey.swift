// SPDX-License-Identifier: Apache-2.0

/// The path of a document inside its database, ordered as `__name__` is.
package struct DocumentKey: Hashable, Comparable, Sendable {
  package let path: ResourcePath

  /// Makes the key of a path.
  /// - Returns: `nil` unless `path` has an even, positive number of segments.
  package init?(_ path: ResourcePath) {
    guard path.isDocument else { return nil }
    self.path = path
  }

  package init?(_ text: String) { self.init(ResourcePath(text)) }

  /// Makes the key of a path that is known to name a document, such as one read back from storage.
  package init(unchecked path: ResourcePath) { self.path = path }

  package var collection: ResourcePath { path.parent }
  package var documentID: String { path.last }
  /// The id of the collection that holds the document, which a collection group query matches.
  package var collectionGroup: String { path.parent.last }

  package static func < (left: DocumentKey, right: DocumentKey) -> Bool { left.path < right.path }
  package func _rawHashValue(seed: Int) -> Int { path._rawHashValue(seed: seed) }
}

extension DocumentKey: CustomStringConvertible {
  package var description: String { path.text }
}

/// The names that make a path absolute: `projects/P/databases/D/documents/…`.
package struct DatabaseID: Codable, Hashable, Sendable {
  package var project: String
  package var database: String

  package init(project: String, database: String = "(default)") {
    self.project = project
    self.database = database
  }

  /// Reads the name of a database.
  /// - Parameter name: `projects/P/databases/D`
  package init?(name: String) {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    guard parts.count == 4, parts[0] == "projects", parts[2] == "databases", !parts[1].isEmpty, !parts[3].isEmpty
    else { return nil }
    self.init(project: String(parts[1]), database: String(parts[3]))
  }

  /// The name, `projects/P/databases/D`.
  package var name: String { "projects/\(project)/databases/\(database)" }
  /// The name of the root, `projects/P/databases/D/documents`.
  package var documentsName: String { name + "/documents" }
  package func name(of key: DocumentKey) -> String { documentsName + "/" + key.path.text }
  /// The name of the root, or of the document or collection at a path below it.
  package func name(of path: ResourcePath) -> String { path.isRoot ? documentsName : documentsName + "/" + path.text }

  package static func == (left: DatabaseID, right: DatabaseID) -> Bool {
    left.project.equalsUTF8(right.project) && left.database.equalsUTF8(right.database)
  }

  package func hash(into hasher: inout Hasher) {
    project.hashUTF8(into: &hasher)
    database.hashUTF8(into: &hasher)
  }
}
