// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension RulesParser {
  static let tooDeep = "Expression is too complex to evaluate safely."

  /// - Parameter isChain: whether each part increases the depth, as if the parts were nested in each other. True for
  ///   `a && b && c`.
  mutating func add(
    _ kind: Expression.Kind, from start: Int, _ parts: [Expression.ID] = [], isChain: Bool = false
  ) throws(SyntaxFailure) -> Expression.ID {
    let depths = parts.enumerated().map { (place, part) -> Int in
      program.expressions[part].depth + (isChain ? parts.count - max(place, 1) : 1)
    }
    let level = depths.max() ?? 1
    let range = start..<max(lastEnd, start)
    if level > Self.deepestExpression { throw SyntaxFailure(range: range, message: Self.tooDeep) }
    program.expressions.append(Expression(kind: kind, range: range, scope: scope, depth: level))
    program.files.append(source.file)
    return program.expressions.count - 1
  }

  mutating func expression() throws(SyntaxFailure) -> Expression.ID {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.deepest { throw SyntaxFailure(range: token.range, message: Self.tooDeep) }
    let start = token.range.lowerBound
    let condition = try operand(weakest: 0)
    guard try take("?") else { return condition }
    let first = try expression()
    try expect(":")
    let second = try expression()
    return try add(.conditional(condition, then: first, otherwise: second), from: start, [condition, first, second])
  }

  /// The binding strength of an operator; `nil` for other tokens.
  private var precedence: Int? {
    switch token.kind {
    case .symbol:
      switch token.text {
      case "||": 1
      case "&&": 2
      case "==", "!=": 5
      case "<", "<=", ">", ">=": 6
      case "+", "-": 7
      case "*", "/", "%": 8
      default: nil
      }
    case .identifier: token.text == "in" ? 3 : token.text == "is" ? 4 : nil
    default: nil
    }
  }

  /// Parses an expression whose operators bind at least as tightly as `weakest`.
  private mutating func operand(weakest: Int) throws(SyntaxFailure) -> Expression.ID {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.deepest { throw SyntaxFailure(range: token.range, message: Self.tooDeep) }
    let start = token.range.lowerBound
    var left = try unary()
    while let strength = precedence, strength > weakest {
      let sign = token
      try advance()
      switch sign.text {
      case "&&", "||":
        // A chain of the same operator, of any length, is one expression.
        var parts = [left, try operand(weakest: strength)]
        while token.isSymbol(sign.text) {
          try advance()
          parts.append(try operand(weakest: strength))
        }
        left = try add(sign.text == "&&" ? .and(parts) : .or(parts), from: start, parts, isChain: true)
      case "is":
        guard token.kind == .identifier, let type = RuleType(rawValue: token.text) else {
          let known = RuleType.allCases.map(\.rawValue).joined(separator: ",")
          throw SyntaxFailure(
            range: token.range,
            message: "An unsupported type identifier was used with the 'is' operator. Received \(token.text). "
              + "Expected one of \(known)")
        }
        try advance()
        left = try add(.isType(left, type), from: start, [left])
      default:
        guard let meaning = BinaryOperator(rawValue: sign.text) else { throw unexpected() }
        if meaning == .divided, let byte = scanner.bytes[safe: sign.range.upperBound],
          !RulesScanner.isBlank(byte)
        {
          throw SyntaxFailure(
            range: sign.range, message: "A '/' before a name begins a path: to divide, write a space after it."
          )
        }
        let right = try operand(weakest: strength)
        left = try add(.operation(meaning, left, right), from: start, [left, right])
      }
    }
    return left
  }

  private mutating func unary() throws(SyntaxFailure) -> Expression.ID {
    depth += 1
    defer { depth -= 1 }
    if depth > Self.deepest { throw SyntaxFailure(range: token.range, message: Self.tooDeep) }
    let start = token.range.lowerBound
    if try take("!") {
      let part = try unary()
      return try add(.not(part), from: start, [part])
    }
    if token.isSymbol("-") {
      if scanner.text(token.range.upperBound..<min(token.range.upperBound + 19, scanner.bytes.count))
        == "9223372036854775808"
      {
        // The smallest integer is handled here, because its digits without the sign are out of range.
        scanner.offset = token.range.upperBound + 19
        try advance()
        return try postfix(add(.constant(.int(.min)), from: start), from: start)
      }
      try advance()
      if token.isSymbol("-") {
        throw SyntaxFailure(
          range: token.range, message: "A '-' cannot follow another: write the second in parentheses.")
      }
      let part = try unary()
      return try add(.negated(part), from: start, [part])
    }
    if token.isSymbol("--") || token.isSymbol("++") {
      throw SyntaxFailure(
        range: token.range, message: "Increment (++) and decrement (--) operators are not supported.")
    }
    return try postfix(primary(), from: start)
  }

  /// Parses the parts that can follow a value: `.name`, `.name(…)`, `[…]`.
  private mutating func postfix(_ first: Expression.ID, from start: Int) throws(SyntaxFailure) -> Expression.ID {
    var value = first
    while true {
      if try take(".") {
        guard token.kind == .identifier else {
          throw SyntaxFailure(range: token.range, message: "Missing a name before \(token.quoted).")
        }
        let name = token
        try advance()
        if token.isSymbol("(") {
          let arguments = try self.arguments()
          value = try method(name, of: value, arguments, from: start)
        } else if case .name(let package) = program.expressions[value].kind, Builtin.packages.contains(package) {
          throw SyntaxFailure(
            range: name.range, message: "\(package) is a package and cannot be used as variable name.")
        } else {
          value = try add(.property(value, FieldPath(name.text)), from: start, [value])
        }
      } else if try take("[") {
        value = try subscripted(value, from: start)
      } else {
        return value
      }
    }
  }

  private mutating func method(
    _ name: RulesToken, of value: Expression.ID, _ arguments: [Expression.ID], from start: Int
  ) throws(SyntaxFailure) -> Expression.ID {
    if case .name(let package) = program.expressions[value].kind, Builtin.packages.contains(package) {
      // A package name is not a variable.
      program.expressions[value].kind = .undefined(package)
      if let builtin = Builtin(rawValue: package + "." + name.text) {
        return try add(.builtin(builtin, arguments), from: start, arguments)
      }
      report(name.range, "Invalid function name: \(package).\(name.text).", isError: false)
      return try add(.unknownCall(package + "." + name.text), from: start, arguments)
    }
    if let method = Method(rawValue: name.text) {
      return try add(.method(value, method, arguments), from: start, [value] + arguments)
    }
    report(name.range, "Invalid function name: \(name.text).", isError: false)
    return try add(.unknownCall(name.text), from: start, [value] + arguments)
  }

  /// Parses `[i]`, `[i:j]`, `[i:]` or `[:j]`, beginning after the bracket.
  private mutating func subscripted(_ value: Expression.ID, from start: Int) throws(SyntaxFailure) -> Expression.ID {
    var lower: Expression.ID?
    if !token.isSymbol(":") { lower = try expression() }
    if try take(":") {
      var upper: Expression.ID?
      if !token.isSymbol("]") { upper = try expression() }
      try expect("]")
      return try add(.slice(value, lower, upper), from: start, [value] + [lower, upper].compactMap { $0 })
    }
    try expect("]")
    guard let lower else { throw unexpected() }
    return try add(.index(value, lower), from: start, [value, lower])
  }

  mutating func arguments() throws(SyntaxFailure) -> [Expression.ID] {
    try expect("(")
    var arguments: [Expression.ID] = []
    while !token.isSymbol(")") {
      arguments.append(try expression())
      guard try take(",") else { break }
    }
    try expect(")")
    return arguments
  }
}

extension Array {
  fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}

extension RulesParser {
  /// Parses a literal, a name, a call, a path, or an expression in parentheses.
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

  /// Parses `/databases/$(database)/documents/…`; the token is the slash, and the scanner is after it.
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
        // Not `expect`: the path may continue after the parenthesis.
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
