// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension WireReader {
  /// Reads the content of a `google.firestore.v1.ListenResponse`.
  /// - Returns: `nil` if the kind of message or change is unknown. The caller skips such a message.
  package mutating func watchChange(_ names: DocumentNames) throws(WireError) -> WatchChange? {
    var change: WatchChange?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited):
        var reader = try message()
        change = try reader.targetChange()
      case (3, .lengthDelimited):
        var reader = try message()
        change = try reader.documentChange(names)
      case (4, .lengthDelimited):
        var reader = try message()
        change = try reader.documentDelete(names)
      case (5, .lengthDelimited):
        var reader = try message()
        change = try reader.existenceFilter()
      case (6, .lengthDelimited):
        var reader = try message()
        change = try reader.documentRemove(names)
      default: try skip(tag.type)
      }
    }
    return change
  }

  private mutating func targetChange() throws(WireError) -> WatchChange? {
    var type: UInt64 = 0
    var ids: [TargetID] = []
    var cause: RPCStatus?
    var token: ResumeToken?
    var readTime: SnapshotVersion?
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): type = try varint()
      case (2, _): try targetIDs(&ids, tag.type)
      case (3, .lengthDelimited):
        var reader = try message()
        cause = try reader.status()
      case (4, .lengthDelimited): token = ResumeToken(try byteArray())
      case (6, .lengthDelimited): readTime = SnapshotVersion(try timestamp())
      default: try skip(tag.type)
      }
    }
    switch type {
    case 0: if ids.isEmpty, let readTime { return .snapshot(readTime, token) } else { return .token(ids, token) }
    case 1: return .added(ids)
    case 2: return .removed(ids, cause: cause)
    case 3: return .current(ids, token)
    case 4: return .reset(ids, token)
    default: return nil
    }
  }

  mutating func targetID() throws(WireError) -> TargetID { TargetID(Int32(truncatingIfNeeded: try varint())) }

  /// Reads a field of repeated `int32`, packed or not.
  private mutating func targetIDs(_ ids: inout [TargetID], _ type: WireType) throws(WireError) {
    switch type {
    case .varint: ids.append(try targetID())
    case .lengthDelimited:
      var reader = try message()
      while !reader.isAtEnd { ids.append(try reader.targetID()) }
    default: try skip(type)
    }
  }

  private mutating func documentChange(_ names: DocumentNames) throws(WireError) -> WatchChange {
    var changed: Document?
    var updated: [TargetID] = []
    var removed: [TargetID] = []
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): changed = try document(names)
      case (5, _): try targetIDs(&updated, tag.type)
      case (6, _): try targetIDs(&removed, tag.type)
      default: try skip(tag.type)
      }
    }
    guard let changed else { throw WireError("a document change has no document") }
    return .document(changed, updated: updated, removed: removed)
  }

  private mutating func documentDelete(_ names: DocumentNames) throws(WireError) -> WatchChange {
    var key: DocumentKey?
    var readTime: SnapshotVersion?
    var removed: [TargetID] = []
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): key = try names.key(try lengthDelimited())
      case (4, .lengthDelimited): readTime = SnapshotVersion(try timestamp())
      case (6, _): try targetIDs(&removed, tag.type)
      default: try skip(tag.type)
      }
    }
    guard let key else { throw WireError("a deleted document has no name") }
    return .document(Document(key: key, version: readTime, state: .missing), updated: [], removed: removed)
  }

  private mutating func documentRemove(_ names: DocumentNames) throws(WireError) -> WatchChange {
    var key: DocumentKey?
    var removed: [TargetID] = []
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): key = try names.key(try lengthDelimited())
      case (2, _): try targetIDs(&removed, tag.type)
      default: try skip(tag.type)
      }
    }
    guard let key else { throw WireError("a removed document has no name") }
    return .documentRemoved(key, removed: removed)
  }

  private mutating func existenceFilter() throws(WireError) -> WatchChange {
    var id = TargetID(0)
    var filter = ExistenceFilter(count: 0)
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): id = try targetID()
      case (2, .varint): filter.count = Int(Int32(truncatingIfNeeded: try varint()))
      case (3, .lengthDelimited):
        var reader = try message()
        filter.unchangedNames = try reader.bloomFilter()
      default: try skip(tag.type)
      }
    }
    return .filter(id, filter)
  }

  private mutating func bloomFilter() throws(WireError) -> BloomFilterBits {
    var bits = BloomFilterBits(bitmap: [], padding: 0, hashCount: 0)
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited):
        var reader = try message()
        while let tag = try reader.tag() {
          switch (tag.field, tag.type) {
          case (1, .lengthDelimited): bits.bitmap = try reader.byteArray()
          case (2, .varint): bits.padding = Int(Int32(truncatingIfNeeded: try reader.varint()))
          default: try reader.skip(tag.type)
          }
        }
      case (2, .varint): bits.hashCount = Int(Int32(truncatingIfNeeded: try varint()))
      default: try skip(tag.type)
      }
    }
    return bits
  }
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.ListenResponse` in the way that Google's emulator does (PROTOCOL
  /// §2.4). A reset has a read time, as `current` does. A deletion lists every affected target as one that the document
  /// has left.
  /// - Parameter readTime: the read time to send with `current`, `reset` and `documentRemoved` if the change itself has
  ///   none.
  package mutating func watchChange(_ change: WatchChange, _ names: DocumentNames, readTime: SnapshotVersion? = nil) {
    switch change {
    case .added(let ids): targetChange(1, ids)
    case .removed(let ids, let cause): targetChange(2, ids, cause: cause)
    case .current(let ids, let token): targetChange(3, ids, token, readTime)
    case .reset(let ids, let token): targetChange(4, ids, token, readTime)
    case .token(let ids, let token): targetChange(0, ids, token)
    case .snapshot(let version, let token): targetChange(0, [], token, version)
    case .document(let document, let updated, let removed):
      if document.exists {
        field(3) { writer in
          writer.field(1) { $0.document(document, names) }
          writer.targetIDs(5, updated)
          writer.targetIDs(6, removed)
        }
      } else {
        field(4) { writer in
          names.write(document.key, as: 1, to: &writer)
          if let version = document.version { writer.field(4, timestamp: version.timestamp) }
          writer.targetIDs(6, updated + removed)
        }
      }
    case .documentRemoved(let key, let removed):
      field(6) { writer in
        names.write(key, as: 1, to: &writer)
        writer.targetIDs(2, removed)
        if let readTime { writer.field(4, timestamp: readTime.timestamp) }
      }
    case .filter(let id, let filter): existenceFilter(filter, for: id)
    }
  }

  private mutating func targetChange(
    _ type: UInt64, _ ids: [TargetID], _ token: ResumeToken? = nil, _ readTime: SnapshotVersion? = nil,
    cause: RPCStatus? = nil
  ) {
    field(2) { writer in
      if type != 0 { writer.field(1, varint: type) }
      writer.targetIDs(2, ids)
      if let cause { writer.status(3, cause) }
      if let token { writer.field(4, bytes: token.bytes) }
      if let readTime { writer.field(6, timestamp: readTime.timestamp) }
    }
  }

  private mutating func targetIDs(_ number: Int, _ ids: [TargetID]) {
    if ids.isEmpty { return }
    field(number) { writer in
      for id in ids { writer.varint(UInt64(bitPattern: Int64(id.rawValue))) }
    }
  }

  private mutating func existenceFilter(_ filter: ExistenceFilter, for id: TargetID) {
    field(5) { writer in
      writer.field(1, integer: Int64(id.rawValue))
      if filter.count != 0 { writer.field(2, integer: Int64(filter.count)) }
      guard let bloom = filter.unchangedNames else { return }
      writer.field(3) { writer in
        writer.field(1) { writer in
          writer.field(1, bytes: bloom.bitmap)
          if bloom.padding != 0 { writer.field(2, integer: Int64(bloom.padding)) }
        }
        if bloom.hashCount != 0 { writer.field(2, integer: Int64(bloom.hashCount)) }
      }
    }
  }
}

extension WireReader {
  /// Reads the content of a `google.rpc.Status`; `nil` for OK. An unknown number becomes the code `unknown`.
  mutating func status() throws(WireError) -> RPCStatus? {
    var code = 0
    var text = ""
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .varint): code = Int(truncatingIfNeeded: try varint())
      case (2, .lengthDelimited): text = try string()
      default: try skip(tag.type)
      }
    }
    return code == 0 ? nil : RPCStatus(StatusCode(rawValue: code) ?? .unknown, text)
  }
}

extension WireWriter {
  /// Writes a field that contains a `google.rpc.Status`.
  package mutating func status(_ number: Int, _ status: RPCStatus) {
    field(number) { writer in
      if status.code != .ok { writer.field(1, varint: UInt64(status.code.rawValue)) }
      if !status.message.isEmpty { writer.field(2, string: status.message) }
    }
  }
}
