// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreLocal
import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery

/// One element of a bundle (firestore/bundle.proto): its JSON becomes protobuf, and that is read
/// like what a backend sends.
enum BundleElement {
  struct Metadata {
    var id = ""
    var createTime: SnapshotVersion?
    /// Numbers of documents and bytes in the bundle; 0 where it does not say.
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
  /// - Returns: `nil` for an element that is none of those that are known.
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
    guard root.isPrefix(of: name) else { throw WireError("\"\(parent)\" is no name in \(database.name).") }
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
