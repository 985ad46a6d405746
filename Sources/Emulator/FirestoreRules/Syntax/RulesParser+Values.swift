// SPDX-License-Identifier: Apache-2.0

extension RulesParser {
  /// A literal, a name, a call, a path, or an expression in parentheses.
  mutating func primary() throws(SyntaxFailure) -> Expression.ID {
    let first = token
    let start = first.range.lowerBound
    switch first.kind {
    case .integer(let value): return try constant(.int(value))
    case .float(let value): return try constant(.float(value))
    case .string(let value): return try constant(.string(value))
    case .bytes(let value): return try constant(.bytes(value))
    case .identifier:
      switch first.text {
      case "true": return try constant(.bool(true))
      case "false": return try constant(.bool(false))
      case "null": return try constant(.null)
      default: return try name()
      }
    case .symbol:
      switch first.text {
      case "(":
        try advance()
        let inner = try expression()
        try expect(")")
        program.expressions[inner].depth += 1
        if program.expressions[inner].depth > Self.deepestExpression {
          throw SyntaxFailure(range: start..<lastEnd, message: Self.tooDeep)
        }
        return inner
      case "[": return try list()
      case "{": return try map()
      case "/": return try path(from: start)
      default: throw unexpected()
      }
    case .end: throw unexpected()
    }
  }

  private mutating func constant(_ value: RuleConstant) throws(SyntaxFailure) -> Expression.ID {
    let start = token.range.lowerBound
    try advance()
    return try add(.constant(value), from: start)
  }

  private mutating func name() throws(SyntaxFailure) -> Expression.ID {
    let word = token
    if Self.reserved.contains(word.text) { throw unexpected() }
    try advance()
    if token.isSymbol("(") {
      let arguments = try self.arguments()
      return try add(.call(word.text, arguments), from: word.range.lowerBound, arguments)
    }
    if Builtin.packages.contains(word.text), !token.isSymbol(".") {
      throw SyntaxFailure(
        range: word.range, message: "\(word.text) is a package and cannot be used as variable name.")
    }
    return try add(.name(word.text), from: word.range.lowerBound)
  }

  private mutating func list() throws(SyntaxFailure) -> Expression.ID {
    let start = token.range.lowerBound
    try expect("[")
    var elements: [Expression.ID] = []
    while !token.isSymbol("]") {
      elements.append(try expression())
      guard try take(",") else { break }
    }
    try expect("]")
    return try add(.list(elements), from: start, elements)
  }

  private mutating func map() throws(SyntaxFailure) -> Expression.ID {
    let start = token.range.lowerBound
    try expect("{")
    var keys: [Expression.ID] = []
    var values: [Expression.ID] = []
    while !token.isSymbol("}") {
      keys.append(try expression())
      try expect(":")
      values.append(try expression())
      guard try take(",") else { break }
    }
    try expect("}")
    return try add(.map(keys: keys, values: values), from: start, keys + values)
  }

  /// `/databases/$(database)/documents/…`; the token is the slash, and the scanner stands behind it.
  private mutating func path(from start: Int) throws(SyntaxFailure) -> Expression.ID {
    var parts: [Expression.PathPart] = []
    var expressions: [Expression.ID] = []
    scanner.offset = start
    while scanner.peek() == UInt8(ascii: "/") {
      scanner.offset += 1
      if scanner.peek() == UInt8(ascii: "$"), scanner.peek(1) == UInt8(ascii: "(") {
        scanner.offset += 2
        try advance()
        let part = try expression()
        // Not `expect`: behind the parenthesis the path may go on.
        guard token.isSymbol(")") else {
          throw SyntaxFailure(range: token.range, message: "Missing ')' before \(token.quoted).")
        }
        scanner.offset = token.range.upperBound
        parts.append(.expression(part))
        expressions.append(part)
      } else if let binding = try pathBinding() {
        switch binding {
        case .literal(let text): parts.append(.segment(text))
        case .variable(let name): parts.append(.segment("{\(name)}"))
        case .rest(let name): parts.append(.segment("{\(name)=**}"))
        }
      } else {
        let text = pathText()
        guard !text.isEmpty else {
          let place = scanner.offset - 1
          throw SyntaxFailure(
            range: place..<place + 1, message: "Forward slash '/' found where identifier or binding expected.")
        }
        parts.append(.segment(text))
      }
    }
    token.range = start..<scanner.offset
    try advance()
    return try add(.path(parts), from: start, expressions)
  }
}
