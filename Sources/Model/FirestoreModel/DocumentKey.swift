// SPDX-License-Identifier: Apache-2.0

/// The path of a document within its database. Keys have the same order as `__name__`.
package struct DocumentKey: Hashable, Comparable, Sendable {
  package let path: ResourcePath

  /// Creates the key for a path.
  /// - Returns: `nil` if `path` does not have an even, positive number of segments.
  package init?(_ path: ResourcePath) {
    guard path.isDocument else { return nil }
    self.path = path
  }

  package init?(_ text: String) { self.init(ResourcePath(text)) }

  /// Creates the key of a path that is known to be a document path, such as a path read from storage.
  package init(unchecked path: ResourcePath) { self.path = path }

  package var collection: ResourcePath { path.parent }
  package var documentID: String { path.last }
  /// The id of the collection that contains the document. Collection group queries select documents by this id.
  package var collectionGroup: String { path.parent.last }

  package static func < (left: DocumentKey, right: DocumentKey) -> Bool { left.path < right.path }
  package func _rawHashValue(seed: Int) -> Int { path._rawHashValue(seed: seed) }
}

extension DocumentKey: CustomStringConvertible {
  package var description: String { path.text }
}

/// The project id and the database id, which make a path absolute: `projects/P/databases/D/documents/…`.
package struct DatabaseID: Hashable, Sendable {
  package var project: String
  package var database: String

  package init(project: String, database: String = "(default)") {
    self.project = project
    self.database = database
  }

  /// Parses the full name of a database.
  /// - Parameter name: a name of the form `projects/P/databases/D`.
  package init?(name: String) {
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0) }
    guard parts.count == 4, parts[0] == "projects", parts[2] == "databases", !parts[1].isEmpty, !parts[3].isEmpty
    else { return nil }
    self.init(project: String(parts[1]), database: String(parts[3]))
  }

  /// The full name of the database, `projects/P/databases/D`.
  package var name: String { "projects/\(project)/databases/\(database)" }
  /// The full name of the root, `projects/P/databases/D/documents`.
  package var documentsName: String { name + "/documents" }
  package func name(of key: DocumentKey) -> String { documentsName + "/" + key.path.text }
  /// The full name of the root, or of the document or collection at a path below the root.
  package func name(of path: ResourcePath) -> String { path.isRoot ? documentsName : documentsName + "/" + path.text }

  package static func == (left: DatabaseID, right: DatabaseID) -> Bool {
    left.project.equalsUTF8(right.project) && left.database.equalsUTF8(right.database)
  }

  package func hash(into hasher: inout Hasher) {
    project.hashUTF8(into: &hasher)
    database.hashUTF8(into: &hasher)
  }
}

/// The form of document names in messages: full names in one database, or only paths.
package struct DocumentNames: Sendable {
  /// The form without a database: only paths, as in a cache.
  package static let relative = DocumentNames(prefix: "")

  private let prefix: [UInt8]

  private init(prefix: String) { self.prefix = [UInt8](prefix.utf8) }

  /// The form with full names in one database: `projects/P/databases/D/documents/…`.
  package init(_ database: DatabaseID) { self.init(prefix: database.documentsName + "/") }

  /// The key for a name in this form.
  /// - Throws: an error if the name is not in the database or is not a document's name.
  package func key(_ name: UnsafeRawBufferPointer) throws(WireError) -> DocumentKey {
    guard name.count > prefix.count, hasPrefix(name) else {
      let (name, root) = (String(decoding: name, as: UTF8.self), String(decoding: prefix, as: UTF8.self))
      throw WireError("\"\(name)\" does not begin with \"\(root)\"")
    }
    let path = UnsafeRawBufferPointer(rebasing: name[prefix.count...])
    var slashes = 0
    var previous = UInt8(ascii: "/")
    var allBits: UInt8 = 0
    for byte in path {
      allBits |= byte
      if byte == UInt8(ascii: "/") {
        if previous == byte { throw WireError("the name of a document has an empty segment") }
        slashes += 1
      }
      previous = byte
    }
    guard !slashes.isMultiple(of: 2), previous != UInt8(ascii: "/") else {
      throw WireError("\"\(String(decoding: name, as: UTF8.self))\" is not the name of a document")
    }
    // ASCII needs no validation.
    if allBits < 0x80 { return DocumentKey(unchecked: ResourcePath(String(decoding: path, as: UTF8.self))) }
    guard let text = String(validating: path, as: UTF8.self) else {
      throw WireError("the name of a document is not valid UTF-8")
    }
    return DocumentKey(unchecked: ResourcePath(text))
  }

  private func hasPrefix(_ name: UnsafeRawBufferPointer) -> Bool {
    prefix.withUnsafeBufferPointer { prefix in
      name.withMemoryRebound(to: UInt8.self) { name in
        Ordering.firstDifference(prefix, UnsafeBufferPointer(rebasing: name[..<prefix.count])) == prefix.count
      }
    }
  }

  package func key(_ name: String) throws(WireError) -> DocumentKey {
    let result: Result<DocumentKey, WireError> = name.withUTF8Bytes { bytes in
      do throws(WireError) { return .success(try key(UnsafeRawBufferPointer(bytes))) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Writes a field with the document's name.
  package func write(_ key: DocumentKey, as field: Int, to writer: inout WireWriter) {
    let path = key.path.text.utf8
    writer.tag(field, .lengthDelimited)
    writer.varint(UInt64(prefix.count + path.count))
    writer.raw(prefix)
    writer.raw(path)
  }
}

/// Generates ids for new documents: 20 letters and digits (about 119 random bits), as in every SDK.
package enum AutomaticID {
  package static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

  package static func make(using generator: inout some RandomNumberGenerator) -> String {
    String((0..<20).map { _ in letters[Int.random(in: letters.indices, using: &generator)] })
  }

  package static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return make(using: &generator)
  }
}
