// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery

/// The content of a `ListenRequest`, as received.
package struct ListenMessage: Sendable {
  package struct Target: Sendable {
    package enum Content: Sendable {
      case query(RunQueryMessage)
      /// Documents, identified by their names.
      case documents([String])
      case pipeline
    }

    package var id = TargetID(0)
    /// The query or documents; `nil` if the request contains neither. An error in this content affects only this
    /// target.
    package var content: Result<Content, WireError>?
    package var resume: WatchTarget.Resume?
    package var expectedCount: Int?
  }

  package var database = ""
  package var target: Target?
  package var removed: TargetID?
}

extension WireWriter {
  /// Writes the content of a `google.firestore.v1.ListenRequest`.
  package mutating func watchRequest(_ request: WatchRequest, in database: DatabaseID) {
    field(1, string: database.name)
    switch request {
    case .add(let target):
      field(2) { $0.watchTarget(target, in: database) }
      if let tag = target.purpose.tag { label(4, TargetPurpose.label, tag) }
    case .remove(let id): field(3, integer: Int64(id.rawValue))
    }
  }

  /// Writes the content of a `google.firestore.v1.Target`.
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

extension WireReader {
  /// Reads the content of a `google.firestore.v1.ListenRequest`.
  package mutating func listenRequest() throws(WireError) -> ListenMessage {
    var request = ListenMessage()
    while let tag = try tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): request.database = try string()
      case (2, .lengthDelimited): request.target = try watchTarget()
      case (3, .varint): request.removed = try targetID()
      default: try skip(tag.type)
      }
    }
    return request
  }

  /// Reads a field that contains a `google.firestore.v1.Target`.
  private mutating func watchTarget() throws(WireError) -> ListenMessage.Target {
    var (target, reader) = (ListenMessage.Target(), try message())
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (2, .lengthDelimited), (3, .lengthDelimited):
        var content = WireReader(try reader.lengthDelimited())
        do throws(WireError) {
          target.content = .success(
            tag.field == 2 ? .query(try content.runQueryRequest()) : .documents(try content.documentNames()))
        } catch { target.content = .failure(error) }
      case (4, .lengthDelimited):
        target.resume = ResumeToken(try reader.byteArray()).map { .token($0) } ?? target.resume
      case (5, .varint): target.id = try reader.targetID()
      case (11, .lengthDelimited): target.resume = .readTime(SnapshotVersion(try reader.timestamp()))
      case (12, .lengthDelimited): target.expectedCount = Int(clamping: try reader.wrappedInteger())
      case (13, .lengthDelimited):
        try reader.skip(tag.type)
        target.content = .success(.pipeline)
      default: try reader.skip(tag.type)
      }
    }
    return target
  }

  /// Reads the content of a `Target.DocumentsTarget`.
  private mutating func documentNames() throws(WireError) -> [String] {
    var names: [String] = []
    while let tag = try tag() {
      if tag.field == 2, tag.type == .lengthDelimited { names.append(try string()) } else { try skip(tag.type) }
    }
    return names
  }
}

extension TargetPurpose {
  /// The name of the label that contains the purpose of a request.
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
