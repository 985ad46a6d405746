// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A value during the evaluation of rules.
enum RuleValue {
  case null
  case bool(Bool)
  case int(Int64)
  case float(Double)
  case string(String)
  case bytes([UInt8])
  case timestamp(Timestamp)
  case duration(RuleDuration)
  case latlng(GeoPoint)
  case path(RulePath)
  case list([RuleValue])
  case vector([Double])
  case set(RuleSet)
  case map(RuleMap)
  case mapDiff(RuleMapDiff)
  /// A field for which a query implies conditions that do not determine its value.
  case constraint(QueryConstraint)
  /// One of at least two values, because a query for 1 finds both 1 and 1.0. Used only in proofs; `Evaluator.each`
  /// evaluates expressions with it.
  case oneOf([RuleValue])

  init(_ constant: RuleConstant) {
    switch constant {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .int(let value): self = .int(value)
    case .float(let value): self = .float(value)
    case .string(let value): self = .string(value)
    case .bytes(let value): self = .bytes(value)
    }
  }

  /// Creates the value of a document's field.
  init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .boolean(let value): self = .bool(value)
    case .integer(let value): self = .int(value)
    case .double(let value): self = .float(value)
    case .timestamp(let time): self = .timestamp(time)
    // Rules never see this value, since server timestamps are resolved before.
    case .serverTimestamp(let time): self = .timestamp(time.localWriteTime)
    case .string(let value): self = .string(value)
    case .bytes(let value): self = .bytes(value)
    case .reference(let database, let key): self = .path(RulePath(database, key.path))
    case .geoPoint(let point): self = .latlng(point)
    case .array(let values): self = .list(values.map { RuleValue($0) })
    case .vector(let values): self = .vector(values)
    case .map(let fields):
      // Queries compare BSON numbers with all other numbers, so they are numbers here too.
      if let number = value.orderedNumber { self = RuleValue(number) } else { self = .map(.fields(fields)) }
    }
  }

  /// The name of the type, in the format of error messages.
  var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .string: "string"
    case .bytes: "bytes"
    case .timestamp: "timestamp"
    case .duration: "duration"
    case .latlng: "latlng"
    case .path: "path"
    case .list: "list"
    case .vector: "vector"
    case .set: "set"
    case .map: "map"
    case .mapDiff: "map_diff"
    case .constraint: "constraint"
    // This is the type of the value in the query.
    case .oneOf(let candidates): candidates[0].typeName
    }
  }

  /// The operator `is`: whether the value has a type. As in the emulator, no value is a `set`.
  func isType(_ type: RuleType) -> Bool {
    switch (type, self) {
    case (.number, .int), (.number, .float): true
    case (.set, _): false
    default: typeName == type.rawValue
    }
  }
}

/// A span of time.
struct RuleDuration: Hashable, Comparable {
  var seconds: Int64
  /// The nanoseconds, with the same sign as the seconds.
  var nanoseconds: Int64

  /// - Returns: `nil` for more than ten thousand years.
  init?(seconds: Int64, nanoseconds: Int64) {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let (sum, overflows) = seconds.addingReportingOverflow(whole)
    guard !overflows, (-315_576_000_000...315_576_000_000).contains(sum) else { return nil }
    self.seconds = sum
    self.nanoseconds = rest
    if sum > 0, rest < 0 {
      self.seconds -= 1
      self.nanoseconds += 1_000_000_000
    } else if sum < 0, rest > 0 {
      self.seconds += 1
      self.nanoseconds -= 1_000_000_000
    }
  }

  static func < (left: RuleDuration, right: RuleDuration) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }
}

/// A path: `/databases/(default)/documents/a/b`.
struct RulePath: Hashable {
  var segments: [String]

  init(segments: [String]) { self.segments = segments }

  init(_ database: DatabaseID, _ path: ResourcePath) {
    segments = ["databases", database.database, "documents"] + path.segments.map(String.init)
  }

  var text: String { segments.map { "/" + $0 }.joined() }

  /// The key of the document at the path, if it is in the database; else `nil`.
  func key(in database: DatabaseID) -> DocumentKey? {
    guard segments.count > 3, !segments.count.isMultiple(of: 2), segments[0] == "databases",
      segments[1].equalsUTF8(database.database), segments[2] == "documents",
      segments.allSatisfy({ !$0.isEmpty && !$0.utf8.contains(UInt8(ascii: "/")) })
    else { return nil }
    return DocumentKey(unchecked: ResourcePath(segments: segments[3...]))
  }

  /// Whether the path has this text. Does not create the path's text.
  func hasText(_ text: String) -> Bool {
    var rest = text.utf8[...]
    for segment in segments {
      guard rest.first == UInt8(ascii: "/"), rest.dropFirst().starts(with: segment.utf8) else { return false }
      rest = rest.dropFirst(1 + segment.utf8.count)
    }
    return rest.isEmpty
  }

  static func == (left: RulePath, right: RulePath) -> Bool {
    left.segments.count == right.segments.count && zip(left.segments, right.segments).allSatisfy { $0.equalsUTF8($1) }
  }

  func hash(into hasher: inout Hasher) { for segment in segments { segment.hashUTF8(into: &hasher) } }
}
