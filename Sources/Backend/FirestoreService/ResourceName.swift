// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Parses the names in requests: `projects/P/databases/D`, `…/documents`, `…/documents/c/d`. The error texts are those
/// of the real service, with the index of the error (PROTOCOL §3.2). Here the index counts UTF-8 bytes.
struct ResourceName {
  private let kind: String
  private let text: String
  private let bytes: [UInt8]
  private var position = 0

  private init(_ kind: String, _ text: String) {
    self.kind = kind
    self.text = text
    bytes = Array(text.utf8)
  }

  static func database(_ text: String) throws(RPCStatus) -> DatabaseID {
    var name = ResourceName("Database name", text)
    let database = try name.database()
    guard name.isAtEnd else { throw name.fail("has more than a database at index \(name.position).") }
    return database
  }

  /// - Parameter kind: the name that the error uses for an invalid text.
  static func document(
    _ text: String, _ kind: String = "Document name"
  ) throws(RPCStatus) -> (DatabaseID, DocumentKey) {
    var name = ResourceName(kind, text)
    let database = try name.root()
    try name.expect("/")
    let path = try name.path()
    guard let key = DocumentKey(path) else { throw name.fail("lacks \"/\" at index \(name.bytes.count).") }
    return (database, key)
  }

  /// - Parameter database: the request's database, which must contain the document.
  static func document(_ text: String, in database: DatabaseID) throws(RPCStatus) -> DocumentKey {
    let (named, key) = try document(text)
    if named != database { throw .strays(from: database, to: named) }
    return key
  }

  /// Parses the name of the root or of a document.
  static func parent(_ text: String) throws(RPCStatus) -> (DatabaseID, ResourcePath) {
    var name = ResourceName("Document parent name", text)
    let database = try name.database()
    // Clients of v1beta1 use the database name for the root.
    if name.isAtEnd { return (database, .root) }
    try name.expect("/")
    try name.expect("documents")
    if name.isAtEnd { return (database, .root) }
    try name.expect("/")
    let path = try name.path()
    guard path.isDocument else { throw name.fail("lacks \"/\" at index \(name.bytes.count).") }
    return (database, path)
  }

  static func checkCollectionID(_ id: String) throws(RPCStatus) {
    func fail(_ reason: String) -> RPCStatus {
      .invalid("Collection id \"\(id)\" is invalid because it \(reason).")
    }
    if id.isEmpty { throw fail("is empty") }
    if id.utf8.contains(UInt8(ascii: "/")) { throw fail("contains \"/\"") }
    if id == "." || id == ".." { throw fail("is \".\" or \"..\"") }
    if id.isReservedName { throw fail("is reserved") }
    if id.utf8.count > ResourcePath.segmentByteLimit {
      throw .invalid(tooLong)
    }
  }

  private static let tooLong = "The key path element name is longer than \(ResourcePath.segmentByteLimit) bytes."

  static func checkDocumentID(_ id: String) throws(RPCStatus) {
    if let reason = ResourcePath.objection(to: id, isCollectionID: false) {
      throw .invalid("Document id \"\(id)\" is invalid: \(reason)")
    }
  }

  private var isAtEnd: Bool { position == bytes.count }

  private func fail(_ reason: String) -> RPCStatus {
    .invalid("\(kind) \"\(text)\" \(reason)")
  }

  private mutating func expect(_ literal: StaticString) throws(RPCStatus) {
    let wanted = String(describing: literal).utf8
    guard bytes[position...].starts(with: wanted) else { throw fail("lacks \"\(literal)\" at index \(position).") }
    position += wanted.count
  }

  private mutating func segment(_ what: StaticString) throws(RPCStatus) -> String {
    let range = try segmentBytes(what)
    return String(decoding: bytes[range], as: UTF8.self)
  }

  /// Skips a segment.
  private mutating func segmentBytes(_ what: StaticString) throws(RPCStatus) -> Range<Int> {
    let start = position
    var end = start
    while end < bytes.count, bytes[end] != UInt8(ascii: "/") { end += 1 }
    guard end > start else { throw fail("lacks a \(what) at index \(start).") }
    position = end
    return start..<end
  }

  private mutating func database() throws(RPCStatus) -> DatabaseID {
    try expect("projects")
    try expect("/")
    let project = try segment("project id")
    try expect("/")
    try expect("databases")
    try expect("/")
    return DatabaseID(project: project, database: try segment("database id"))
  }

  private mutating func root() throws(RPCStatus) -> DatabaseID {
    let database = try database()
    try expect("/")
    try expect("documents")
    return database
  }

  /// Reads the path that follows `documents/`.
  private mutating func path() throws(RPCStatus) -> ResourcePath {
    let start = position
    if bytes.last == UInt8(ascii: "/") { throw fail("is invalid: Omit trailing \"/\".") }
    var isCollectionID = true
    while true {
      let index = position
      let kind: StaticString = isCollectionID ? "collection id" : "resource id"
      let range = try segmentBytes(kind)
      if range.count > ResourcePath.segmentByteLimit { throw .invalid(Self.tooLong) }
      // Invalid ids begin with one of these.
      if bytes[index] == UInt8(ascii: ".") || bytes[index] == UInt8(ascii: "_") {
        let id = String(decoding: bytes[range], as: UTF8.self)
        if id == "." || id == ".." { throw fail("contains a \(kind) \"\(id)\" at index \(index).") }
        if id.isReservedName, isCollectionID || !id.isNumericID {
          let kind = isCollectionID ? "Collection" : "Resource"
          throw .invalid("\(kind) id \"\(id)\" is invalid because it is reserved.")
        }
      }
      isCollectionID.toggle()
      if isAtEnd { break }
      position += 1
    }
    if bytes.count - start > ResourcePath.pathByteLimit {
      throw .invalid("The document name is longer than \(ResourcePath.pathByteLimit) bytes.")
    }
    return ResourcePath(String(decoding: bytes[start...], as: UTF8.self))
  }
}
