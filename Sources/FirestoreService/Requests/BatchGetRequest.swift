// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A `BatchGetDocumentsRequest`.
struct BatchGetRequest {
  let database: DatabaseID
  /// Each once.
  let keys: [DocumentKey]
  private(set) var consistency = RequestedConsistency.latest
  private var mask: FieldMask?

  init(_ bytes: [UInt8]) throws(RPCStatus) {
    var (databaseName, names, mask) = ("", [String](), FieldMask?.none)
    var consistency = RequestedConsistency.latest
    try RequestReader.read(bytes) { reader throws(RPCStatus) in
      try reader.fields { number, field throws(RPCStatus) in
        switch number {
        case 1: databaseName = try field.string() ?? databaseName
        case 2: if let name = try field.string() { names.append(name) }
        case 3: mask = try field.mask() ?? mask
        case 4: if let id = try field.bytes() { consistency = .transaction(id) }
        case 5: if let options = try field.transactionOptions() { consistency = .newTransaction(options) }
        case 7: if let time = try field.timestamp() { consistency = .readTime(time) }
        default: break
        }
      }
    }
    let database = try ResourceName.database(databaseName)
    var (seen, keys) = (Set<DocumentKey>(), [DocumentKey]())
    for name in names {
      let (other, key) = try ResourceName.document(name)
      guard other == database else {
        throw RPCStatus(
          .invalidArgument,
          "The request was for database '\(database.name)' but was attempting to access database '\(other.name)'")
      }
      if seen.insert(key).inserted { keys.append(key) }
    }
    (self.database, self.keys, self.mask, self.consistency) = (database, keys, mask, consistency)
  }

  /// The messages of a response: found ones first, as the real service sends them.
  func responses(_ documents: [Document], _ readTime: SnapshotVersion) -> [[UInt8]] {
    let names = DocumentNames(database)
    return (documents.filter(\.exists) + documents.filter { !$0.exists }).map { document in
      message { $0.batchGetResponse(ReadResponse(document: document, readTime: readTime), names, mask: mask) }
    }
  }
}
