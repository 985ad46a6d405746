// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension DocumentTable {
  /// Column `state`.
  enum State: Int64 {
    case placeholder = 0
    case found = 1
    case missing = 2
    case unknown = 3
    /// Found or missing as a write left it that the backend has acknowledged but not sent back.
    case foundCommitted = 5
    case missingCommitted = 6
    case unknownCommitted = 7
  }

  static func state(_ raw: Int64) throws(LocalStoreError) -> State {
    guard let state = State(rawValue: raw) else {
      throw LocalStoreError(.corrupt, "The cache is damaged: a document has state \(raw).")
    }
    return state
  }
}

extension DocumentTable.State {
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

extension DocumentTable {
  /// The current row of a scan; valid until the scan goes on.
  struct Row {
    private let row: Statement
    init(_ row: Statement) { self.row = row }

    var number: Number { row.integer(0) }
    var collection: CollectionTable.Number { row.integer(1) }
    var name: String { row.text(2) }
    /// Valid until the scan goes on; not checked.
    var fieldBytes: UnsafeRawBufferPointer { row.blobBytes(6) }

    /// `nil` if they are not those that were stored.
    var intactFields: EncodedFields? { try? StoredFields.read(row.blobBytes(6), checksum: row.integer(7)) }

    /// - Parameter collection: the path of this row's collection.
    func key(in collection: ResourcePath) -> DocumentKey {
      let name = row.textBytes(2)
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
      return state == State.found.rawValue || state == State.foundCommitted.rawValue
    }

    /// - Throws: `corrupt` if the row, besides its fields, is not the one that was stored.
    func check() throws(LocalStoreError) {
      let header = DocumentChecksum.Header(
        number: number, collection: collection, version: row.optionalInteger(3), createTime: row.optionalInteger(4),
        state: row.integer(5))
      let isIntact = DocumentChecksum.holds(
        row.integer(7), for: header, named: UnsafeRawBufferPointer(row.textBytes(2)))
      guard isIntact else { throw StoredFields.changedOnDisk }
    }

    /// - Returns: `nil` for a placeholder.
    /// - Throws: `corrupt` if it is not the document that was stored.
    func document(_ key: DocumentKey) throws(LocalStoreError) -> Document? {
      try check()
      let state = try DocumentTable.state(row.integer(5))
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
}
