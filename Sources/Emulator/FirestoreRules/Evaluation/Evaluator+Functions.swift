// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Glibc

extension Evaluator {
  mutating func call(_ builtin: Builtin, _ ids: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    let count = builtin.argumentCount
    guard ids.count == count else { throw .argumentCount(ids.count, expected: builtin.signatures) }
    switch builtin {
    case .exists, .existsAfter, .get, .getAfter: return try access(builtin, ids[0])
    default: break
    }
    let arguments = try values(ids)
    if builtin == .debug, debugged.count < RulesRemark.most {
      let line = program.sources[program.files[ids[0]]].lineAndColumn(of: program.expressions[ids[0]].range.lowerBound)
        .line
      debugged.append(RulesRemark(line: line, text: arguments[0].text(atMost: SeenValue.longest)))
    }
    return try outcome(builtin, arguments)
  }

  private mutating func outcome(_ builtin: Builtin, _ arguments: [RuleValue]) throws(RuleFailure) -> RuleValue {
    if isProof, let place = arguments.firstIndex(where: { if case .oneOf = $0 { true } else { false } }) {
      return try each(arguments[place].candidates) { evaluator, candidate throws(RuleFailure) in
        var certain = arguments
        certain[place] = candidate
        return try evaluator.outcome(builtin, certain)
      }
    }
    if let result = try result(builtin, arguments) { return result }
    throw .operation(
      received: "\(builtin.rawValue)(\(arguments.map(\.typeName).joined(separator: ", ")))",
      expected: builtin.signatures)
  }

  private mutating func access(_ builtin: Builtin, _ id: Expression.ID) throws(RuleFailure) -> RuleValue {
    let argument = try value(id)
    guard case .path(let path) = argument else {
      if case .null = argument { throw .nullValue }
      throw .operation(received: "\(builtin.rawValue)(\(argument.typeName))", expected: builtin.signatures)
    }
    if case .hidden = resource {
      _ = try documents.key(path, builtin)
      throw .notKnown
    }
    let isAfter = builtin == .getAfter || builtin == .existsAfter
    let document = try documents.document(path, isAfter: isAfter, builtin)
    if builtin == .exists || builtin == .existsAfter { return .bool(document != nil) }
    guard let document else {
      throw .access(builtin.rawValue, path: path.text, reason: "the document does not exist")
    }
    return .map(.document(document))
  }

  /// - Returns: `nil` if the function does not accept values of these types.
  private mutating func result(_ builtin: Builtin, _ arguments: [RuleValue]) throws(RuleFailure) -> RuleValue? {
    switch (builtin, arguments[0]) {
    case (.debug, let value): return value
    case (.int, .int(let value)): return .int(value)
    case (.int, .float(let value)): return .int(Self.integer(value))
    case (.int, .string(let text)): return try .int(Self.integer(text))
    case (.float, .int(let value)): return .float(Double(value))
    case (.float, .float(let value)): return .float(value)
    case (.float, .string(let text)): return try .float(Self.float(text))
    case (.string, let value): return try .string(text(of: value))
    case (.path, .string(let text)): return try .path(Self.path(text))
    case (.hashingCRC32, let value), (.hashingCRC32C, let value), (.hashingMD5, let value), (.hashingSHA256, let value):
      return try digest(builtin, value)
    case (.mathAbs, .int(let value)): return .int(value < 0 ? 0 &- value : value)
    case (.mathAbs, .float(let value)): return .float(abs(value))
    case (.mathPow, _):
      guard let base = arguments[0].number, let exponent = arguments[1].number else { return nil }
      return .float(pow(base, exponent))
    case (.durationAbs, .duration(let span)):
      return try duration(Int64(span.seconds.magnitude), Int64(span.nanoseconds.magnitude))
    case (.durationValue, .int(let count)): return try duration(count, arguments[1])
    case (.durationTime, _): return try time(arguments)
    case (.latlngValue, _): return try point(arguments)
    case (.timestampValue, .int(let milliseconds)):
      return try timestamp(milliseconds / 1000, milliseconds % 1000 * 1_000_000)
    case (.timestampValue, .string(let text)):
      guard let time = Timestamp(rfc3339: text) else { throw .invalid(Self.noTimestamp) }
      return .timestamp(time)
    case (.timestampDate, _): return try date(arguments)
    default: return arguments[0].number.flatMap { Self.mathematics(builtin, $0) }
    }
  }

  static let noTimestamp =
    "Timestamp is not valid. Seconds must be in range [-62,135,596,800, +253,402,300,799]. "
    + "Nanos must be in range [0, +999,999,999]."

  private static func mathematics(_ builtin: Builtin, _ number: Double) -> RuleValue? {
    switch builtin {
    case .mathCeil: .float(number.rounded(.up))
    case .mathFloor: .float(number.rounded(.down))
    // Halves are rounded up, as in Java.
    case .mathRound: .int(integer((number + 0.5).rounded(.down)))
    case .mathSqrt: .float(number.squareRoot())
    case .mathIsNaN: .bool(number.isNaN)
    case .mathIsInfinite, .mathIsInfinity: .bool(number.isInfinite)
    default: nil
    }
  }

  /// The number without its fraction, clamped to the range of `Int64`; 0 for NaN.
  private static func integer(_ number: Double) -> Int64 {
    if number.isNaN { return 0 }
    if number >= 0x1p63 { return .max }
    if number < -0x1p63 { return .min }
    return Int64(number)
  }

  private static func integer(_ text: String) throws(RuleFailure) -> Int64 {
    guard let value = Int64(text) else { throw .conversion(text, from: "string", to: "int") }
    return value
  }

  private static func float(_ text: String) throws(RuleFailure) -> Double {
    guard let value = FloatText.number(text) else { throw .conversion(text, from: "string", to: "float") }
    return value
  }

  private static func path(_ text: String) throws(RuleFailure) -> RulePath {
    let trimmed = text.hasPrefix("/") ? text.dropFirst() : text[...]
    if trimmed.isEmpty { throw .invalid("Empty Path Template is not allowed.") }
    let segments = trimmed.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
    if segments.contains("") { throw .invalid("Invalid Path Template \(text). Empty segment is not allowed.") }
    return RulePath(segments: segments)
  }

  private mutating func digest(_ builtin: Builtin, _ value: RuleValue) throws(RuleFailure) -> RuleValue? {
    let bytes: [UInt8]
    switch value {
    case .bytes(let value): bytes = value
    case .string(let text): bytes = Array(text.utf8)
    default: return nil
    }
    try work(8 * bytes.count)
    switch builtin {
    case .hashingMD5: return .bytes(MD5(bytes).digest)
    case .hashingSHA256: return .bytes(SHA256.digest(bytes))
    case .hashingCRC32: return .bytes(CRC32.ieee.littleEndianBytes(of: bytes))
    default: return .bytes(CRC32.castagnoli.littleEndianBytes(of: bytes))
    }
  }

  /// Evaluates `duration.value(1, 'h')`.
  private func duration(_ count: Int64, _ unit: RuleValue) throws(RuleFailure) -> RuleValue? {
    guard case .string(let name) = unit else { return nil }
    switch name {
    case "w", "d", "h", "m", "s":
      let seconds: Int64 = ["w": 604_800, "d": 86_400, "h": 3600, "m": 60, "s": 1][name] ?? 1
      let (product, overflows) = count.multipliedReportingOverflow(by: seconds)
      if overflows { throw .integerRange }
      return try duration(product, 0)
    case "ms": return try duration(count / 1000, count % 1000 * 1_000_000)
    case "ns": return try duration(count / 1_000_000_000, count % 1_000_000_000)
    default: throw .invalid("Invalid unit of duration: \(name). Expected one of w, d, h, m, s, ms, ns.")
    }
  }

  /// Evaluates `duration.time(hours, minutes, seconds, nanoseconds)`.
  private func time(_ arguments: [RuleValue]) throws(RuleFailure) -> RuleValue? {
    guard let parts = Self.integers(arguments) else { return nil }
    var seconds: Int64 = 0
    for (part, factor) in zip(parts, [3600, 60, 1] as [Int64]) {
      let (product, overflows) = part.multipliedReportingOverflow(by: factor)
      let (sum, sumOverflows) = seconds.addingReportingOverflow(product)
      if overflows || sumOverflows { throw .integerRange }
      seconds = sum
    }
    return try duration(seconds, parts[3])
  }

  private static func integers(_ arguments: [RuleValue]) -> [Int64]? {
    let integers = arguments.compactMap { if case .int(let value) = $0 { value } else { nil } }
    return integers.count == arguments.count ? integers : nil
  }

  private func date(_ arguments: [RuleValue]) throws(RuleFailure) -> RuleValue? {
    guard let parts = Self.integers(arguments) else { return nil }
    guard let time = Timestamp(year: parts[0], month: parts[1], day: parts[2]) else {
      throw .invalid("Date is not valid. year: \(parts[0]), month: \(parts[1]) day: \(parts[2]).")
    }
    return .timestamp(time)
  }

  private func point(_ arguments: [RuleValue]) throws(RuleFailure) -> RuleValue? {
    guard let latitude = arguments[0].number, let longitude = arguments[1].number else { return nil }
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else {
      throw .invalid(
        "Latitude should be in [-90,90] range and longitude should be in [-180,180] range. "
          + "latitude: \(latitude), longitude: \(longitude).")
    }
    return .latlng(GeoPoint(latitude: latitude, longitude: longitude))
  }
}

extension RuleValue {
  /// An integer or a float, as a float.
  var number: Double? {
    switch self {
    case .int(let value): Double(value)
    case .float(let value): value
    default: nil
    }
  }
}

extension Builtin {
  var argumentCount: Int {
    switch self {
    case .mathPow, .durationValue, .latlngValue: 2
    case .timestampDate: 3
    case .durationTime: 4
    default: 1
    }
  }
}
