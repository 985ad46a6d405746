// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import Foundation
import SwiftProtobuf

extension WatchChange {
  /// - Parameter readTime: sent with `current`, `reset` and `documentRemoved`, where the change itself carries none.
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
        if document.exists {
          message.documentChange = .with { change in
            change.document = document.message(in: database)
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

extension FirestoreProtocol.ExistenceFilter {
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
