// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreLocal
package import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery

/// Reads the bundle format. A bundle consists of JSON elements. Before each element, the element's length in bytes is
/// written as decimal digits. The bundle's metadata comes first, followed by named queries and documents. Before each
/// document there is an element with that document's metadata.
package struct BundleReader {
  private let bytes: [UInt8]
  private let database: DatabaseID
  private var position = 0
  /// The start of the current element, for error messages.
  private var start = 0
  private var bundle: Bundle?
  private var metadata = BundleElement.Metadata()
  /// The end of the bundle's metadata. Progress is counted in bytes from this position.
  private var metadataEnd = 0
  /// The metadata of a document that has not been read yet.
  private var awaited: BundleElement.DocumentMetadata?

  private init(_ bytes: [UInt8], _ database: DatabaseID) { (self.bytes, self.database) = (bytes, database) }

  /// - Throws: `invalid-argument` if the bytes are not a bundle, or if the bundle is from another database. If the
  ///   bytes are not a bundle, the error contains the offset.
  package static func read(_ bytes: [UInt8], database: DatabaseID) throws(RPCStatus) -> Bundle {
    var reader = BundleReader(bytes, database)
    do throws(WireError) {
      return try reader.read()
    } catch {
      throw RPCStatus(.invalidArgument, "The bundle cannot be read at byte \(reader.start): \(error.reason)")
    }
  }

  private mutating func read() throws(WireError) -> Bundle {
    while let element = try nextElement() { try add(element) }
    guard let bundle else { throw WireError("The bundle is empty.") }
    guard awaited == nil else { throw WireError("The last document is missing.") }
    if bytes.count - metadataEnd < metadata.bytes || bundle.entries.count < metadata.documents {
      throw WireError(
        "The bundle is incomplete: it has \(bundle.entries.count) of \(metadata.documents) documents and "
          + "\(bytes.count - metadataEnd) of \(metadata.bytes) bytes.")
    }
    return bundle
  }

  private mutating func nextElement() throws(WireError) -> BundleElement? {
    start = position
    guard position < bytes.count else { return nil }
    var length = 0
    while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
      length = length * 10 + Int(bytes[position] - UInt8(ascii: "0"))
      guard length <= bytes.count else { throw WireError("An element is longer than the bundle.") }
      position += 1
    }
    guard position > start else { throw WireError("Expected the length of an element.") }
    guard length <= bytes.count - position else { throw WireError("An element is longer than the rest of the bundle.") }
    let content = bytes[position..<position + length]
    position += length
    guard let text = String(validating: content, as: UTF8.self) else { throw WireError("An element is not UTF-8.") }
    let json: JSONSyntax
    do throws(JSONError) {
      json = try JSONSyntax(parsing: text, numbers: .ofAnySize)
    } catch {
      throw WireError(error.reason)
    }
    return try BundleElement(json, database)
  }

  private mutating func add(_ element: BundleElement) throws(WireError) {
    if case .metadata(let metadata) = element {
      guard bundle == nil else { throw WireError("There is a second metadata element.") }
      guard !metadata.id.isEmpty else { throw WireError("The bundle has no id.") }
      guard let createTime = metadata.createTime else { throw WireError("The bundle has no \"createTime\".") }
      bundle = Bundle(id: metadata.id, createTime: createTime)
      self.metadata = metadata
      metadataEnd = position
      return
    }
    guard bundle != nil else { throw WireError("The first element must be the metadata.") }
    if case .document(let document) = element {
      guard let metadata = awaited else { throw WireError("A document has no metadata.") }
      guard document.key == metadata.key else { throw WireError("Expected the document \(metadata.key).") }
      awaited = nil
      bundle?.entries.append(Bundle.Entry(document: document, queries: metadata.queries, byteEnd: position))
      return
    }
    if let awaited { throw WireError("Expected the document \(awaited.key).") }
    switch element {
    case .metadata, .document: break
    case .namedQuery(let query): bundle?.queries.append(query)
    case .documentMetadata(let metadata) where metadata.exists: awaited = metadata
    case .documentMetadata(let metadata):
      let missing = Document(key: metadata.key, version: metadata.readTime, state: .missing)
      bundle?.entries.append(Bundle.Entry(document: missing, queries: metadata.queries, byteEnd: position))
    }
  }
}

/// One element of a bundle (firestore/bundle.proto). The element's JSON is converted to protobuf and then parsed like a
/// message of the backend.
enum BundleElement {
  struct Metadata {
    var id = ""
    var createTime: SnapshotVersion?
    /// The numbers of documents and bytes in the bundle; 0 if the metadata does not contain them.
    var documents: Int64 = 0
    var bytes: Int64 = 0
  }

  struct DocumentMetadata {
    var key: DocumentKey
    var readTime: SnapshotVersion
    var exists: Bool
    var queries: [String]
  }

  case metadata(Metadata)
  case namedQuery(Bundle.NamedQuery)
  case documentMetadata(DocumentMetadata)
  case document(Document)

  init(_ json: JSONSyntax, _ database: DatabaseID) throws(WireError) {
    guard case .object(let members) = json.kind, let name = members.first?.name, members.count == 1 else {
      throw WireError("Expected an object with one member.")
    }
    let bytes: [UInt8]
    do throws(RPCStatus) { bytes = try MessageReader.bytes(of: json, Schema.bundleElement, .lenient) } catch {
      throw WireError(error.message)
    }
    let element = try WireReader.read(bytes) { reader throws(WireError) in try reader.bundleElement(database) }
    guard let element else { throw WireError("Unknown element \"\(name)\".") }
    self = element
  }
}

extension WireReader {
  /// - Returns: `nil` for an element of an unknown kind.
  fileprivate mutating func bundleElement(_ database: DatabaseID) throws(WireError) -> BundleElement? {
    var element: BundleElement?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): element = .metadata(try bundleMetadata())
      case (2, .lengthDelimited): element = .namedQuery(try namedQuery(database))
      case (3, .lengthDelimited): element = .documentMetadata(try bundledDocumentMetadata(DocumentNames(database)))
      case (4, .lengthDelimited): element = .document(try document(DocumentNames(database)))
      default: try skip(tag.type)
      }
    }
    return element
  }

  private mutating func bundleMetadata() throws(WireError) -> BundleElement.Metadata {
    var (metadata, reader) = (BundleElement.Metadata(), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): metadata.id = try reader.string()
      case (2, .lengthDelimited): metadata.createTime = try reader.version()
      case (4, .varint): metadata.documents = try reader.integer()
      case (5, .varint): metadata.bytes = try reader.integer()
      default: try reader.skip(tag.type)
      }
    }
    return metadata
  }

  private mutating func namedQuery(_ database: DatabaseID) throws(WireError) -> Bundle.NamedQuery {
    var (name, query, readTime) = ("", Query?.none, SnapshotVersion?.none)
    var reader = try message()
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): name = try reader.string()
      case (2, .lengthDelimited): query = try reader.bundledQuery(database)
      case (3, .lengthDelimited): readTime = try reader.version()
      default: try reader.skip(tag.type)
      }
    }
    guard !name.isEmpty, let query, let readTime else {
      throw WireError("Expected a named query with \"name\", \"bundledQuery\" and \"readTime\".")
    }
    return Bundle.NamedQuery(name: name, query: query, readTime: readTime)
  }

  private mutating func bundledQuery(_ database: DatabaseID) throws(WireError) -> Query {
    var (parent, structured, limitType) = ("", QueryMessage?.none, Query.LimitType.first)
    var reader = try message()
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): parent = try reader.string()
      case (2, .lengthDelimited):
        var inner = try reader.message()
        structured = try inner.structuredQuery()
      case (3, .varint): limitType = try reader.integer() == 1 ? .last : .first
      default: try reader.skip(tag.type)
      }
    }
    let (name, root) = (ResourcePath(parent), ResourcePath(database.documentsName))
    guard root.isPrefix(of: name) else { throw WireError("\"\(parent)\" is not a resource name in \(database.name).") }
    guard let structured, let from = structured.selectors.first, structured.selectors.count == 1 else {
      throw WireError("Expected one collection in \"from\".")
    }
    var path = ResourcePath(segments: name.segments.dropFirst(root.count).map(String.init))
    if !from.allDescendants { path = path.appending(from.collectionID) }
    let query = try Query(structured, path: path, limitType: limitType)
    do throws(QueryError) { try query.validate() } catch { throw WireError(error.message) }
    return query
  }

  private mutating func bundledDocumentMetadata(
    _ names: DocumentNames
  ) throws(WireError) -> BundleElement.DocumentMetadata {
    var (key, readTime, exists, queries) = (DocumentKey?.none, SnapshotVersion?.none, false, [String]())
    var reader = try message()
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): key = try names.key(try reader.lengthDelimited())
      case (2, .lengthDelimited): readTime = try reader.version()
      case (3, .varint): exists = try reader.boolean()
      case (4, .lengthDelimited): queries.append(try reader.string())
      default: try reader.skip(tag.type)
      }
    }
    guard let key, let readTime else {
      throw WireError("Expected a document's metadata with \"name\" and \"readTime\".")
    }
    return BundleElement.DocumentMetadata(key: key, readTime: readTime, exists: exists, queries: queries)
  }

  private mutating func version() throws(WireError) -> SnapshotVersion {
    let time = try timestamp()
    guard time.isValid else { throw WireError("Expected a time from the year 1 to 9999.") }
    return SnapshotVersion(time)
  }
}
