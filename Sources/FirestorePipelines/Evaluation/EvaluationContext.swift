// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Why an expression has no value for a document.
struct EvaluationError: Error, Hashable, Sendable {
  let status: RPCStatus

  init(_ message: String) { status = RPCStatus(.invalidArgument, message) }
  init(_ status: RPCStatus) { self.status = status }
}

/// What expressions may know beside the document.
package struct EvaluationContext: Sendable {
  package let database: DatabaseID
  /// When the request was made: one time for all of it.
  package let time: Timestamp
  /// Random bits, for `rand` and samples.
  package let random: @Sendable () -> UInt64
  /// What the pipeline does and holds.
  let work: PipelineWork
  let zones = TimeZones()
  let patterns = PatternCache()

  /// For one pipeline.
  /// - Parameters:
  ///   - heldBytes: what it may hold; by default Cloud Firestore's limit for a query.
  ///   - isOver: whether nobody waits for it any more.
  package init(
    database: DatabaseID, time: Timestamp, heldBytes: Int = 128 << 20,
    isOver: @escaping @Sendable () -> Bool = { Task.isCancelled }, random: @escaping @Sendable () -> UInt64
  ) {
    self.database = database
    self.time = time
    work = PipelineWork(limit: heldBytes, isOver: isOver)
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
  var data: DocumentData { didSet { knownBytes = nil } }
  /// `nil` as a value for what was defined as absent.
  var variables: [String: Value?] = [:] { didSet { knownBytes = nil } }
  /// By the subqueries' ids, while the row is worked on.
  var answers: [Int: Result<Value?, EvaluationError>] = [:]
  var score: Double?
  private var knownBytes: Int?

  init(data: DocumentData, variables: [String: Value?] = [:]) {
    self.data = data
    self.variables = variables
  }

  init(_ document: Document, variables: [String: Value?]) {
    (key, createTime, updateTime) = (document.key, document.createTime, document.version)
    data = document.data ?? DocumentData(Fields())
    self.variables = variables
  }

  /// What a field of it takes beside its name and value.
  static let fieldBytes = MemoryLayout<Fields.Entry>.stride

  /// What is held for it, in bytes; measured once.
  var heldBytes: Int {
    mutating get {
      if let knownBytes { return knownBytes }
      let known = variables.values.reduce(256) { $0 + 2 * ($1?.memorySize ?? 0) }
      let bytes =
        switch data.storage {
        case .encoded(let fields): known + fields.bytes.count
        case .decoded(let fields): known + Value.map(fields).memorySize
        }
      knownBytes = bytes
      return bytes
    }
  }

  /// Takes over what is known of what is held for it.
  mutating func assumeHeldBytes(_ bytes: Int) { knownBytes = bytes }
}

/// How large things may become in a pipeline.
enum PipelineLimits {
  /// A value that is worked out.
  static let valueBytes = 16 << 20
  /// Elements of a list that is made from a text.
  static let elements = valueBytes / MemoryLayout<Value>.stride
  /// Documents that are written at once.
  static let writes = 10_000
}

extension Value {
  /// About what a block takes that is allocated for a value.
  private static let block = 32
  /// Longer texts are not in the value itself.
  private static let shortText = 15

  /// What it takes in memory, in bytes.
  var memorySize: Int { MemoryLayout<Value>.stride + Self.outside(self) }

  /// What it takes besides the value itself.
  private static func outside(_ value: Value) -> Int {
    switch value {
    case .null, .boolean, .integer, .double, .timestamp, .geoPoint: 0
    case .string(let text): outside(text)
    case .bytes(let bytes): block + bytes.count
    case .serverTimestamp: 2 * block
    case .reference(_, let key): 3 * block + key.path.text.utf8.count
    case .vector(let elements): block + 8 * elements.count
    case .array(let elements):
      elements.reduce(block + MemoryLayout<Value>.stride * elements.count) { $0 + outside($1) }
    case .map(let fields):
      fields.entries.reduce(block + Row.fieldBytes * fields.count) { $0 + outside($1.name) + outside($1.value) }
    }
  }

  private static func outside(_ text: String) -> Int {
    let count = text.utf8.count
    return count > shortText ? block + count : 0
  }
}
