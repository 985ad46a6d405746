// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreQuery
package import FirestoreRemote
import Foundation
import SwiftProtobuf

extension WatchRequest {
  /// - Throws: `invalid-argument` for a request that neither adds nor removes, or whose target cannot be read.
  package init(_ message: Wire.ListenRequest, in database: DatabaseID) throws(ModelError) {
    switch message.targetChange {
    case .addTarget(let target):
      self = .add(try WatchTarget(target, purpose: TargetPurpose(labels: message.labels), in: database))
    case .removeTarget(let id): self = .remove(TargetID(id))
    case nil: throw ModelError("A listen request neither adds nor removes a target.")
    }
  }

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

  fileprivate init(labels: [String: String]) {
    let purposes: [TargetPurpose] = [.existenceFilterMismatch, .existenceFilterMismatchBloom, .limboResolution]
    self = purposes.first { $0.tag == labels[Self.label] } ?? .listen
  }

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
  /// A target of one query or one document; several documents in one target are the caller's.
  package init(
    _ message: Wire.Target, purpose: TargetPurpose = .listen, in database: DatabaseID
  ) throws(ModelError) {
    let target: FirestoreQuery.Target
    switch message.targetType {
    case .query(let query):
      let parent = try ResourceName(query.parent)
      guard parent.database == database else {
        throw ModelError("The target's parent \"\(query.parent)\" is not in the database \"\(database.name)\".")
      }
      target = try Query(query.structuredQuery, parent: parent.path).target
    case .documents(let documents):
      guard let name = documents.documents.first, documents.documents.allSatisfy({ $0.equalsUTF8(name) }) else {
        throw ModelError("A documents target names one document; this one names \(documents.documents.count).")
      }
      target = Query(path: try DocumentKey(name: name, in: database).path).target
    case .pipelineQuery: throw ModelError("Targets of pipelines are not supported. Listen to a structured query.")
    case nil: throw ModelError("Target \(message.targetID) has no query and no documents.")
    }
    var resume: Resume?
    switch message.resumeType {
    case .resumeToken(let token): resume = ResumeToken([UInt8](token)).map { .token($0) }
    case .readTime(let time): resume = .readTime(try SnapshotVersion(time))
    case nil: break
    }
    self.init(
      id: TargetID(message.targetID), target: target, purpose: purpose, resume: resume,
      expectedCount: message.hasExpectedCount ? Int(message.expectedCount.value) : nil)
  }

  package func message(in database: DatabaseID) -> Wire.Target {
    .with { message in
      message.targetID = id.rawValue
      if target.isDocumentTarget {
        message.documents = .with { $0.documents = [ResourceName(database: database, path: target.path).text] }
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
