// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreLocal
package import FirestoreModel
import FirestoreQuery

/// Reads the bundle format: elements of JSON, each directly after its length in bytes as decimal digits; metadata
/// first, then named queries and documents, each document after its metadata.
package struct BundleReader {
  private struct Metadata {
    var key: DocumentKey
    var readTime: SnapshotVersion
    var queries: [String]
  }

  private let bytes: [UInt8]
  private var position = 0
  /// The position at which the current element begins, for error messages.
  private var start = 0
  private var bundle: Bundle?
  /// The numbers of documents and bytes that the metadata states; 0 if it states none.
  private var announced: (documents: Int64, bytes: Int64) = (0, 0)
  /// The position at which the metadata ends, from which its bytes are counted.
  private var metadataEnd = 0
  /// Metadata whose document has to follow.
  private var awaited: Metadata?

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// - Throws: `invalid-argument` for bytes that are no bundle, naming the byte, or that are one of another database.
  package static func read(_ bytes: [UInt8], database: DatabaseID) throws(RPCStatus) -> Bundle {
    var reader = BundleReader(bytes)
    do throws(JSONError) {
      return try reader.read(ProtoJSON(database: database))
    } catch {
      throw RPCStatus(.invalidArgument, "The bundle cannot be read at byte \(reader.start): \(error.reason)")
    }
  }

  private mutating func read(_ json: ProtoJSON) throws(JSONError) -> Bundle {
    while let element = try nextElement() {
      guard case .object(let members) = element.kind, members.count == 1 else {
        throw element.error("Expected an object with one member.")
      }
      try add(members[0], json)
    }
    guard let bundle else { throw Self.error("It is empty.") }
    guard awaited == nil else { throw Self.error("The last document is missing.") }
    if bytes.count - metadataEnd < announced.bytes || bundle.entries.count < announced.documents {
      throw Self.error(
        "It is cut short: \(bundle.entries.count) documents in \(bytes.count - metadataEnd) bytes of "
          + "\(announced.documents) in \(announced.bytes).")
    }
    return bundle
  }

  private static func error(_ reason: String) -> JSONError { JSONError(line: 0, column: 0, reason: reason) }

  private mutating func nextElement() throws(JSONError) -> JSONSyntax? {
    start = position
    guard position < bytes.count else { return nil }
    var length = 0
    while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
      length = length * 10 + Int(bytes[position] - UInt8(ascii: "0"))
      guard length <= bytes.count else { throw Self.error("An element is longer than the bundle.") }
      position += 1
    }
    guard position > start else { throw Self.error("Expected the length of an element.") }
    guard length <= bytes.count - position else { throw Self.error("An element is longer than what is left.") }
    let content = bytes[position..<position + length]
    position += length
    guard let text = String(validating: content, as: UTF8.self) else { throw Self.error("It is not UTF-8.") }
    return try JSONSyntax(parsing: text)
  }

  private mutating func add(_ member: JSONSyntax.Member, _ json: ProtoJSON) throws(JSONError) {
    let value = member.value
    if member.name == "metadata" {
      guard bundle == nil else { throw value.error("There is a second metadata element.") }
      let id = try json.string(value, "id")
      guard !id.isEmpty else { throw value.error("The bundle has no id.") }
      bundle = Bundle(id: id, createTime: try json.version(value, "createTime"))
      announced = (try json.count(value, "totalDocuments"), try json.count(value, "totalBytes"))
      metadataEnd = position
      return
    }
    guard bundle != nil else { throw value.error("The first element must be the metadata.") }
    if let awaited, member.name != "document" { throw value.error("Expected the document \(awaited.key).") }
    switch member.name {
    case "namedQuery":
      bundle?.queries.append(
        Bundle.NamedQuery(
          name: try json.string(value, "name"), query: try json.bundledQuery(value),
          readTime: try json.version(value, "readTime")))
    case "documentMetadata": try addMetadata(value, json)
    case "document":
      guard let metadata = awaited else { throw value.error("A document without metadata.") }
      let document = try json.document(value)
      guard document.key == metadata.key else { throw value.error("Expected the document \(metadata.key).") }
      awaited = nil
      bundle?.entries.append(Bundle.Entry(document: document, queries: metadata.queries, byteEnd: position))
    default: throw value.error("Unknown element \"\(member.name)\".")
    }
  }

  private mutating func addMetadata(_ value: JSONSyntax, _ json: ProtoJSON) throws(JSONError) {
    var queries: [String] = []
    for name in try json.array(value, "queries") { queries.append(try json.string(name)) }
    let metadata = Metadata(
      key: try json.key(value, "name"), readTime: try json.version(value, "readTime"), queries: queries)
    if case .boolean(true)? = value["exists"]?.kind {
      awaited = metadata
    } else {
      let missing = Document(key: metadata.key, version: metadata.readTime, state: .missing)
      bundle?.entries.append(Bundle.Entry(document: missing, queries: queries, byteEnd: position))
    }
  }
}
