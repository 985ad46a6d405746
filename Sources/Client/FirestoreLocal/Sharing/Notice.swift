// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import FirestoreSQLite

/// A message from one client of a shared cache to the others. It is written in the same transaction as the change that
/// it describes.
package enum Notice: Sendable {
  /// A batch was added to the queue.
  case batchAdded(BatchID)
  /// A batch has left the queue. The keys are those of the documents that it changed.
  case batchSettled(BatchID, Outcome, [DocumentKey])
  /// The cached versions of these documents changed; `nil` if there are more documents than a notice can contain.
  case documents([DocumentKey]?)
  /// A bundle with these documents was loaded; `nil` if there are more documents than a notice can contain.
  case bundle([DocumentKey]?)
  /// The completeness of the primary client's result for the target has changed, according to the backend.
  case target(TargetID, isCurrent: Bool)
  /// The backend rejected the target.
  case targetRefused(TargetID, RPCStatus)
  /// The targets of a client's listeners changed, or the client closed the cache.
  case targets
  case onlineState
  case rejectedWrites
  /// The pins and lifetimes have changed.
  case retentions
  /// A client that does not run the streams requests that a batch be canceled.
  case cancellation(BatchID)
  /// The batch cannot be canceled; the status is the reason.
  case cancellationRefused(BatchID, RPCStatus)
  /// The cache is about to be deleted.
  case cleared

  package enum Outcome: Sendable {
    case acknowledged(CommitResponse)
    case rejected(RPCStatus)
  }

  /// The maximum number of documents in a notice. If more documents change, the other clients scan the cache. The scan
  /// takes no longer than storing the documents did.
  static let maximumKeys = 256

  static func documents(_ keys: some Collection<DocumentKey>) -> Notice {
    .documents(keys.count > maximumKeys ? nil : Array(keys))
  }

  static func bundle(_ keys: some Collection<DocumentKey>) -> Notice {
    .bundle(keys.count > maximumKeys ? nil : Array(keys))
  }
}

/// A notice with its position in the order of all notices.
package struct NoticeRecord: Sendable {
  var id: Int64
  package var notice: Notice
  /// The user whose batch the notice is about.
  var user: UserNumber?
}

extension Notice {
  enum Kind: Int64 {
    case batchAdded = 1
    case batchAcknowledged = 2
    case batchRejected = 3
    case documents = 4
    case bundle = 5
    case target = 6
    case targetRefused = 7
    case targets = 8
    case onlineState = 9
    case rejectedWrites = 10
    case cleared = 11
    case cancellation = 12
    case cancellationRefused = 13
    case retentions = 14
  }

  var kind: Kind {
    switch self {
    case .batchAdded: .batchAdded
    case .batchSettled(_, .acknowledged, _): .batchAcknowledged
    case .batchSettled(_, .rejected, _): .batchRejected
    case .documents: .documents
    case .bundle: .bundle
    case .target: .target
    case .targetRefused: .targetRefused
    case .targets: .targets
    case .onlineState: .onlineState
    case .rejectedWrites: .rejectedWrites
    case .retentions: .retentions
    case .cleared: .cleared
    case .cancellation: .cancellation
    case .cancellationRefused: .cancellationRefused
    }
  }

  var subject: Int64? {
    switch self {
    case .batchAdded(let id), .batchSettled(let id, _, _), .cancellation(let id), .cancellationRefused(let id, _):
      id.rawValue
    case .target(let id, _), .targetRefused(let id, _): Int64(id.rawValue)
    default: nil
    }
  }

  /// The number of the batch that the notice is about; `nil` if it is not about a batch.
  var batch: BatchID? {
    switch self {
    case .batchAdded(let id), .batchSettled(let id, _, _): id
    default: nil
    }
  }

  // MARK: Content

  /// The protobuf field numbers of the content.
  private enum Field {
    static let key = 1
    static let code = 2
    static let message = 3
    static let commitTime = 4
    static let result = 5
    static let flag = 6
    static let resultVersion = 1
    static let resultValue = 2
  }

  var content: [UInt8] {
    WireWriter.message { writer in
      switch self {
      case .batchSettled(_, let outcome, let keys):
        for key in keys { writer.field(Field.key, string: key.path.text) }
        switch outcome {
        case .acknowledged(let response):
          writer.field(Field.commitTime, timestamp: response.commitTime.timestamp)
          for result in response.results {
            writer.field(Field.result) { inner in
              inner.field(Field.resultVersion, timestamp: result.version.timestamp)
              for value in result.transformResults { inner.field(Field.resultValue) { $0.value(value) } }
            }
          }
        case .rejected(let status): Self.write(status, &writer)
        }
      case .documents(let keys), .bundle(let keys):
        if keys == nil { writer.field(Field.flag, boolean: true) }
        for key in keys ?? [] { writer.field(Field.key, string: key.path.text) }
      case .target(_, let isCurrent): writer.field(Field.flag, boolean: isCurrent)
      case .targetRefused(_, let status), .cancellationRefused(_, let status): Self.write(status, &writer)
      case .cancellation, .batchAdded, .targets, .onlineState, .rejectedWrites, .retentions, .cleared: break
      }
    }
  }

  private static func write(_ status: RPCStatus, _ writer: inout WireWriter) {
    writer.field(Field.code, integer: Int64(status.code.rawValue))
    writer.field(Field.message, string: status.message)
  }

  /// The content of a notice. Each kind of notice uses some of its fields.
  private struct Content {
    var keys: [DocumentKey] = []
    var code = StatusCode.unknown
    var message = ""
    var commitTime: SnapshotVersion?
    var results: [MutationResult] = []
    var flag = false

    var status: RPCStatus { RPCStatus(code, message) }

    init(_ bytes: [UInt8]) throws(WireError) {
      self = try WireReader.read(bytes) { reader throws(WireError) in
        var content = Content()
        while let tag = try reader.tag() {
          switch (tag.field, tag.type) {
          case (Field.key, .lengthDelimited):
            content.keys.append(DocumentKey(unchecked: ResourcePath(try reader.string())))
          case (Field.code, .varint): content.code = StatusCode(rawValue: Int(try reader.integer())) ?? .unknown
          case (Field.message, .lengthDelimited): content.message = try reader.string()
          case (Field.commitTime, .lengthDelimited):
            content.commitTime = SnapshotVersion(try reader.timestamp())
          case (Field.result, .lengthDelimited):
            var inner = try reader.message()
            content.results.append(try Self.result(&inner))
          case (Field.flag, .varint): content.flag = try reader.boolean()
          default: try reader.skip(tag.type)
          }
        }
        return content
      }
    }

    private init() {}

    private static func result(_ reader: inout WireReader) throws(WireError) -> MutationResult {
      var version = SnapshotVersion(microseconds: 0)
      var values: [Value] = []
      while let tag = try reader.tag() {
        switch (tag.field, tag.type) {
        case (Field.resultVersion, .lengthDelimited): version = SnapshotVersion(try reader.timestamp())
        case (Field.resultValue, .lengthDelimited):
          var inner = try reader.message()
          values.append(try inner.value())
        default: try reader.skip(tag.type)
        }
      }
      return MutationResult(version: version, transformResults: values)
    }
  }

  /// - Throws: `corrupt` for invalid content.
  init(_ kind: Int64, _ subject: Int64?, _ bytes: [UInt8]) throws(StoreError) {
    let content: Content
    do throws(WireError) { content = try Content(bytes) } catch { throw Self.unreadable }
    let batch = BatchID(subject ?? 0)
    let target = TargetID(Int32(truncatingIfNeeded: subject ?? 0))
    switch Kind(rawValue: kind) {
    case .batchAdded: self = .batchAdded(batch)
    case .batchAcknowledged:
      guard let time = content.commitTime else { throw Self.unreadable }
      let response = CommitResponse(commitTime: time, results: content.results)
      self = .batchSettled(batch, .acknowledged(response), content.keys)
    case .batchRejected: self = .batchSettled(batch, .rejected(content.status), content.keys)
    case .documents: self = .documents(content.flag ? nil : content.keys)
    case .bundle: self = .bundle(content.flag ? nil : content.keys)
    case .target: self = .target(target, isCurrent: content.flag)
    case .targetRefused: self = .targetRefused(target, content.status)
    case .targets: self = .targets
    case .onlineState: self = .onlineState
    case .rejectedWrites: self = .rejectedWrites
    case .retentions: self = .retentions
    case .cleared: self = .cleared
    case .cancellation: self = .cancellation(batch)
    case .cancellationRefused: self = .cancellationRefused(batch, content.status)
    case nil: throw Self.unreadable
    }
  }

  private static var unreadable: StoreError { .damaged("a notice of another client cannot be read") }
}

/// The reason why one client's listeners need a target. Clients that share a cache announce it to each other.
package enum TargetInterest: Int64, Sendable {
  /// The listeners show only documents from the cache. No client listens to the backend for them, but the documents
  /// that they show are not garbage-collected.
  case cache = 0
  /// The listeners show the backend's result.
  case backend = 1
}
