// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The reason why an expression has no value for a document.
struct EvaluationError: Error, Hashable, Sendable {
  let status: RPCStatus

  init(_ message: String) { status = RPCStatus(.invalidArgument, message) }
  init(_ status: RPCStatus) { self.status = status }
}

/// The context that expressions may use in addition to the document.
package struct EvaluationContext: Sendable {
  package let database: DatabaseID
  /// The time of the request, the same for all its expressions.
  package let time: Timestamp
  /// Random bits, for `rand` and samples.
  package let random: @Sendable () -> UInt64
  /// The steps and the memory used by the pipeline.
  let work: PipelineWork
  let zones = TimeZones()
  let patterns = PatternCache()

  /// Creates the context of one pipeline.
  /// - Parameters:
  ///   - heldBytes: the maximum memory of the pipeline in bytes; by default Cloud Firestore's limit for a query.
  ///   - isOver: whether the caller has stopped waiting for the result.
  package init(
    database: DatabaseID, time: Timestamp, heldBytes: Int = 128 << 20,
    isOver: @escaping @Sendable () -> Bool = { Task.isCancelled }, random: @escaping @Sendable () -> UInt64
  ) {
    self.database = database
    self.time = time
    work = PipelineWork(limit: heldBytes, isOver: isOver)
    self.random = random
  }

  /// A random number, uniform in 0..<1.
  func randomShare() -> Double { Double(random() >> 11) * 0x1p-53 }
}

/// A document that passes through the stages.
struct Row: Sendable {
  var key: DocumentKey?
  var createTime: SnapshotVersion?
  var updateTime: SnapshotVersion?
  var data: DocumentData { didSet { knownBytes = nil } }
  /// The values of the variables; `nil` for a variable that was defined with an absent value.
  var variables: [String: Value?] = [:] { didSet { knownBytes = nil } }
  /// The results of the subqueries by id, while an expression is evaluated for the row.
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

  /// The memory of one field without its name and value, in bytes.
  static let fieldBytes = MemoryLayout<Fields.Entry>.stride

  /// The memory of the row in bytes; measured once.
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

  /// Sets `heldBytes` without measuring the row.
  mutating func assumeHeldBytes(_ bytes: Int) { knownBytes = bytes }
}

/// The limits of a pipeline.
enum PipelineLimits {
  /// The maximum size of an expression's value in bytes.
  static let valueBytes = 16 << 20
  /// The maximum number of elements of a list made from a text.
  static let elements = valueBytes / MemoryLayout<Value>.stride
  /// The maximum number of documents that one pipeline writes.
  static let writes = 10_000
}

extension Value {
  /// The approximate allocation overhead of a value, in bytes.
  private static let block = 32
  /// The longest text that is stored inline, in UTF-8 bytes.
  private static let shortText = 15

  /// The memory of the value in bytes.
  var memorySize: Int { MemoryLayout<Value>.stride + Self.outside(self) }

  /// The memory of the value outside its inline storage, in bytes.
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

extension Row {
  /// Sets fields to the values of expressions, which are evaluated for the original row. An absent value leaves the
  /// field unchanged.
  mutating func assign(_ assignments: [Assignment], _ context: EvaluationContext) throws(EvaluationError) {
    let evaluation = Evaluation(self, context)
    var fields = data.fields
    for assignment in assignments {
      if let value = try evaluation.value(assignment.value) { try set(assignment.path, value, &fields, context) }
    }
    try Evaluation.check(.map(fields))
    data = DocumentData(fields)
  }

  /// The row with only these fields.
  /// - Parameter keepsAbsent: whether absent values become null. Absent metadata remain absent.
  func selecting(
    _ assignments: [Assignment], keepsAbsent: Bool = false, _ context: EvaluationContext
  ) throws(EvaluationError) -> Row {
    let evaluation = Evaluation(self, context)
    var (result, fields) = (derived(), Fields())
    for assignment in assignments {
      if let value = try evaluation.value(assignment.value) {
        try result.set(assignment.path, value, &fields, context)
      } else if keepsAbsent, Expression.Metadata(rawValue: assignment.path.last) == nil {
        fields[assignment.path] = .null
      }
    }
    try Evaluation.check(.map(fields))
    result.data = DocumentData(fields)
    return result
  }

  /// A new row, not a document, with this row's variables and score.
  private func derived() -> Row {
    var row = Row(data: DocumentData(Fields()), variables: variables)
    row.score = score
    return row
  }

  mutating func remove(_ paths: [FieldPath]) {
    var fields = data.fields
    for path in paths {
      switch Expression.Metadata(rawValue: path.last) {
      case .name? where path.isDocumentID: key = nil
      case .createTime? where path.segments.count == 1: createTime = nil
      case .updateTime? where path.segments.count == 1: updateTime = nil
      default: fields[path] = nil
      }
    }
    data = DocumentData(fields)
  }

  /// Replaces the fields by the entries of a map, whose `__name__` becomes the row's name.
  mutating func replaceFields(by map: Fields, _ context: EvaluationContext) throws(EvaluationError) {
    var fields = map
    if let name = fields["__name__"] {
      fields["__name__"] = nil
      try set(.documentID, name, &fields, context)
    }
    data = DocumentData(fields)
  }

  func replaced(
    by value: Value?, _ mode: ReplaceMode, _ context: EvaluationContext
  ) throws(EvaluationError) -> Row {
    guard case .map(let map)? = value else {
      throw EvaluationError("replace_with takes a map, not a value of type \(value?.pipelineType ?? "absent").")
    }
    if mode == .full {
      var row = derived()
      try row.replaceFields(by: map, context)
      return row
    }
    var (row, fields) = (self, data.fields)
    for entry in map.entries where mode == .mergePreferNew || fields[entry.name] == nil {
      fields[entry.name] = entry.value
    }
    row.data = DocumentData(fields)
    return row
  }

  private mutating func set(
    _ path: FieldPath, _ value: Value, _ fields: inout Fields, _ context: EvaluationContext
  ) throws(EvaluationError) {
    guard path.segments.count == 1, let metadata = Expression.Metadata(rawValue: path.last) else {
      fields[path] = value
      return
    }
    switch (metadata, value) {
    case (.name, .reference(context.database, let key)): self.key = key
    case (.createTime, .timestamp(let time)): createTime = SnapshotVersion(time)
    case (.updateTime, .timestamp(let time)): updateTime = SnapshotVersion(time)
    default:
      throw EvaluationError("'\(metadata.rawValue)' cannot be set to this value of type \(value.pipelineType).")
    }
  }

  /// The row as the value of an expression: the value of its field if the row has only one field, otherwise a map.
  var value: Value {
    let fields = data.fields
    return fields.count == 1 ? fields.entries[0].value : .map(fields)
  }
}
