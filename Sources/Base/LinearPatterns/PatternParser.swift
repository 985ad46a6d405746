// SPDX-License-Identifier: Apache-2.0

/// Parses a regular expression.
struct PatternParser {
  indirect enum Node {
    case scalar(ScalarSet)
    case assertion(Pattern.Assertion)
    case sequence([Node])
    case choice([Node])
    /// Repeats a node between `least` and `most` times; if `most` is `nil`, there is no maximum. A lazy repetition
    /// matches as few times as possible.
    case repeated(Node, least: Int, most: Int?, isLazy: Bool)
    case group(Node, number: Int)
  }

  /// The flags that `(?i)` and similar groups change.
  struct Flags {
    /// Whether case matters.
    var isExact = true
    /// Whether `.` also matches line breaks.
    var dotTakesAll = false
    /// Whether `^` and `$` also match at line breaks.
    var hasLines = false
    /// Whether `*` matches as little as possible, and `*?` as much as possible.
    var isLazy = false
  }

  let dialect: PatternDialect
  let characters: [Unicode.Scalar]
  var position = 0
  var flags = Flags()
  var groups: [String?] = []
  private var depth = 0

  init(_ text: String, _ dialect: PatternDialect) {
    self.dialect = dialect
    characters = Array(text.unicodeScalars)
    if dialect == .search {
      flags.isExact = Self.hasCapital(characters)
      flags.dotTakesAll = true
    }
  }

  mutating func parse() throws(PatternError) -> Node {
    let node = try choice()
    if position < characters.count { throw error("there is no ( for this )") }
    return node
  }

  /// Whether the pattern contains a capital letter as literal text. Letters after a backslash do not count.
  private static func hasCapital(_ characters: [Unicode.Scalar]) -> Bool {
    var isEscaped = false
    for character in characters {
      if !isEscaped, character.properties.isUppercase { return true }
      isEscaped = !isEscaped && character == "\\"
    }
    return false
  }

  func error(_ reason: String, at place: Int? = nil) -> PatternError {
    PatternError(column: (place ?? position) + 1, reason: reason)
  }

  var next: Unicode.Scalar? { position < characters.count ? characters[position] : nil }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  mutating func choice() throws(PatternError) -> Node {
    var branches = [try sequence()]
    while take("|") { branches.append(try sequence()) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func sequence() throws(PatternError) -> Node {
    var nodes: [Node] = []
    var endOfRepeat: Int?
    while let scalar = next, scalar != "|", scalar != ")" {
      let start = position
      guard let (least, most, isLazy) = try quantifier(isFirst: nodes.isEmpty) else {
        nodes += try atoms()
        continue
      }
      guard let node = nodes.popLast() else {
        throw error("there is nothing to repeat before \(scalar)", at: start)
      }
      if dialect == .re2, endOfRepeat == start { throw error("a repeat cannot be repeated", at: start) }
      let repeated = Node.repeated(node, least: least, most: most, isLazy: isLazy)
      if dialect == .re2, !repeated.repeats(atMost: dialect.mostRepeats) {
        throw error("at most \(dialect.mostRepeats) repeats are allowed, with nested repeats multiplied", at: start)
      }
      nodes.append(repeated)
      endOfRepeat = position
    }
    return .sequence(nodes)
  }

  /// - Parameter isFirst: whether there is nothing before the quantifier that it could repeat.
  private mutating func quantifier(isFirst: Bool) throws(PatternError) -> (Int, Int?, Bool)? {
    var range: (Int, Int?)
    if take("*") {
      range = (0, nil)
    } else if take("+") {
      range = (1, nil)
    } else if take("?") {
      range = (0, 1)
    } else if next == "{", !isFirst || dialect == .re2, let counted = try counts() {
      range = counted
    } else {
      return nil
    }
    var isLazy = flags.isLazy
    if take("?") {
      isLazy.toggle()
    } else if dialect == .search {
      // A possessive quantifier is treated like a greedy one.
      _ = take("+")
    }
    return (range.0, range.1, isLazy)
  }

  /// Reads repetition counts such as `{2}`, `{2,}` or `{2,3}`; `nil` if the brace is literal text.
  private mutating func counts() throws(PatternError) -> (Int, Int?)? {
    let start = position
    position += 1
    let least = number()
    var most = least
    if take(",") { most = number() }
    guard let least, take("}") else {
      position = start
      return nil
    }
    if max(least, most ?? 0) > dialect.mostRepeats { throw error("at most \(dialect.mostRepeats) repeats", at: start) }
    if let most, most < least { throw error("\(most) is less than \(least)", at: start) }
    return (least, most)
  }

  private mutating func number() -> Int? {
    let start = position
    let longest = dialect == .search ? 6 : 18
    while let scalar = next, (0x30...0x39).contains(scalar.value), position - start < longest { position += 1 }
    if dialect == .re2, position - start > 1, characters[start] == "0" {
      // A text with leading zeros is not a number, so the brace is literal.
      position = start
      return nil
    }
    return Int(characters[start..<position].map(String.init).joined())
  }

  /// - Returns: several nodes for quoted text; a following quantifier repeats only the last of them. No nodes for
  ///   flags.
  private mutating func atoms() throws(PatternError) -> [Node] {
    let start = position
    guard let scalar = next else { throw error("the pattern is incomplete") }
    position += 1
    switch scalar {
    case ".": return [.scalar(flags.dotTakesAll ? .any : .anyInLine)]
    case "^": return [.assertion(flags.hasLines ? .lineStart : .start)]
    case "$": return [.assertion(flags.hasLines ? .lineEnd : .end)]
    case "[": return [.scalar(try set(from: start))]
    case "(": return try group(from: start).map { [$0] } ?? []
    case "\\" where dialect == .re2 && take("Q"): return quoted()
    case "\\": return [try escape(from: start)]
    default: return [.scalar(ScalarSet(scalar, isExact: flags.isExact))]
    }
  }

  /// - Returns: `nil` for flags that apply to the following text.
  private mutating func group(from start: Int) throws(PatternError) -> Node? {
    var number: Int?
    let outer = flags
    if take("?") {
      if dialect == .search, !take(":") { throw error("lookaround and flags are not supported", at: start) }
      if dialect == .re2 {
        if let name = try groupName(from: start) {
          groups.append(name)
          number = groups.count
        } else if try flagsEndGroup(from: start) {
          return nil
        }
      }
    } else if dialect == .re2 {
      groups.append(nil)
      number = groups.count
    }
    depth += 1
    if depth > dialect.deepest { throw error("groups are nested too deeply", at: start) }
    let node = try choice()
    depth -= 1
    if !take(")") { throw error("this group has no )", at: start) }
    flags = outer
    return number.map { .group(node, number: $0) } ?? node
  }

  /// Reads a group name, such as `P<name>` or `<name>`, after the question mark.
  private mutating func groupName(from start: Int) throws(PatternError) -> String? {
    let before = position
    _ = take("P")
    guard take("<") else {
      position = before
      return nil
    }
    var name = ""
    while let scalar = next, dialect.isWord(scalar) {
      name.unicodeScalars.append(scalar)
      position += 1
    }
    guard !name.isEmpty, take(">"), !groups.contains(name) else { throw error("invalid name of a group", at: start) }
    return name
  }

  /// Reads the flags `i`, `m`, `s`, `U` and `-` up to the colon or the parenthesis.
  /// - Returns: whether a parenthesis followed. In that case, the flags apply to the rest of the enclosing group.
  private mutating func flagsEndGroup(from start: Int) throws(PatternError) -> Bool {
    var (isOn, isEmpty) = (true, false)
    while let scalar = next {
      let wasEmpty = isEmpty
      isEmpty = scalar == "-"
      position += 1
      switch scalar {
      case "i": flags.isExact = !isOn
      case "m": flags.hasLines = isOn
      case "s": flags.dotTakesAll = isOn
      case "U": flags.isLazy = isOn
      case "-" where isOn: isOn = false
      case ":" where !wasEmpty: return false
      case ")" where !wasEmpty: return true
      default: throw error("lookaround is not supported", at: start)
      }
    }
    throw error("this group has no )", at: start)
  }
}

extension PatternParser.Node {
  /// Whether no part is repeated more than `most` times. The counts of nested repetitions are multiplied.
  func repeats(atMost most: Int) -> Bool {
    switch self {
    case .scalar, .assertion: return true
    case .sequence(let nodes), .choice(let nodes): return nodes.allSatisfy { $0.repeats(atMost: most) }
    case .group(let node, _): return node.repeats(atMost: most)
    case .repeated(let node, let least, let limit, _):
      let count = limit ?? least
      if limit == 0 { return true }
      return count <= most && node.repeats(atMost: most / max(count, 1))
    }
  }

  /// Whether the node can match the empty text. Conditions on the position, such as `^`, count as met.
  var canBeEmpty: Bool {
    switch self {
    case .scalar: false
    case .assertion: true
    case .sequence(let nodes): nodes.allSatisfy(\.canBeEmpty)
    case .choice(let nodes): nodes.contains(where: \.canBeEmpty)
    case .group(let node, _): node.canBeEmpty
    case .repeated(let node, let least, _, _): least == 0 || node.canBeEmpty
    }
  }
}
