// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

extension DocumentTable {
  /// The values of the column `state`.
  enum State: Int64 {
    case placeholder = 0
    case found = 1
    case missing = 2
    case unknown = 3
    /// A document with an acknowledged write whose result the watch stream has not delivered yet.
    case foundCommitted = 5
    case missingCommitted = 6
    case unknownCommitted = 7
  }

  /// The columns of a document's row.
  struct Columns {
    let number: DocumentNumber
    let collection: CollectionNumber
    let name: String
    var version: Int64?
    var createTime: Int64?
    var readTime: Int64 = 0
    let sequenceNumber: Int64
    var state = State.placeholder
    var fields: [UInt8]?
    var checksum: Int64?

    init(
      placeholder number: DocumentNumber, _ collection: CollectionNumber, _ name: String, _ sequenceNumber: Int64
    ) {
      self.number = number
      self.collection = collection
      self.name = name
      self.sequenceNumber = sequenceNumber
    }

    init(
      _ document: Document, _ name: String, _ fields: [UInt8]?, as number: DocumentNumber,
      in collection: CollectionNumber, readTime: SnapshotVersion?, sequenceNumber: Int64
    ) {
      self.init(placeholder: number, collection, name, sequenceNumber)
      version = document.version?.microseconds
      createTime = document.createTime?.microseconds
      self.readTime = readTime?.microseconds ?? 0
      state = State(of: document)
      self.fields = fields
      let header = DocumentChecksum.Header(
        number: number, collection: collection, version: version, createTime: createTime, state: state.rawValue)
      checksum = DocumentChecksum.of(fields, header, named: name)
    }
  }
}

extension DocumentTable.State {
  /// - Throws: `corrupt` for an invalid state.
  init(stored raw: Int64) throws(StoreError) {
    guard let state = Self(rawValue: raw) else { throw .damaged("a document has state \(raw)") }
    self = state
  }

  init(of document: Document) {
    let isCommitted = document.hasCommittedMutations
    self =
      switch document.state {
      case .found: isCommitted ? .foundCommitted : .found
      case .missing: isCommitted ? .missingCommitted : .missing
      case .unknown: isCommitted ? .unknownCommitted : .unknown
      }
  }

  var isFound: Bool { self == .found || self == .foundCommitted }
  var isCommitted: Bool { rawValue & 4 != 0 }
}

/// The current row of a scan. It is valid only until the scan continues.
struct DocumentRow {
  private let row: Row

  /// - Parameter row: a row with the columns id, collection, name, version, create time, state, fields and checksum.
  init(_ row: Row) { self.row = row }

  var number: DocumentNumber { row.number(0) }
  var collection: CollectionNumber { row.number(1) }
  var name: String { row.text(2) }
  /// The hint for ordering the document within its collection.
  var hint: KeyHint? { KeyHint(ofID: row.blobBytes(2)) }
  /// The bytes of the fields, without a checksum test. Valid only until the scan continues.
  var fieldBytes: UnsafeRawBufferPointer { row.blobBytes(6) }

  /// The fields; `nil` if their checksum does not match.
  var intactFields: EncodedFields? { try? StoredFields.read(row.blobBytes(6), checksum: row.integer(7)) }

  /// - Parameter collection: the path of this row's collection.
  func key(in collection: ResourcePath) -> DocumentKey {
    let name = row.blobBytes(2)
    var prefix = collection.text
    let path = prefix.withUTF8 { prefix in
      String(unsafeUninitializedCapacity: prefix.count + 1 + name.count) { text in
        _ = text.initialize(fromContentsOf: prefix)
        text.initializeElement(at: prefix.count, to: UInt8(ascii: "/"))
        _ = text[(prefix.count + 1)...].initialize(fromContentsOf: name)
        return prefix.count + 1 + name.count
      }
    }
    return DocumentKey(unchecked: ResourcePath(path))
  }

  var isFound: Bool {
    let state = row.integer(5)
    return state == DocumentTable.State.found.rawValue || state == DocumentTable.State.foundCommitted.rawValue
  }

  /// Whether the row records that the document does not exist.
  var isTombstone: Bool { row.integer(5) == DocumentTable.State.missing.rawValue }

  /// - Throws: `corrupt` if the row was altered on disk. Does not check the fields.
  func check() throws(StoreError) {
    let header = DocumentChecksum.Header(
      number: number, collection: collection, version: row.optionalInteger(3), createTime: row.optionalInteger(4),
      state: row.integer(5))
    // A placeholder has no content and no checksum.
    let isIntact =
      row.optionalInteger(7).map { DocumentChecksum.holds($0, for: header, named: row.blobBytes(2)) }
      ?? (header.state == DocumentTable.State.placeholder.rawValue)
    guard isIntact else { throw StoredFields.changedOnDisk }
  }

  /// - Returns: `nil` for a placeholder.
  /// - Throws: `corrupt` if the row was altered on disk.
  func document(_ key: DocumentKey) throws(StoreError) -> Document? {
    try check()
    let state = try DocumentTable.State(stored: row.integer(5))
    let content: Document.State
    switch state {
    case .placeholder: return nil
    case .found, .foundCommitted:
      let fields = try StoredFields.read(row.blobBytes(6), checksum: row.integer(7))
      content = .found(DocumentData(encoded: fields))
    case .missing, .missingCommitted: content = .missing
    case .unknown, .unknownCommitted: content = .unknown
    }
    return Document(
      key: key, version: try row.version(3), createTime: try row.version(4), state: content,
      pending: state.isCommitted ? .committed : .none)
  }
}
