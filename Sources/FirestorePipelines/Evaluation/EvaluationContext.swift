// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Why an expression has no value for a document.
struct EvaluationError: Error, Hashable, Sendable {
  var message: String

  init(_ message: String) { self.message = message }

  var status: RPCStatus { RPCStatus(.invalidArgument, message) }
}

/// What expressions may know beside the document.
package struct EvaluationContext: Sendable {
  package let database: DatabaseID
  /// When the request was made: one time for all of it.
  package let time: Timestamp
  /// Random bits, for `rand` and samples.
  package let random: @Sendable () -> UInt64
  /// What a stage may hold that has to see all documents.
  let heldBytes: Int
  let zones = TimeZones()
  let patterns = PatternCache()

  /// - Parameter heldBytes: by default Cloud Firestore's limit for a query.
  package init(
    database: DatabaseID, time: Timestamp, heldBytes: Int = 128 << 20, random: @escaping @Sendable () -> UInt64
  ) {
    self.database = database
    self.time = time
    self.heldBytes = heldBytes
    self.random = random
  }

  /// Evenly distributed in 0..<1.
  func randomShare() -> Double { Double(random() >> 11) * 0x1p-53 }
}

/// A document on its way through the stages.
struct Row: Sendable {
  var key: DocumentKey?
  var createTime: SnapshotVersion?
  var updateTime: SnapshotVersion?
  var data: DocumentData
  /// `nil` as a value for what was defined as absent.
  var variables: [String: Value?] = [:]
  /// By the subqueries' ids, for the stage that is executed.
  var answers: [Int: Result<Value?, EvaluationError>] = [:]
  var score: Double?

  init(data: DocumentData, variables: [String: Value?] = [:]) {
    self.data = data
    self.variables = variables
  }

  init(_ document: Document, variables: [String: Value?]) {
    (key, createTime, updateTime) = (document.key, document.createTime, document.version)
    data = document.data ?? DocumentData(Fields())
    self.variables = variables
  }

  /// What is held for it, in bytes.
  var heldBytes: Int {
    let known = variables.values.reduce(256) { $0 + 2 * ($1?.byteSize ?? 0) }
    return switch data.storage {
    case .encoded(let fields): known + fields.bytes.count
    case .decoded(let fields): known + 2 * fields.byteSize
    }
  }
}

/// How large things may become in a pipeline.
enum PipelineLimits {
  /// A value that is worked out.
  static let valueBytes = 16 << 20
  /// Documents that are written at once.
  static let writes = 10_000
}

extension Value {
  /// Whether more is accounted for the value than this, found without looking at more of it than that.
  func isLarger(than limit: Int) -> Bool {
    var left = limit
    return !takeSize(from: &left)
  }

  /// - Returns: false once nothing is left.
  private func takeSize(from left: inout Int) -> Bool {
    switch self {
    case .array(let elements):
      left -= elements.count
      return left >= 0 && elements.allSatisfy { $0.takeSize(from: &left) }
    case .map(let fields):
      left -= fields.count
      return left >= 0
        && fields.entries.allSatisfy { entry in
          left -= entry.name.utf8.count
          return entry.value.takeSize(from: &left)
        }
    default:
      left -= byteSize
      return left >= 0
    }
  }
}
