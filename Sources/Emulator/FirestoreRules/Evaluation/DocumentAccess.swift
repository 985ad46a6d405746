// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The documents that one decision reads with `get`, `exists` and similar functions. A document is counted once, even
/// if its states before and after the request are read, or if several decisions about one request read it.
struct DocumentAccess {
  private struct Found {
    let key: DocumentKey
    let isAfter: Bool
    let document: RuleDocument?
  }

  private let request: SharedRequest
  private let documents: any RulesDocuments
  /// The found documents, and the keys of all lookups. They are few (`RulesLimits.accesses`), so dictionaries would be
  /// slower.
  private var found: [Found] = []
  private(set) var read: [DocumentKey] = []
  private(set) var count = 0
  /// The number of reads that were rejected because of the limit.
  private(set) var refusals = 0
  /// The lookups while a function is recorded, in order; `nil` if no function is recorded.
  private var recorded: [DocumentKey]?

  init(_ request: SharedRequest, _ documents: any RulesDocuments) {
    self.request = request
    self.documents = documents
  }

  private var database: DatabaseID { request.value.database }

  /// - Parameter function: the function for messages.
  func key(_ path: RulePath, _ function: Builtin) throws(RuleFailure) -> DocumentKey {
    if let key = path.key(in: database) { return key }
    throw .access(
      function.rawValue, path: path.text,
      reason: "it is not the path of a document: /databases/\(database.database)/documents/COLLECTION/ID")
  }

  mutating func document(_ path: RulePath, isAfter: Bool, _ function: Builtin) throws(RuleFailure) -> RuleDocument? {
    let key = try key(path, function)
    recorded?.append(key)
    if let known = found.first(where: { $0.isAfter == isAfter && $0.key == key }) { return known.document }
    if !read.contains(key) {
      if !documents.wasLookedAt(key) {
        guard count < request.value.accessAllowance else {
          refusals += 1
          throw .tooManyAccesses
        }
        count += 1
      }
      read.append(key)
    }
    let document = RuleDocument(isAfter ? documents.after(key) : documents.stored(key), in: database)
    found.append(Found(key: key, isAfter: isAfter, document: document))
    return document
  }

  /// The state of the documents. It is the same object until one of the documents changes.
  var state: (any RulesDocumentState)? { documents.state }

  /// Records documents as if `document` had read them.
  /// - Returns: `false` if the documents exceed the limit; then nothing is recorded.
  mutating func note(_ keys: [DocumentKey]) -> Bool {
    let new = keys.filter { !read.contains($0) }
    let counted = new.reduce(0) { $0 + (documents.wasLookedAt($1) ? 0 : 1) }
    guard count + counted <= request.value.accessAllowance else { return false }
    count += counted
    read += new
    for key in new { documents.note(key) }
    recorded? += keys
    return true
  }

  /// - Returns: the start of the recording, for `looks(since:)`.
  mutating func beginRecording() -> Int {
    if recorded == nil { recorded = [] }
    return recorded?.count ?? 0
  }

  mutating func endRecording() { recorded = nil }

  /// The documents looked up since the start of the recording, without duplicates.
  func looks(since place: Int) -> [DocumentKey] {
    var looks: [DocumentKey] = []
    for key in recorded?[place...] ?? [] where !looks.contains(key) { looks.append(key) }
    return looks
  }

  /// Reads the only possible result of a query. The read is not counted.
  mutating func only(_ key: DocumentKey) -> RuleDocument? {
    if !read.contains(key) { read.append(key) }
    return RuleDocument(documents.stored(key), in: database)
  }
}

extension Evaluator {
  func property(_ name: FieldPath, of whole: RuleValue) throws(RuleFailure) -> RuleValue {
    switch whole {
    case .map(let map):
      guard let value = map.value(name) else { throw .undefinedProperty(name.first) }
      return value
    case .path: throw .undefinedProperty(name.first)
    case .null: throw .nullValue
    default: throw .type(received: whole.typeName, expected: "map,path")
    }
  }

  mutating func element(of whole: RuleValue, at index: RuleValue) throws(RuleFailure) -> RuleValue {
    switch (whole, index) {
    case (.map(let map), .string(let name)):
      guard let value = map.value(named: name) else { throw .undefinedProperty(name) }
      return value
    case (.list(let values), .int(let place)):
      try requireAll(values)
      guard values.indices.contains(Int(clamping: place)) else { throw .index(place, size: values.count) }
      return values[Int(place)]
    case (.path(let path), .int(let place)):
      guard path.segments.indices.contains(Int(clamping: place)) else { throw .index(place, size: path.segments.count) }
      return .string(path.segments[Int(place)])
    case (.path, .string(let name)): throw .undefinedProperty(name)
    case (.string(let text), .int(let place)):
      try work(text.utf8.count / 16)
      let units = text.utf16
      guard place >= 0, place < units.count else { throw .index(place, size: units.count) }
      return .string(Self.text(units, Int(place)..<Int(place) + 1))
    case (.null, _): throw .nullValue
    case (.map, _): throw .operation(received: "map[\(index.typeName)]", expected: ["map[string]"])
    case (.list, _), (.string, _), (.path, _):
      throw .operation(received: "\(whole.typeName)[\(index.typeName)]", expected: ["\(whole.typeName)[int]"])
    default: throw .unknownFunction("[]")
    }
  }

  mutating func slice(_ whole: Expression.ID, _ lower: Expression.ID?, _ upper: Expression.ID?) throws(RuleFailure)
    -> RuleValue
  {
    let whole = try value(whole)
    let size: Int
    switch whole {
    case .list(let values):
      try requireAll(values)
      size = values.count
    case .path(let path): size = path.segments.count
    case .string(let text):
      try work(text.utf8.count / 16)
      size = text.utf16.count
    case .null: throw .nullValue
    default: throw .unknownFunction("[:]")
    }
    let from = try lower.map { id throws(RuleFailure) in try place(id) } ?? 0
    let to = try upper.map { id throws(RuleFailure) in try place(id) } ?? Int64(size)
    if from > to { throw .range(from, to) }
    // `from` and `to - 1` must be indices of elements, so an empty range can lie only between two elements.
    guard (0..<Int64(size)).contains(from) else { throw .index(from, size: size) }
    guard (1...Int64(size)).contains(to) else { throw .index(to - 1, size: size) }
    let range = Int(from)..<Int(to)
    switch whole {
    case .list(let values): return .list(Array(values[range]))
    case .path(let path): return .path(RulePath(segments: Array(path.segments[range])))
    case .string(let text): return .string(Self.text(text.utf16, range))
    default: return .null
    }
  }

  private mutating func place(_ id: Expression.ID) throws(RuleFailure) -> Int64 {
    let value = try value(id)
    guard case .int(let place) = value else { throw .type(received: value.typeName, expected: "int") }
    return place
  }

  private static func text(_ units: String.UTF16View, _ range: Range<Int>) -> String {
    let start = units.index(units.startIndex, offsetBy: range.lowerBound)
    let end = units.index(start, offsetBy: range.count)
    return String(decoding: units[start..<end], as: UTF16.self)
  }

  /// The operator `in`: whether a list or set contains a value, or a map contains a name.
  mutating func contains(_ whole: RuleValue, _ element: RuleValue) throws(RuleFailure) -> Bool {
    switch (whole, element) {
    case (.null, _): throw .nullValue
    case (.constraint(let constraint), _):
      try requireKnown(element)
      if constraint.provesContaining(element) { return true }
      throw .notKnown
    case (.list(let values), _):
      try requireKnown(element)
      try requireKnown(whole)
      try work(values.count + (values.count == 0 ? 0 : whole.weight))
      return values.contains { $0.isIdentical(to: element, .strict) }
    case (.set(let set), _):
      try requireKnown(element)
      try work(element.weight)
      return set.contains(element)
    case (.map(let map), .string(let name)):
      if map.value(named: name) != nil { return true }
      if !map.isComplete { throw .notKnown }
      return false
    case (.map, _):
      throw .operation(received: "map.in(\(element.typeName))", expected: ["map.in(string)"])
    default: throw .unknownFunction("in")
    }
  }

  func requireKnown(_ value: RuleValue) throws(RuleFailure) {
    if isProof, !value.isKnown { throw .notKnown }
  }

  /// Throws `notKnown` for a list with an unknown number of elements. Elements themselves may be unknown.
  func requireAll(_ values: [RuleValue]) throws(RuleFailure) {
    if isProof, values.contains(where: \.isOpenEnd) { throw .notKnown }
  }
}
