// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A `GetDocumentRequest`.
struct GetDocumentRequest {
  var consistency = RequestedConsistency.latest
  let database: DatabaseID
  let key: DocumentKey
  private var name = ""
  private var mask: FieldMask?

  init(_ bytes: [UInt8]) throws(RPCStatus) {
    var (name, mask, consistency) = ("", FieldMask?.none, RequestedConsistency.latest)
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: name = try field.string() ?? name
        case 2: mask = try field.mask() ?? mask
        case 3: if let id = try field.bytes() { consistency = .transaction(id) }
        case 5: if let time = try field.timestamp() { consistency = .readTime(time) }
        default: break
        }
      }
    }
    (self.name, self.mask, self.consistency) = (name, mask, consistency)
    (database, key) = try ResourceName.document(name)
  }

  /// - Throws: `notFound` for a document that does not exist.
  func response(_ document: Document) throws(RPCStatus) -> [UInt8] {
    guard document.exists else { throw RPCStatus(.notFound, "Document \"\(name)\" not found.") }
    return message { $0.document(document, in: database, mask: mask) }
  }
}
