// SPDX-License-Identifier: Apache-2.0

/// Reads a regular expression.
struct PatternParser {
  indirect enum Node {
    case scalar(ScalarSet)
    case assertion(Pattern.Assertion)
    case sequence([Node])
    case choice([Node])
    /// At most `nil` times for any number.
    case repeated(Node, least: Int, most: Int?)
  }

  private static let deepest = 20
  private static let mostRepeats = 100

  private let characters: [Unicode.Scalar]
  private let isExact: Bool
  private var position = 0
  private var depth = 0

  init(_ text: String) {
    characters = Array(text.unicodeScalars)
    isExact = Self.hasCapital(characters)
  }

  mutating func parse() throws(TextError) -> Node {
    let node = try choice()
    if position < characters.count { throw error("there is no ( for this )") }
    return node
  }

  /// Whether a letter that stands for itself is a capital: those behind a backslash are not meant.
  private static func hasCapital(_ characters: [Unicode.Scalar]) -> Bool {
    var isEscaped = false
    for character in characters {
      if !isEscaped, character.properties.isUppercase { return true }
      isEscaped = !isEscaped && character == "\\"
    }
    return false
  }

  private func error(_ reason: String, at place: Int? = nil) -> TextError {
    TextError(column: (place ?? position) + 1, reason: reason)
  }

  private var next: Unicode.Scalar? { position < characters.count ? characters[position] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    position += 1
    return true
  }

  private mutating func choice() throws(TextError) -> Node {
    var branches = [try sequence()]
    while take("|") { branches.append(try sequence()) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func sequence() throws(TextError) -> Node {
    var nodes: [Node] = []
    while let scalar = next, scalar != "|", scalar != ")" {
      var node = try atom()
      while let (least, most) = try quantifier() { node = .repeated(node, least: least, most: most) }
      nodes.append(node)
    }
    return .sequence(nodes)
  }

  private mutating func quantifier() throws(TextError) -> (Int, Int?)? {
    var range: (Int, Int?)
    if take("*") {
      range = (0, nil)
    } else if take("+") {
      range = (1, nil)
    } else if take("?") {
      range = (0, 1)
    } else if next == "{", let counted = try counts() {
      range = counted
    } else {
      return nil
    }
    // As few as possible, or no way back: what matches is the same.
    if !take("?") { _ = take("+") }
    return range
  }

  /// `{2}`, `{2,}`, `{2,3}`; `nil` for a brace that stands for itself.
  private mutating func counts() throws(TextError) -> (Int, Int?)? {
    let start = position
    position += 1
    let least = number()
    var most = least
    if take(",") { most = number() }
    guard let least, take("}") else {
      position = start
      return nil
    }
    if max(least, most ?? 0) > Self.mostRepeats { throw error("at most \(Self.mostRepeats) repeats", at: start) }
    if let most, most < least { throw error("\(most) is less than \(least)", at: start) }
    return (least, most)
  }

  private mutating func number() -> Int? {
    let start = position
    while let scalar = next, (0x30...0x39).contains(scalar.value), position - start < 6 { position += 1 }
    return Int(characters[start..<position].map(String.init).joined())
  }

  private mutating func atom() throws(TextError) -> Node {
    let start = position
    guard let scalar = next else { throw error("the pattern is not finished") }
    position += 1
    switch scalar {
    case ".": return .scalar(.any)
    case "^": return .assertion(.start)
    case "$": return .assertion(.end)
    case "[": return .scalar(try set(from: start))
    case "(": return try group(from: start)
    case "\\": return try escape(from: start)
    case "*", "+", "?": throw error("nothing stands before \(scalar) that could be repeated", at: start)
    default: return .scalar(ScalarSet(scalar, isExact: isExact))
    }
  }

  private mutating func group(from start: Int) throws(TextError) -> Node {
    if take("?"), !take(":") { throw error("groups that only look, and flags, are not known", at: start) }
    depth += 1
    if depth > Self.deepest { throw error("groups are nested too deeply", at: start) }
    let node = try choice()
    depth -= 1
    if !take(")") { throw error("this group has no )", at: start) }
    return node
  }

  private mutating func escape(from start: Int) throws(TextError) -> Node {
    guard let scalar = next else { throw error("nothing follows the backslash", at: start) }
    position += 1
    switch scalar {
    case "b": return .assertion(.wordBoundary)
    case "B": return .assertion(.noWordBoundary)
    default:
      if let ranges = Self.classRanges(scalar) {
        return .scalar(ScalarSet(ranges, isNegated: scalar.properties.isUppercase))
      }
      return .scalar(ScalarSet(try Self.plain(scalar, column: start + 1), isExact: isExact))
    }
  }

  private static func classRanges(_ scalar: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
    switch scalar {
    case "d", "D": ScalarSet.digits
    case "w", "W": ScalarSet.words
    case "s", "S": ScalarSet.spaces
    default: nil
    }
  }

  /// What a letter behind a backslash stands for.
  private static func plain(_ scalar: Unicode.Scalar, column: Int) throws(TextError) -> Unicode.Scalar {
    switch scalar {
    case "t": return "\t"
    case "n": return "\n"
    case "r": return "\r"
    default:
      let isName = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
      if isName { throw TextError(column: column, reason: "\\\(scalar) is not known") }
      return scalar
    }
  }

  private mutating func set(from start: Int) throws(TextError) -> ScalarSet {
    let isNegated = take("^")
    var ranges: [ClosedRange<UInt32>] = []
    var isFirst = true
    while let scalar = next, scalar != "]" || isFirst {
      isFirst = false
      let place = position
      position += 1
      var low = scalar
      if scalar == "\\" {
        guard let escaped = next else { break }
        position += 1
        if escaped.properties.isLowercase, let known = Self.classRanges(escaped) {
          ranges += known
          continue
        }
        low = try Self.plain(escaped, column: place + 1)
      }
      guard next == "-", position + 1 < characters.count, characters[position + 1] != "]" else {
        ranges.append(low.value...low.value)
        continue
      }
      position += 1
      var high = characters[position]
      position += 1
      if high == "\\", let escaped = next {
        position += 1
        high = try Self.plain(escaped, column: position)
      }
      guard low.value <= high.value else { throw error("\(high) comes before \(low)", at: place) }
      ranges.append(low.value...high.value)
    }
    if !take("]") { throw error("this set has no ]", at: start) }
    return ScalarSet(ranges, isNegated: isNegated, isExact: isExact)
  }
}

/// Turns what was read into steps.
struct PatternCompiler {
  /// A pattern costs as many comparisons per letter as it has steps.
  private static let longest = 256

  private(set) var program: [Pattern.Step] = []
  /// Groups of nothing can be repeated without a step.
  private var additions = 0

  mutating func add(_ node: PatternParser.Node) throws(TextError) {
    additions += 1
    if additions > Self.longest * 16 { throw Self.tooLong }
    switch node {
    case .scalar(let set): try append(.scalar(set))
    case .assertion(let assertion): try append(.assertion(assertion))
    case .sequence(let nodes): for node in nodes { try add(node) }
    case .choice(let nodes): try add(choice: nodes[...])
    case .repeated(let node, let least, let most):
      for _ in 0..<least { try add(node) }
      if let most {
        for _ in least..<most { try addOptional(node) }
      } else {
        let start = program.count
        try addOptional(node, again: start)
      }
    }
  }

  private mutating func add(choice nodes: ArraySlice<PatternParser.Node>) throws(TextError) {
    guard let first = nodes.first else { return }
    guard nodes.count > 1 else { return try add(first) }
    let fork = program.count
    try append(.fork(fork + 1, 0))
    try add(first)
    let jump = program.count
    try append(.jump(0))
    program[fork] = .fork(fork + 1, program.count)
    try add(choice: nodes.dropFirst())
    program[jump] = .jump(program.count)
  }

  /// - Parameter start: where to go on afterwards to have it once more.
  private mutating func addOptional(_ node: PatternParser.Node, again start: Int? = nil) throws(TextError) {
    let fork = program.count
    try append(.fork(fork + 1, 0))
    try add(node)
    if let start { try append(.jump(start)) }
    program[fork] = .fork(fork + 1, program.count)
  }

  private mutating func append(_ step: Pattern.Step) throws(TextError) {
    if program.count >= Self.longest { throw Self.tooLong }
    program.append(step)
  }

  private static let tooLong = TextError(column: 1, reason: "the pattern is too long")
}
