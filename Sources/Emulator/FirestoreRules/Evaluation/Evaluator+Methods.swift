// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import LinearPatterns

extension Evaluator {
  mutating func call(_ method: Method, on receiver: Expression.ID, _ arguments: [Expression.ID]) throws(RuleFailure)
    -> RuleValue
  {
    let whole = try value(receiver)
    switch whole {
    case .string(let text): return try call(method, on: text, arguments)
    case .list(let values): return try call(method, on: values, arguments)
    case .set(let set): return try call(method, on: set, arguments)
    case .map(let map): return try call(method, on: map, arguments)
    case .mapDiff(let diff): return try call(method, on: diff, arguments)
    case .bytes(let bytes): return try call(method, on: bytes, arguments)
    case .timestamp(let time): return try call(method, on: time, arguments)
    case .duration(let duration): return try call(method, on: duration, arguments)
    case .latlng(let point): return try call(method, on: point, arguments)
    case .path(let path): return try call(method, on: path, arguments)
    case .constraint(let constraint): return try call(method, on: constraint, arguments)
    case .oneOf(let candidates):
      if case .latlng = candidates[0] { throw .notKnown }
      throw .unknownFunction(method.rawValue)
    case .null: throw .nullValue
    case .bool, .int, .float, .vector: throw .unknownFunction(method.rawValue)
    }
  }

  /// Evaluates the arguments. Throws if their number does not match.
  mutating func arguments(_ ids: [Expression.ID], _ count: Int, of method: Method) throws(RuleFailure) -> [RuleValue] {
    guard ids.count == count else { throw .argumentCount(ids.count, expected: method.signatures) }
    return try values(ids)
  }

  func wrongTypes(_ type: String, _ method: Method, _ values: [RuleValue]) -> RuleFailure {
    .operation(
      received: "\(type).\(method.rawValue)(\(values.map(\.typeName).joined(separator: ", ")))",
      expected: method.signatures.filter { $0.hasPrefix(type + ".") })
  }

  private mutating func call(_ method: Method, on map: RuleMap, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue
  {
    switch method {
    case .size:
      _ = try arguments(ids, 0, of: method)
      if !map.isComplete { throw .notKnown }
      return .int(Int64(map.count))
    case .keys:
      _ = try arguments(ids, 0, of: method)
      // The names that are certainly in the map. Other names, and the order of the names, are unknown.
      let names = map.entries.sorted.map { RuleValue.string($0.name) }
      try work(names.count)
      return .list(map.isComplete ? names : names + [.openEnd])
    case .values:
      _ = try arguments(ids, 0, of: method)
      if !map.isComplete { throw .notKnown }
      let values = map.entries.sorted.map(\.value)
      try work(values.count)
      return .list(values)
    case .get:
      let arguments = try arguments(ids, 2, of: method)
      return try get(map, arguments)
    case .diff:
      let arguments = try arguments(ids, 1, of: method)
      guard case .map(let other) = arguments[0] else { throw wrongTypes("map", method, arguments) }
      try weigh(.map(map), .map(other))
      try work(RuleValue.map(map).weight + RuleValue.map(other).weight)
      return .mapDiff(RuleMapDiff(map.entries, from: other.entries))
    default: throw .unknownFunction(method.rawValue)
    }
  }

  /// `map.get(name, default)` and `map.get([name, …], default)`.
  private func get(_ map: RuleMap, _ arguments: [RuleValue]) throws(RuleFailure) -> RuleValue {
    let names: [RuleValue]
    switch arguments[0] {
    case .string: names = [arguments[0]]
    case .list(let values): names = values
    default: throw wrongTypes("map", .get, arguments)
    }
    var found = RuleValue.map(map)
    for name in names {
      guard case .string(let text) = name else { throw wrongTypes("map", .get, arguments) }
      // The entry may or may not contain a map.
      if case .constraint = found { throw .notKnown }
      guard case .map(let inner) = found else { return arguments[1] }
      guard let value = inner.value(named: text) else {
        if !inner.isComplete { throw .notKnown }
        return arguments[1]
      }
      found = value
    }
    return found
  }

  private mutating func call(_ method: Method, on diff: RuleMapDiff, _ ids: [Expression.ID]) throws(RuleFailure)
    -> RuleValue
  {
    let names: [String]
    switch method {
    case .addedKeys: names = diff.added
    case .removedKeys: names = diff.removed
    case .changedKeys: names = diff.changed
    case .unchangedKeys: names = diff.unchanged
    case .affectedKeys: names = diff.added + diff.removed + diff.changed
    default: throw .unknownFunction(method.rawValue)
    }
    _ = try arguments(ids, 0, of: method)
    try work(4 * names.count)
    return .set(RuleSet(names: names))
  }

  private mutating func call(_ method: Method, on bytes: [UInt8], _ ids: [Expression.ID]) throws(RuleFailure)
    -> RuleValue
  {
    guard [.size, .toBase64, .toHexString].contains(method) else { throw .unknownFunction(method.rawValue) }
    _ = try arguments(ids, 0, of: method)
    try work(bytes.count)
    switch method {
    case .size: return .int(Int64(bytes.count))
    case .toBase64: return .string(ByteText.base64(bytes))
    default: return .string(ByteText.hexadecimal(bytes))
    }
  }

  private mutating func call(_ method: Method, on point: GeoPoint, _ ids: [Expression.ID]) throws(RuleFailure)
    -> RuleValue
  {
    switch method {
    case .latitude:
      _ = try arguments(ids, 0, of: method)
      return .float(point.latitude)
    case .longitude:
      _ = try arguments(ids, 0, of: method)
      return .float(point.longitude)
    case .distance:
      let arguments = try arguments(ids, 1, of: method)
      guard case .latlng(let other) = arguments[0] else { throw wrongTypes("latlng", method, arguments) }
      return .float(point.distance(to: other))
    default: throw .unknownFunction(method.rawValue)
    }
  }

  private mutating func call(_ method: Method, on path: RulePath, _ ids: [Expression.ID]) throws(RuleFailure)
    -> RuleValue
  {
    guard method == .bind else { throw .unknownFunction(method.rawValue) }
    let arguments = try arguments(ids, 1, of: method)
    guard case .map(let map) = arguments[0] else { throw wrongTypes("path", method, arguments) }
    var bound: [String] = []
    for segment in path.segments {
      guard let name = RulePath.variable(in: segment) else {
        bound.append(segment)
        continue
      }
      switch map.value(named: name) {
      case .string(let text)?: bound.append(text)
      case .int(let number)?: bound.append(String(number))
      case .float(let number)?: bound.append(FloatText.text(number))
      case .path(let path)?: bound += path.segments
      case nil: throw .undefinedProperty(name)
      case let value?: throw .type(received: value.typeName, expected: "string,path")
      }
    }
    return .path(RulePath(segments: bound))
  }

  private mutating func call(_ method: Method, on constraint: QueryConstraint, _ ids: [Expression.ID])
    throws(RuleFailure)
    -> RuleValue
  {
    guard method == .hasAny else { throw .unknownFunction(method.rawValue) }
    let arguments = try arguments(ids, 1, of: method)
    guard case .list(let wanted) = arguments[0] else { throw wrongTypes("list", method, arguments) }
    try requireKnown(arguments[0])
    if wanted.contains(where: { constraint.provesContaining($0) }) { return .bool(true) }
    throw .notKnown
  }
}

extension RulePath {
  /// The name in a segment like `{name}`.
  static func variable(in segment: String) -> String? {
    guard segment.hasPrefix("{"), segment.hasSuffix("}"), segment.utf8.count > 2 else { return nil }
    let inner = segment.dropFirst().dropLast()
    return String(inner.hasSuffix("=**") ? inner.dropLast(3) : inner)
  }
}

extension Evaluator {
  mutating func call(_ method: Method, on text: String, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    try work(text.utf8.count / 8)
    switch method {
    case .size, .lower, .upper, .trim, .toUtf8:
      _ = try arguments(ids, 0, of: method)
      switch method {
      case .size: return .int(Int64(text.utf16.count))
      case .lower: return .string(Self.mapped(text, UInt8(ascii: "A")...UInt8(ascii: "Z")))
      case .upper: return .string(Self.mapped(text, UInt8(ascii: "a")...UInt8(ascii: "z")))
      case .trim: return .string(Self.trimmed(text))
      default: return .bytes(Array(text.utf8))
      }
    case .matches, .split:
      let arguments = try arguments(ids, 1, of: method)
      guard case .string(let source) = arguments[0] else { throw wrongTypes("string", method, arguments) }
      let pattern = try pattern(source, at: ids[0])
      if method == .matches {
        try work(text.utf8.count * pattern.stepCount)
        return .bool(pattern.matchesWhole(text))
      }
      do throws(Pattern.EditFailure) {
        let parts = try pattern.split(text, work: &remainingWork)
        // A split with only empty parts returns one empty string.
        return .list((parts.isEmpty ? [""] : parts).map { .string($0) })
      } catch { throw .tooMuchWork }
    case .replace:
      let arguments = try arguments(ids, 2, of: method)
      guard case .string(let source) = arguments[0], case .string(let replacement) = arguments[1] else {
        throw wrongTypes("string", method, arguments)
      }
      let pattern = try pattern(source, at: ids[0])
      try work(text.utf8.count * (replacement.utf8.count + 1))
      do throws(Pattern.EditFailure) {
        return try .string(pattern.replacing(in: text, with: replacement, work: &remainingWork))
      } catch {
        if error == .tooMuchWork { throw .tooMuchWork }
        throw .invalid("Invalid replacement: the pattern has no such group.")
      }
    default: throw .unknownFunction(method.rawValue)
    }
  }

  /// The compiled pattern. A literal was compiled with the rules; any other text is compiled now.
  private mutating func pattern(_ source: String, at id: Expression.ID) throws(RuleFailure) -> Pattern {
    if let pattern = program.patterns[id] { return pattern }
    try work(source.utf8.count * 100)
    do throws(PatternError) { return try Pattern(re2: source) } catch {
      throw .invalid("Invalid regular expression pattern. Pattern: \(source). \(error.text)")
    }
  }

  /// Changes the case of ASCII letters only.
  private static func mapped(_ text: String, _ letters: ClosedRange<UInt8>) -> String {
    String(decoding: text.utf8.map { letters.contains($0) ? $0 ^ 0x20 : $0 }, as: UTF8.self)
  }

  /// The text without leading and trailing ASCII control characters and spaces.
  private static func trimmed(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard let first = bytes.firstIndex(where: { $0 > 0x20 }), let last = bytes.lastIndex(where: { $0 > 0x20 }) else {
      return ""
    }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// The result of the function `string()` for a value.
  func text(of value: RuleValue) throws(RuleFailure) -> String {
    switch value {
    case .null: return "null"
    case .bool(let value): return String(value)
    case .int(let value): return String(value)
    case .float(let value): return FloatText.text(value)
    case .string(let text): return text
    case .path(let path): return path.text
    default: throw .operation(received: "string(\(value.typeName))", expected: Builtin.string.signatures)
    }
  }
}

extension Evaluator {
  mutating func call(_ method: Method, on time: Timestamp, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    let (date, secondOfDay) = time.dateAndSecondOfDay
    let result: RuleValue
    switch method {
    case .year: result = .int(date.year)
    case .month: result = .int(date.month)
    case .day: result = .int(date.day)
    case .hours: result = .int(secondOfDay / 3600)
    case .minutes: result = .int(secondOfDay / 60 % 60)
    case .seconds: result = .int(secondOfDay % 60)
    case .nanos: result = .int(Int64(time.nanoseconds))
    case .dayOfWeek: result = .int(date.dayOfWeek)
    case .dayOfYear: result = .int(date.dayOfYear)
    case .toMillis: result = .int(time.seconds * 1000 + Int64(time.nanoseconds / 1_000_000))
    case .date: result = .timestamp(Timestamp(seconds: time.seconds - secondOfDay))
    case .time: result = try duration(secondOfDay, Int64(time.nanoseconds))
    default: throw .unknownFunction(method.rawValue)
    }
    _ = try arguments(ids, 0, of: method)
    return result
  }

  mutating func call(_ method: Method, on span: RuleDuration, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    guard method == .seconds || method == .nanos else { throw .unknownFunction(method.rawValue) }
    _ = try arguments(ids, 0, of: method)
    return .int(method == .seconds ? span.seconds : span.nanoseconds)
  }
}
