// SPDX-License-Identifier: Apache-2.0

extension PatternParser {
  mutating func escape(from start: Int) throws(PatternError) -> Node {
    guard let scalar = next else { throw error("nothing follows the backslash", at: start) }
    position += 1
    switch scalar {
    case "b": return .assertion(.wordBoundary)
    case "B": return .assertion(.noWordBoundary)
    case "A" where dialect == .re2: return .assertion(.start)
    case "z" where dialect == .re2: return .assertion(.end)
    case "C" where dialect == .re2: return .scalar(.any)
    case "p" where dialect == .re2, "P" where dialect == .re2:
      var set = ScalarSet([], isExact: flags.isExact)
      set.categories = [try category(isNegated: scalar == "P", from: start)]
      return .scalar(set)
    default:
      if let ranges = classRanges(scalar) {
        return .scalar(ScalarSet(cased(ranges), isNegated: scalar.properties.isUppercase))
      }
      return .scalar(ScalarSet(try plain(scalar, column: start + 1), isExact: flags.isExact))
    }
  }

  /// Reads literal text up to `\E`.
  mutating func quoted() -> [Node] {
    var nodes: [Node] = []
    while let scalar = next {
      position += 1
      if scalar == "\\", take("E") { break }
      nodes.append(.scalar(ScalarSet(scalar, isExact: flags.isExact)))
    }
    return nodes
  }

  /// Reads a Unicode category, such as `L` or `{Lu}`, after `\p`.
  private mutating func category(isNegated: Bool, from start: Int) throws(PatternError) -> ScalarCategory {
    var name = ""
    var isNegated = isNegated
    if take("{") {
      if take("^") { isNegated.toggle() }
      while let scalar = next, scalar != "}" {
        name.unicodeScalars.append(scalar)
        position += 1
      }
      if !take("}") { throw error("\\p{ has no }", at: start) }
    } else if let scalar = next {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    guard let category = ScalarCategory(name, isNegated: isNegated) else {
      throw error("\(name) is not a general category of Unicode", at: start)
    }
    return category
  }

  private func classRanges(_ scalar: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
    switch scalar {
    case "d", "D": ScalarSet.digits
    case "w", "W": dialect.words
    case "s", "S": dialect.spaces
    default: nil
    }
  }

  /// The character that a letter after a backslash represents.
  private mutating func plain(_ scalar: Unicode.Scalar, column: Int) throws(PatternError) -> Unicode.Scalar {
    switch scalar {
    case "t": return "\t"
    case "n": return "\n"
    case "r": return "\r"
    case "f" where dialect == .re2: return "\u{0C}"
    case "v" where dialect == .re2: return "\u{0B}"
    case "a" where dialect == .re2: return "\u{07}"
    case "x" where dialect == .re2: return try hexadecimal(column: column)
    case "0"..."7" where dialect == .re2 && (scalar == "0" || next.map { ("0"..."7").contains($0) } ?? false):
      return octal(scalar)
    case _ where dialect == .re2 && !scalar.isASCII:
      throw PatternError(column: column, reason: "\\\(scalar) is not a known escape")
    default:
      let isName = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      if isName { throw PatternError(column: column, reason: "\\\(scalar) is not a known escape") }
      return scalar
    }
  }

  /// Reads a hexadecimal number, such as `7F` or `{10FFFF}`, after `\x`.
  private mutating func hexadecimal(column: Int) throws(PatternError) -> Unicode.Scalar {
    var digits = ""
    let isBraced = take("{")
    while let scalar = next, digits.count < (isBraced ? 8 : 2), scalar.properties.isASCIIHexDigit {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    guard isBraced ? take("}") : digits.count == 2, let value = UInt32(digits, radix: 16),
      let scalar = Unicode.Scalar(value)
    else { throw PatternError(column: column, reason: "\\x needs two digits, or a number in braces") }
    return scalar
  }

  /// Reads an octal number of up to three digits. The caller has read the first digit. A single digit other than 0
  /// would be a back-reference.
  private mutating func octal(_ first: Unicode.Scalar) -> Unicode.Scalar {
    var value = first.value - 0x30
    for _ in 0..<2 {
      guard let digit = next, ("0"..."7").contains(digit) else { break }
      value = value * 8 + digit.value - 0x30
      position += 1
    }
    return Unicode.Scalar(value) ?? "\0"
  }

  /// Adds the letters of the other case to a character class if case does not matter.
  private func cased(_ ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
    dialect == .search || flags.isExact ? ranges : ScalarSet.folded(ascii: ranges)
  }

  mutating func set(from start: Int) throws(PatternError) -> ScalarSet {
    let isNegated = take("^")
    var set = ScalarSet([], isNegated: isNegated, isExact: flags.isExact)
    var isFirst = true
    while let scalar = next, scalar != "]" || isFirst {
      isFirst = false
      let place = position
      position += 1
      var low = scalar
      if scalar == "[", dialect == .re2, next == ":", let ranges = try namedClass(from: place) {
        set.ranges += ranges
        continue
      }
      if scalar == "\\" {
        guard let escaped = next else { break }
        position += 1
        if dialect == .re2, escaped == "p" || escaped == "P" {
          set.categories.append(try category(isNegated: escaped == "P", from: place))
          continue
        }
        if let known = classRanges(escaped), escaped.properties.isLowercase || dialect == .re2 {
          set.ranges += escaped.properties.isLowercase ? known : ScalarSet.complement(cased(known))
          continue
        }
        low = try plain(escaped, column: place + 1)
      }
      guard next == "-", position + 1 < characters.count, characters[position + 1] != "]" else {
        set.ranges.append(low.value...low.value)
        continue
      }
      position += 1
      var high = characters[position]
      position += 1
      if high == "\\", let escaped = next {
        position += 1
        high = try plain(escaped, column: position)
      }
      guard low.value <= high.value else { throw error("\(high) comes before \(low)", at: place) }
      set.ranges.append(low.value...high.value)
    }
    if !take("]") { throw error("this set has no ]", at: start) }
    return set
  }

  /// Reads a class such as `[:alpha:]` after its first bracket. If no `:]` follows, returns `nil` and consumes nothing.
  private mutating func namedClass(from start: Int) throws(PatternError) -> [ClosedRange<UInt32>]? {
    let rest = characters[(position + 1)...]
    guard let end = rest.indices.dropLast().first(where: { rest[$0] == ":" && rest[$0 + 1] == "]" }) else { return nil }
    let isNegated = next == ":" && rest.first == "^"
    let name = String(String.UnicodeScalarView(rest[..<end].dropFirst(isNegated ? 1 : 0)))
    guard let ranges = Self.namedClasses[name] else { throw error("unknown class name", at: start) }
    position = end + 2
    return isNegated ? ScalarSet.complement(cased(ranges)) : ranges
  }

  private static let namedClasses: [String: [ClosedRange<UInt32>]] = [
    "alnum": [0x30...0x39, 0x41...0x5A, 0x61...0x7A], "alpha": [0x41...0x5A, 0x61...0x7A], "ascii": [0...0x7F],
    "blank": [0x09...0x09, 0x20...0x20], "cntrl": [0...0x1F, 0x7F...0x7F], "digit": [0x30...0x39],
    "graph": [0x21...0x7E], "lower": [0x61...0x7A], "print": [0x20...0x7E],
    "punct": [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E], "space": [0x09...0x0D, 0x20...0x20],
    "upper": [0x41...0x5A], "word": [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A],
    "xdigit": [0x30...0x39, 0x41...0x46, 0x61...0x66],
  ]
}
