// SPDX-License-Identifier: Apache-2.0

/// Parses a file of rules into a program, and continues after errors.
struct RulesParser {
  /// The maximum depth of nested expressions, as the emulator counts it.
  static let deepestExpression = 99
  /// The maximum recursion depth of the parser. One expression takes several levels.
  static let deepest = 500
  /// The maximum depth of blocks inside the outermost block.
  static let deepestBlock = 10
  /// The maximum number of segments in the path of a block, including its enclosing blocks.
  static let longestPath = 100
  private static let mostIssues = 100

  let source: SourceText
  var program: Program
  var issues: [RulesIssue] = []
  var scanner: RulesScanner
  var token = RulesToken(kind: .end, text: "", range: 0..<0)
  /// The end offset of the previous token.
  var lastEnd = 0
  var depth = 0
  /// The number of blocks around the current position, and the number of segments in their paths.
  var blockDepth = 0
  var pathLength = 0
  /// Whether the path of a block around the current position contains a `{name=**}`.
  var isBelowRest = false
  var scope = 0
  /// Whether the file has declared its version.
  private var hasVersion = false
  /// The names of the file's services.
  private var services: Set<String> = []

  init(_ source: SourceText, into program: Program) {
    self.source = source
    self.program = program
    scanner = RulesScanner(source.bytes)
  }

  mutating func parse() {
    guard !source.bytes.allSatisfy(RulesScanner.isBlank) else {
      issues.append(
        RulesIssue(
          fileName: source.name, line: 0, column: 0, currentOffset: 0, endOffset: 0,
          message: "Rules content empty. Compilation aborted."))
      return
    }
    program.scopes.append(Program.Scope(parent: nil, captures: []))
    scope = program.scopes.count - 1
    attempt { parser throws(SyntaxFailure) in try parser.advance() }
    while token.kind != .end, issues.count < Self.mostIssues {
      if token.isSymbol("}") {
        report(token.range, "Unexpected '}'.")
        skip()
      } else {
        attempt { parser throws(SyntaxFailure) in try parser.declaration() }
      }
    }
    if services.isEmpty, issues.isEmpty {
      report(lastEnd..<lastEnd, "The file has no 'service cloud.firestore { … }'.")
    }
  }

  mutating func report(_ range: Range<Int>, _ message: String, isError: Bool = true) {
    if issues.count < Self.mostIssues { issues.append(source.issue(range, message, isError: isError)) }
  }

  /// Performs a step. If it fails, reports the failure and continues after the next semicolon or block.
  mutating func attempt(_ step: (inout RulesParser) throws(SyntaxFailure) -> Void) {
    let level = (depth, blockDepth, pathLength, isBelowRest)
    let outer = scope
    do throws(SyntaxFailure) { try step(&self) } catch {
      (depth, blockDepth, pathLength, isBelowRest) = level
      scope = outer
      report(error.range, error.message)
      recover()
    }
  }

  /// Skips the rest of a statement or block, except for the brace that closes the enclosing block.
  private mutating func recover() {
    var open = 0
    while token.kind != .end {
      if token.isSymbol("{") {
        open += 1
      } else if token.isSymbol("}") {
        if open == 0 { return }
        open -= 1
        if open == 0 { return skip() }
      } else if open == 0, token.isSymbol(";") {
        return skip()
      }
      skip()
    }
  }

  /// Moves to the next valid token and reports errors on the way.
  private mutating func skip() {
    while true {
      let before = scanner.offset
      do throws(SyntaxFailure) {
        try advance()
        return
      } catch {
        if scanner.offset == before { scanner.offset += 1 }
        if scanner.offset >= source.bytes.count {
          token = RulesToken(kind: .end, text: "", range: source.bytes.count..<source.bytes.count)
          return
        }
      }
    }
  }

  mutating func advance() throws(SyntaxFailure) {
    lastEnd = token.range.upperBound
    token = try scanner.next()
  }

  func unexpected() -> SyntaxFailure {
    SyntaxFailure(range: token.range, message: "Unexpected \(token.quoted).")
  }

  mutating func take(_ symbol: String) throws(SyntaxFailure) -> Bool {
    guard token.isSymbol(symbol) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ symbol: String) throws(SyntaxFailure) {
    guard try take(symbol) else {
      throw SyntaxFailure(range: token.range, message: "Missing '\(symbol)' before \(token.quoted).")
    }
  }

  mutating func identifier(_ what: String) throws(SyntaxFailure) -> RulesToken {
    guard token.kind == .identifier, !Self.reserved.contains(token.text) else {
      throw SyntaxFailure(range: token.range, message: "Missing \(what) before \(token.quoted).")
    }
    let result = token
    try advance()
    return result
  }

  static let reserved: Set<String> = [
    "allow", "false", "function", "if", "import", "in", "is", "let", "match", "null", "return", "rules_version",
    "service", "true",
  ]

  private mutating func declaration() throws(SyntaxFailure) {
    switch token.text {
    case "rules_version" where token.kind == .identifier: try version()
    case "function" where token.kind == .identifier: try function()
    case "service" where token.kind == .identifier: try service()
    case "import" where token.kind == .identifier:
      throw SyntaxFailure(range: token.range, message: "Imports are not supported: write the functions into this file.")
    default:
      throw SyntaxFailure(
        range: token.range,
        message: "Unexpected \(token.quoted): a file of rules has 'rules_version', 'service' and 'function'.")
    }
  }

  private mutating func version() throws(SyntaxFailure) {
    let start = token.range
    if hasVersion { report(start, "Duplicate rules_version: a file has one, before everything else.") }
    hasVersion = true
    try advance()
    try expect("=")
    guard case .string(let text) = token.kind else {
      throw SyntaxFailure(range: token.range, message: "Write the version in quotes: rules_version = '2';")
    }
    switch text {
    case "1": program.version = 1
    case "2": program.version = 2
    default: report(start, "Unsupported rules version \(text).")
    }
    try advance()
    _ = try take(";")
  }

  private mutating func service() throws(SyntaxFailure) {
    try advance()
    let first = token.range.lowerBound
    var name = try identifier("the name of the service").text
    while try take(".") { name += "." + (try identifier("a name")).text }
    let range = first..<lastEnd
    if !services.insert(name).inserted { report(range, "Duplicate service name declaration.") }
    // The blocks of another service are parsed only for syntax errors, since their names have other meanings.
    let outerProgram = program
    defer { if name != "cloud.firestore" { program = outerProgram } }
    if name != "cloud.firestore" {
      report(range, "Rules of '\(name)' are ignored. Only 'cloud.firestore' is supported.", isError: false)
    }
    try expect("{")
    if token.isSymbol("}") { report(token.range, "The 'service' body must contain at least one declaration.") }
    let outer = scope
    program.scopes.append(Program.Scope(parent: outer, captures: []))
    scope = program.scopes.count - 1
    defer { scope = outer }
    while !token.isSymbol("}"), token.kind != .end {
      attempt { parser throws(SyntaxFailure) in
        switch parser.token.text {
        case "match" where parser.token.kind == .identifier:
          let block = try parser.match()
          if name == "cloud.firestore" { parser.program.roots.append(block) }
        case "function" where parser.token.kind == .identifier: try parser.function()
        default: throw parser.unexpected()
        }
      }
    }
    try expect("}")
  }
}
