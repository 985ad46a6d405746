// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

extension WireWriter {
  /// The content of a `google.firestore.v1.ListenRequest`.
  package mutating func watchRequest(_ request: WatchRequest, in database: DatabaseID) {
    field(1, string: database.name)
    switch request {
    case .add(let target):
      field(2) { $0.watchTarget(target, in: database) }
      if let tag = target.purpose.tag { label(4, TargetPurpose.label, tag) }
    case .remove(let id): field(3, integer: Int64(id.rawValue))
    }
  }

  /// The content of a `google.firestore.v1.Target`.
  private mutating func watchTarget(_ watched: WatchTarget, in database: DatabaseID) {
    let target = watched.target
    if target.isDocumentTarget {
      field(3) { $0.field(2, string: database.name(of: target.path)) }
    } else {
      field(2) { $0.runQueryRequest(target, in: database) }
    }
    if case .token(let token)? = watched.resume { field(4, bytes: token.bytes) }
    field(5, integer: Int64(watched.id.rawValue))
    if case .readTime(let version)? = watched.resume { field(11, timestamp: version.timestamp) }
    if watched.resume != nil, let count = watched.expectedCount {
      field(12) { $0.field(1, integer: Int64(Int32(clamping: count))) }
    }
  }
}

extension TargetPurpose {
  /// The label of a request that says why it is made.
  static let label = "goog-listen-tags"

  fileprivate var tag: String? {
    switch self {
    case .listen: nil
    case .existenceFilterMismatch: "existence-filter-mismatch"
    case .existenceFilterMismatchBloom: "existence-filter-mismatch-bloom"
    case .limboResolution: "limbo-document"
    }
  }
}
