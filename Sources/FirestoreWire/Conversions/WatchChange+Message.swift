// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreRemote
import Foundation
import SwiftProtobuf

extension WatchChange {
  /// - Returns: `nil` for a message of a kind that is not known, which is to be passed over.
  package init?(_ message: Wire.ListenResponse, in database: DatabaseID) throws(ModelError) {
    switch message.responseType {
    case .targetChange(let change):
      guard let change = try WatchChange(change) else { return nil }
      self = change
    case .documentChange(let change):
      self = .document(
        try Document(change.document, in: database), updated: change.targetIds.map { TargetID($0) },
        removed: change.removedTargetIds.map { TargetID($0) })
    case .documentDelete(let delete):
      let document = Document(
        key: try DocumentKey(name: delete.document, in: database),
        version: delete.hasReadTime ? try SnapshotVersion(delete.readTime) : nil, state: .missing)
      self = .document(document, updated: [], removed: delete.removedTargetIds.map { TargetID($0) })
    case .documentRemove(let remove):
      self = .documentRemoved(
        try DocumentKey(name: remove.document, in: database), removed: remove.removedTargetIds.map { TargetID($0) })
    case .filter(let filter):
      self = .filter(TargetID(filter.targetID), FirestoreRemote.ExistenceFilter(filter))
    case nil: return nil
    }
  }

  private init?(_ change: Wire.TargetChange) throws(ModelError) {
    let ids = change.targetIds.map { TargetID($0) }
    let token = ResumeToken([UInt8](change.resumeToken))
    switch change.targetChangeType {
    case .noChange:
      if ids.isEmpty, change.hasReadTime {
        self = .snapshot(try SnapshotVersion(change.readTime), token)
      } else {
        self = .token(ids, token)
      }
    case .add: self = .added(ids)
    case .remove: self = .removed(ids, cause: change.hasCause ? RPCStatus(change.cause) : nil)
    case .current: self = .current(ids, token)
    case .reset: self = .reset(ids, token)
    case .UNRECOGNIZED: return nil
    }
  }

  /// - Parameter readTime: sent with `current` and `reset`, where the change itself carries none.
  package func message(in database: DatabaseID, readTime: SnapshotVersion? = nil) -> Wire.ListenResponse {
    .with { message in
      switch self {
      case .added(let ids): message.targetChange = .with { $0.set(.add, ids) }
      case .removed(let ids, let cause):
        message.targetChange = .with { change in
          change.set(.remove, ids)
          if let cause { change.cause = cause.wireStatus }
        }
      case .current(let ids, let token): message.targetChange = .with { $0.set(.current, ids, token, readTime) }
      case .reset(let ids, let token): message.targetChange = .with { $0.set(.reset, ids, token, readTime) }
      case .token(let ids, let token): message.targetChange = .with { $0.set(.noChange, ids, token) }
      case .snapshot(let version, let token): message.targetChange = .with { $0.set(.noChange, [], token, version) }
      case .document(let document, let updated, let removed):
        if let found = document.message(in: database) {
          message.documentChange = .with { change in
            change.document = found
            change.targetIds = updated.map(\.rawValue)
            change.removedTargetIds = removed.map(\.rawValue)
          }
        } else {
          message.documentDelete = .with { delete in
            delete.document = database.name(of: document.key)
            if let version = document.version { delete.readTime = version.message }
            delete.removedTargetIds = (updated + removed).map(\.rawValue)
          }
        }
      case .documentRemoved(let key, let removed):
        message.documentRemove = .with { remove in
          remove.document = database.name(of: key)
          if let readTime { remove.readTime = readTime.message }
          remove.removedTargetIds = removed.map(\.rawValue)
        }
      case .filter(let id, let filter): message.filter = filter.message(for: id)
      }
    }
  }
}

extension Wire.TargetChange {
  fileprivate mutating func set(
    _ type: TargetChangeType, _ ids: [TargetID], _ token: ResumeToken? = nil, _ readTime: SnapshotVersion? = nil
  ) {
    targetChangeType = type
    targetIds = ids.map(\.rawValue)
    if let token { resumeToken = Data(token.bytes) }
    if let readTime { self.readTime = readTime.message }
  }
}

extension FirestoreRemote.ExistenceFilter {
  fileprivate init(_ message: Wire.ExistenceFilter) {
    self.init(count: Int(message.count))
    if message.hasUnchangedNames {
      let filter = message.unchangedNames
      unchangedNames = BloomFilterBits(
        bitmap: [UInt8](filter.bits.bitmap), padding: Int(filter.bits.padding), hashCount: Int(filter.hashCount))
    }
  }

  fileprivate func message(for id: TargetID) -> Wire.ExistenceFilter {
    .with { message in
      (message.targetID, message.count) = (id.rawValue, Int32(clamping: count))
      if let unchangedNames {
        message.unchangedNames = .with { filter in
          filter.hashCount = Int32(clamping: unchangedNames.hashCount)
          filter.bits.bitmap = Data(unchangedNames.bitmap)
          filter.bits.padding = Int32(clamping: unchangedNames.padding)
        }
      }
    }
  }
}
