// SPDX-License-Identifier: Apache-2.0

extension RulesParser {
  /// - Returns: the index of the block.
  mutating func match() throws(SyntaxFailure) -> Int {
    let keyword = token.range
    blockDepth += 1
    defer { blockDepth -= 1 }
    if blockDepth > Self.deepestBlock + 1 {
      throw SyntaxFailure(
        range: keyword, message: "Maximum allowed resource rule depth of \(Self.deepestBlock) is reached.")
    }
    // The scanner is after 'match'. The path is read byte by byte.
    let segments = try matchPath()
    let isBelowRest = isBelowRest
    defer { self.isBelowRest = isBelowRest }
    if segments.contains(where: { if case .rest = $0 { true } else { false } }) { self.isBelowRest = true }
    pathLength += segments.count
    defer { pathLength -= segments.count }
    if pathLength > Self.longestPath {
      report(keyword, "Maximum allowed path length of \(Self.longestPath) is reached.")
    }
    try advance()
    try expect("{")
    let outer = scope
    let captures = segments.compactMap { segment -> String? in
      switch segment {
      case .literal: nil
      case .variable(let name), .rest(let name): name
      }
    }
    for (place, name) in captures.enumerated() where captures[..<place].contains(name) {
      report(keyword, "Variable \(name) already exists in the PathTemplate.")
    }
    program.scopes.append(Program.Scope(parent: outer, captures: program.scopes[outer].captures + captures))
    scope = program.scopes.count - 1
    defer { scope = outer }
    program.matches.append(Program.Match(segments: segments))
    let block = program.matches.count - 1
    if token.isSymbol("}") { report(token.range, "The 'match' body must contain at least one declaration.") }
    while !token.isSymbol("}"), token.kind != .end {
      attempt { parser throws(SyntaxFailure) in
        switch parser.token.text {
        case "match" where parser.token.kind == .identifier:
          let child = try parser.match()
          parser.program.matches[block].children.append(child)
        case "function" where parser.token.kind == .identifier: try parser.function()
        case "allow" where parser.token.kind == .identifier:
          let statement = try parser.allow()
          parser.program.matches[block].allows.append(statement)
        case "/":
          throw SyntaxFailure(range: parser.token.range, message: "Missing 'match' keyword before path.")
        default: throw parser.unexpected()
        }
      }
    }
    try expect("}")
    return block
  }

  /// Parses `/a/{b}/{c=**}`, from the scanner's position to the next space or brace.
  private mutating func matchPath() throws(SyntaxFailure) -> [Program.Segment] {
    try scanner.skipBlanks()
    var segments: [Program.Segment] = []
    var hasRest = false
    while scanner.peek() == UInt8(ascii: "/") {
      scanner.offset += 1
      let start = scanner.offset
      let segment = try pathSegment()
      let range = start..<scanner.offset
      switch segment {
      case .rest where hasRest || isBelowRest:
        report(
          range,
          "Invalid glob match expression. Only one glob match is permitted in a match declaration path.")
      case .rest: hasRest = true
      case .literal, .variable:
        if hasRest, program.version == 1 {
          report(
            range,
            "Invalid glob match expression. Glob matches are permitted as the last segment in a match declaration path."
          )
        }
      }
      segments.append(segment)
    }
    guard !segments.isEmpty else {
      let start = scanner.offset
      throw SyntaxFailure(
        range: start..<start, message: "Missing a path after 'match': write match /collection/{document}.")
    }
    return segments
  }

  private mutating func pathSegment() throws(SyntaxFailure) -> Program.Segment {
    let start = scanner.offset
    if let binding = try pathBinding() { return binding }
    let text = stars() ?? pathText()
    guard !text.isEmpty else {
      throw SyntaxFailure(
        range: start - 1..<start, message: "Forward slash '/' found where identifier or binding expected.")
    }
    return .literal(text)
  }

  /// Parses `*` and `**`, which are literals here.
  private mutating func stars() -> String? {
    let start = scanner.offset
    while scanner.peek() == UInt8(ascii: "*") { scanner.offset += 1 }
    return scanner.offset > start ? scanner.text(start..<scanner.offset) : nil
  }

  /// Parses `{name}` or `{name=**}`.
  mutating func pathBinding() throws(SyntaxFailure) -> Program.Segment? {
    guard scanner.peek() == UInt8(ascii: "{") else { return nil }
    let start = scanner.offset
    scanner.offset += 1
    let name = try scanner.next()
    guard name.kind == .identifier, !Self.reserved.contains(name.text) else {
      throw SyntaxFailure(range: name.range, message: "Missing the name of a variable before \(name.quoted).")
    }
    var isRest = false
    var next = try scanner.next()
    if next.isSymbol("=") {
      next = try scanner.next()
      if next.isSymbol("**") {
        isRest = true
      } else if !next.isSymbol("*") {
        throw SyntaxFailure(range: next.range, message: "Missing '**' before \(next.quoted).")
      }
      next = try scanner.next()
    }
    guard next.isSymbol("}") else {
      throw SyntaxFailure(range: start..<next.range.upperBound, message: "Missing '}' before \(next.quoted).")
    }
    return isRest ? .rest(name.text) : .variable(name.text)
  }

  /// Reads the literal segment at the scanner's position; empty if there is none.
  mutating func pathText() -> String {
    let start = scanner.offset
    // A segment can contain one pair of parentheses, as in (default).
    if scanner.peek() == UInt8(ascii: "(") {
      var end = start + 1
      while end < scanner.bytes.count, Self.isPathByte(scanner.bytes[end]) { end += 1 }
      guard end > start + 1, end < scanner.bytes.count, scanner.bytes[end] == UInt8(ascii: ")") else { return "" }
      scanner.offset = end + 1
    } else {
      while let byte = scanner.peek(), Self.isPathByte(byte) || isEscape { scanner.offset += 1 }
    }
    return scanner.text(start..<scanner.offset)
  }

  /// Whether an escape such as `%28` follows. Escapes are literal text.
  private var isEscape: Bool {
    scanner.peek() == UInt8(ascii: "%")
      && (1...2).allSatisfy { ahead in scanner.peek(ahead).map { Character(Unicode.Scalar($0)).isHexDigit } ?? false }
  }

  private static func isPathByte(_ byte: UInt8) -> Bool {
    RulesScanner.isName(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "~")
      || byte == UInt8(ascii: "@") || byte == UInt8(ascii: ":")
  }
}

extension RulesParser {
  /// Parses `allow read, write: if condition;`.
  private mutating func allow() throws(SyntaxFailure) -> Program.Allow {
    let start = token.range.lowerBound
    let place = source.lineAndColumn(of: start)
    try advance()
    var statement = Program.Allow(
      methods: [], condition: nil, file: source.file, line: place.line, column: place.column, range: token.range)
    repeat {
      let name = try identifier("the name of a method")
      statement.range = start..<name.range.upperBound
      if let methods = Self.methods(name.text.lowercased()) {
        statement.methods.formUnion(methods)
      } else {
        report(name.range, "Invalid method name: \(name.text).", isError: false)
      }
    } while try take(",")
    if token.isWord("if") { throw SyntaxFailure(range: token.range, message: "Missing ':' before 'if' condition.") }
    if try take(":") {
      guard token.isWord("if") else {
        throw SyntaxFailure(range: token.range, message: "Missing 'if' before conditional expression.")
      }
      try advance()
      if token.isSymbol(";") || token.isSymbol("}") {
        throw SyntaxFailure(range: token.range, message: "Missing conditional expression after 'if'.")
      }
      statement.condition = try expression()
    }
    if try !take(";"), !token.isSymbol("}"), !token.isWord("allow"), !token.isWord("match"), !token.isWord("function") {
      throw unexpected()
    }
    return statement
  }

  private static func methods(_ name: String) -> RulesMethods? {
    switch name {
    case "read": RulesMethods(.get, .list)
    case "write": RulesMethods(.create, .update, .delete)
    default: RulesRequest.Method(rawValue: name).map { RulesMethods($0) }
    }
  }

  /// Parses `function name(a, b) { let c = …; return …; }`.
  mutating func function() throws(SyntaxFailure) {
    try advance()
    let name = try identifier("the name of the function")
    try expect("(")
    var parameters: [RulesToken] = []
    if !token.isSymbol(")") {
      repeat { parameters.append(try identifier("the name of a parameter")) } while try take(",")
    }
    try expect(")")
    for (place, parameter) in parameters.enumerated()
    where parameters[..<place].contains(where: { $0.text == parameter.text }) {
      report(parameter.range, "Variable \(parameter.text) is already defined.")
    }
    if parameters.count > RulesLimits.arguments {
      report(
        name.range,
        "Maximum allowed function arguments of \(RulesLimits.arguments) for function \(name.text) is reached.")
    }
    try expect("{")
    let outer = scope
    defer { scope = outer }
    program.scopes.append(
      Program.Scope(
        parent: outer, captures: program.scopes[outer].captures, locals: parameters.map(\.text), isFunction: true))
    scope = program.scopes.count - 1
    var function = Program.Function(
      name: name.text, nameRange: name.range, file: source.file, parameters: parameters.map(\.text),
      parameterRanges: parameters.map(\.range), scope: scope)
    while token.isWord("let") {
      if program.version == 1 { report(token.range, "Let bindings are not allowed in rules_version=\"1\";") }
      try advance()
      let binding = try identifier("the name of a variable")
      if program.scopes[scope].locals.contains(binding.text) {
        report(binding.range, "The identifier [\(binding.text)] is already bound in the current scope.")
      }
      try expect("=")
      function.bindings.append(try expression())
      function.bindingNames.append(binding.text)
      function.bindingRanges.append(binding.range)
      // Only later statements see the variable, because each `let` opens a separate scope.
      program.scopes.append(program.scopes[scope])
      scope = program.scopes.count - 1
      program.scopes[scope].locals.append(binding.text)
      try expect(";")
    }
    if function.bindings.count > RulesLimits.variables {
      report(
        name.range, "Maximum allowed variable count of \(RulesLimits.variables) for a given function has been reached.")
    }
    guard token.isWord("return") else {
      throw SyntaxFailure(range: token.range, message: "Missing 'return' before \(token.quoted).")
    }
    try advance()
    function.result = try expression()
    _ = try take(";")
    try expect("}")
    declare(function, in: outer)
  }

  private mutating func declare(_ function: Program.Function, in outer: Int) {
    if program.scopes[outer].functions.contains(where: { program.functions[$0].name == function.name }) {
      report(function.nameRange, "Function \(function.name) is already defined.")
      return
    }
    program.functions.append(function)
    program.scopes[outer].functions.append(program.functions.count - 1)
  }
}
