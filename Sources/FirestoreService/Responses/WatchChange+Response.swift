// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreRemote

extension WatchChange {
  /// The change as a `ListenResponse`.
  /// - Parameter readTime: the version up to which all is said; told with everything that carries a position.
  func response(in database: DatabaseID, at readTime: SnapshotVersion) -> [UInt8] {
    switch self {
    case .added(let ids): targetChange(1, ids)
    case .removed(let ids, let cause): targetChange(2, ids, cause: cause)
    case .current(let ids, let token): targetChange(3, ids, token: token, readTime: readTime)
    case .reset(let ids, let token): targetChange(4, ids, token: token)
    case .token(let ids, let token): targetChange(0, ids, token: token)
    case .snapshot(let version, let token): targetChange(0, [], token: token, readTime: version)
    case .document(let document, let updated, let removed):
      document.exists ? change(of: document, updated, removed, database) : deletion(of: document, removed, database)
    case .documentRemoved(let key, let removed):
      message { writer in
        writer.field(6) { writer in
          writer.field(1, string: database.name(of: key))
          writer.packed(2, removed)
        }
      }
    case .filter(let id, let filter): self.filter(id, filter)
    }
  }

  private func targetChange(
    _ type: UInt64, _ ids: [TargetID], cause: RPCStatus? = nil, token: ResumeToken? = nil,
    readTime: SnapshotVersion? = nil
  ) -> [UInt8] {
    message { writer in
      writer.field(2) { writer in
        if type != 0 { writer.field(1, varint: type) }
        writer.packed(2, ids)
        if let cause { writer.status(3, cause) }
        if let token { writer.field(4, bytes: token.bytes) }
        if let readTime { writer.field(6, timestamp: readTime.timestamp) }
      }
    }
  }

  private func change(
    of document: Document, _ updated: [TargetID], _ removed: [TargetID], _ database: DatabaseID
  ) -> [UInt8] {
    message { writer in
      writer.field(3) { writer in
        writer.field(1) { $0.document(document, in: database) }
        writer.packed(5, updated)
        writer.packed(6, removed)
      }
    }
  }

  private func deletion(of document: Document, _ removed: [TargetID], _ database: DatabaseID) -> [UInt8] {
    message { writer in
      writer.field(4) { writer in
        writer.field(1, string: database.name(of: document.key))
        if let version = document.version { writer.field(4, timestamp: version.timestamp) }
        writer.packed(6, removed)
      }
    }
  }

  private func filter(_ id: TargetID, _ filter: ExistenceFilter) -> [UInt8] {
    message { writer in
      writer.field(5) { writer in
        writer.field(1, integer: Int64(id.rawValue))
        writer.field(2, integer: Int64(filter.count))
        guard let names = filter.unchangedNames else { return }
        writer.field(3) { writer in
          writer.field(1) { writer in
            writer.field(1, bytes: names.bitmap)
            if names.padding != 0 { writer.field(2, integer: Int64(names.padding)) }
          }
          writer.field(2, integer: Int64(names.hashCount))
        }
      }
    }
  }
}

extension WireWriter {
  /// A packed `repeated int32`; nothing for none.
  fileprivate mutating func packed(_ number: Int, _ ids: [TargetID]) {
    if ids.isEmpty { return }
    field(number) { writer in
      for id in ids { writer.varint(UInt64(bitPattern: Int64(id.rawValue))) }
    }
  }
}
