// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import Foundation
import SwiftProtobuf

extension WatchRequest {
  package func message(in database: DatabaseID) -> Wire.ListenRequest {
    .with { message in
      message.database = database.name
      switch self {
      case .add(let target):
        message.addTarget = target.message(in: database)
        if let tag = target.purpose.tag { message.labels = [TargetPurpose.label: tag] }
      case .remove(let id): message.removeTarget = id.rawValue
      }
    }
  }
}

extension TargetPurpose {
  fileprivate static let label = "goog-listen-tags"

  fileprivate var tag: String? {
    switch self {
    case .listen: nil
    case .existenceFilterMismatch: "existence-filter-mismatch"
    case .existenceFilterMismatchBloom: "existence-filter-mismatch-bloom"
    case .limboResolution: "limbo-document"
    }
  }
}

extension WatchTarget {
  package func message(in database: DatabaseID) -> Wire.Target {
    .with { message in
      message.targetID = id.rawValue
      if target.isDocumentTarget {
        message.documents = .with { $0.documents = ["\(database.documentsName)/\(target.path.text)"] }
      } else {
        message.query = .with { query in
          query.parent = target.parentName(in: database)
          query.structuredQuery = target.message
        }
      }
      switch resume {
      case .token(let token): message.resumeToken = Data(token.bytes)
      case .readTime(let version): message.readTime = version.message
      case nil: break
      }
      if resume != nil, let expectedCount {
        message.expectedCount = Google_Protobuf_Int32Value(Int32(clamping: expectedCount))
      }
    }
  }
}
