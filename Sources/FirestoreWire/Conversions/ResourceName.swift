// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// An absolute name: `projects/P/databases/D`, that with `/documents`, or that with a path below the root.
package struct ResourceName: Hashable, Sendable {
  package var database: DatabaseID
  /// The root for the database itself.
  package var path: ResourcePath

  package init(database: DatabaseID, path: ResourcePath = .root) {
    self.database = database
    self.path = path
  }

  /// - Throws: `invalid-argument` naming what the text lacks, or what is wrong with its path.
  package init(_ text: String) throws(ModelError) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 5, omittingEmptySubsequences: false)
      .map { Substring($0) }
    guard parts.count >= 4, parts[0] == "projects", parts[2] == "databases", !parts[1].isEmpty, !parts[3].isEmpty,
      parts.count == 4 || parts[4] == "documents"
    else { throw ModelError("The name \"\(text)\" does not begin with \"projects/P/databases/D/documents\".") }
    database = DatabaseID(project: String(parts[1]), database: String(parts[3]))
    path = parts.count == 6 ? try ResourcePath(validating: String(parts[5])) : .root
  }

  /// `projects/P/databases/D/documents/…`
  package var text: String { path.isRoot ? database.documentsName : database.documentsName + "/" + path.text }
}

extension DocumentKey {
  /// - Parameter name: `projects/P/databases/D/documents/…`.
  /// - Throws: `invalid-argument` unless the name is that of a document in this database.
  package init(name: String, in database: DatabaseID) throws(ModelError) {
    let name = try ResourceName(name)
    guard name.database == database else {
      throw ModelError("The document \"\(name.text)\" is not in the database \"\(database.name)\".")
    }
    guard name.path.isDocument else { throw ModelError("\"\(name.text)\" is not the name of a document.") }
    self.init(unchecked: name.path)
  }
}
