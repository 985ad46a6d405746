// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreLocal
package import FirestoreModel

/// Reads the bundle format: elements of JSON, each directly after its length in bytes as decimal digits; metadata
/// first, then named queries and documents, each document after its metadata.
package struct BundleReader {
  private let bytes: [UInt8]
  private let database: DatabaseID
  private var position = 0
  /// The beginning of the current element, for error messages.
  private var start = 0
  private var bundle: Bundle?
  private var metadata = BundleElement.Metadata()
  /// The end of the metadata, from which its bytes are counted.
  private var metadataEnd = 0
  /// Metadata whose document has to follow.
  private var awaited: BundleElement.DocumentMetadata?

  private init(_ bytes: [UInt8], _ database: DatabaseID) { (self.bytes, self.database) = (bytes, database) }

  /// - Throws: `invalid-argument` for bytes that are no bundle, naming the byte, or that are one of another database.
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
    guard let bundle else { throw WireError("It is empty.") }
    guard awaited == nil else { throw WireError("The last document is missing.") }
    if bytes.count - metadataEnd < metadata.bytes || bundle.entries.count < metadata.documents {
      throw WireError(
        "It is cut short: \(bundle.entries.count) documents in \(bytes.count - metadataEnd) bytes of "
          + "\(metadata.documents) in \(metadata.bytes).")
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
    guard length <= bytes.count - position else { throw WireError("An element is longer than what is left.") }
    let content = bytes[position..<position + length]
    position += length
    guard let text = String(validating: content, as: UTF8.self) else { throw WireError("It is not UTF-8.") }
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
      guard let metadata = awaited else { throw WireError("A document without metadata.") }
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
