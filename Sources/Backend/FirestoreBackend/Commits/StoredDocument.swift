// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// An existing document as stored in the database. Times are microseconds since the epoch.
struct StoredDocument: Sendable {
  var key: DocumentKey
  var version: Int64
  var created: Int64
  var fields: EncodedFields

  var document: Document {
    Document(
      key: key, version: SnapshotVersion(microseconds: version), createTime: SnapshotVersion(microseconds: created),
      state: .found(DocumentData(encoded: fields)))
  }
}

/// The position of a document in the store's key order: collection by collection, then by name.
struct DocumentPosition: Hashable, Comparable, Sendable {
  var collection: Int64
  var name: DocumentName

  static func < (left: DocumentPosition, right: DocumentPosition) -> Bool {
    left.collection == right.collection ? left.name < right.name : left.collection < right.collection
  }
}

/// The effect of one commit on one document.
struct DocumentTransition: Sendable {
  var key: DocumentKey
  var position: DocumentPosition
  var before: Document?
  /// `found`, or `missing` at the version of the deletion.
  var after: Document
}

extension DocumentTransition {
  /// Merges the effects of several commits, as if each database had one commit: one transition per document. Listeners
  /// cannot distinguish the states between these commits.
  static func byDatabase(
    _ orders: [CommitOrder], _ results: [Result<CommitOutcome, StoreError>]
  ) -> [(DatabaseID, [DocumentTransition])] {
    if orders.count == 1 {
      guard case .success(let outcome) = results[0] else { return [] }
      return [(orders[0].database, outcome.transitions)]
    }
    var merged: [(DatabaseID, [DocumentTransition])] = []
    var places: [DatabaseID: [DocumentKey: Int]] = [:]
    for (order, result) in zip(orders, results) {
      guard case .success(let outcome) = result else { continue }
      let database = order.database
      let index = merged.firstIndex { $0.0 == database } ?? merged.endIndex
      if index == merged.endIndex { merged.append((database, [])) }
      for transition in outcome.transitions {
        if let place = places[database]?[transition.key] {
          merged[index].1[place].after = transition.after
        } else {
          places[database, default: [:]][transition.key] = merged[index].1.count
          merged[index].1.append(transition)
        }
      }
    }
    return merged
  }
}

/// A document id as bytes that sort as Firestore sorts ids: numeric ids (`__id7__`) first, by number, then the others
/// by UTF-8.
///
/// ```
/// numeric  00  number as big-endian with its sign bit flipped (8 bytes)  id as UTF-8
/// other    01  id as UTF-8
/// ```
struct DocumentName: Hashable, Comparable, Sendable {
  let bytes: [UInt8]

  init(stored bytes: [UInt8]) { self.bytes = bytes }

  init(_ id: some StringProtocol) {
    let text = id.utf8
    var bytes: [UInt8] = []
    if let number = Self.number(of: id) {
      bytes.reserveCapacity(text.count + 9)
      bytes.append(0)
      let ordered = UInt64(bitPattern: number) ^ (1 << 63)
      withUnsafeBytes(of: ordered.bigEndian) { bytes.append(contentsOf: $0) }
    } else {
      bytes.reserveCapacity(text.count + 1)
      bytes.append(1)
    }
    bytes.append(contentsOf: text)
    self.bytes = bytes
  }

  var id: String { bytes.withUnsafeBytes(Self.id) }

  /// The next possible name after this one.
  var successor: DocumentName { DocumentName(stored: bytes + [0]) }

  static let first = DocumentName(stored: [])
  static let last = DocumentName(stored: [0xFF])

  static func id(_ stored: UnsafeRawBufferPointer) -> String {
    String(decoding: stored.dropFirst(stored.first == 0 ? 9 : 1), as: UTF8.self)
  }

  static func < (left: DocumentName, right: DocumentName) -> Bool {
    left.bytes.withUnsafeBufferPointer { left in
      right.bytes.withUnsafeBufferPointer { right in
        left.lexicographicallyPrecedes(right)
      }
    }
  }

  private static func number(of id: some StringProtocol) -> Int64? {
    let text = id.utf8
    guard text.count > 6, text.starts(with: "__id".utf8), text.suffix(2).elementsEqual("__".utf8) else { return nil }
    let digits = text.dropFirst(4).dropLast(2)
    guard digits.first != UInt8(ascii: "+") else { return nil }
    return Int64(Substring(digits.map { Character(Unicode.Scalar($0)) }))
  }
}
