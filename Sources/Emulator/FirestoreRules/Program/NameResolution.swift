// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import LinearPatterns

/// Compiles files of rules to a program, and records all errors and warnings.
struct Compilation {
  private(set) var issues: [RulesIssue] = []

  /// - Returns: `nil` if there is an error.
  mutating func compile(_ files: [RulesFile]) -> Program? {
    let size = files.reduce(0) { $0 + $1.content.utf8.count }
    guard let first = files.first, size <= RulesLimits.sourceBytes else {
      let text =
        files.isEmpty
        ? "There are no rules." : "The rules have \(size) bytes; at most \(RulesLimits.sourceBytes) are allowed."
      issues.append(Self.issue(files.first?.name ?? "", text))
      return nil
    }
    var program = Program(sources: files.enumerated().map { SourceText($1, file: $0) })
    for source in program.sources {
      var parser = RulesParser(source, into: program)
      parser.parse()
      program = parser.program
      issues += parser.issues
    }
    if issues.contains(where: \.isError) { return nil }
    if program.version == 1 {
      issues.append(
        Self.issue(
          first.name, "Ruleset uses old version (version [1]). Please update to the latest version (version [2]).",
          isError: false))
    }
    var resolution = NameResolution(program)
    program = resolution.resolve()
    issues += resolution.issues
    issues += NameResolution.review(program)
    readPatterns(&program)
    return issues.contains(where: \.isError) ? nil : program
  }

  private static func issue(_ file: String, _ message: String, isError: Bool = true) -> RulesIssue {
    RulesIssue(
      fileName: file, line: 0, column: 0, currentOffset: 0, endOffset: 0, message: message, isError: isError)
  }

  /// Compiles the regular expressions in literals.
  private mutating func readPatterns(_ program: inout Program) {
    for expression in program.expressions {
      guard case .method(_, let method, let arguments) = expression.kind,
        [.matches, .replace, .split].contains(method), let id = arguments.first,
        case .constant(.string(let source)) = program.expressions[id].kind
      else { continue }
      do throws(PatternError) { program.patterns[id] = try Pattern(re2: source) } catch {
        issues.append(
          program.sources[program.files[id]].issue(
            program.expressions[id].range, "Invalid regular expression pattern. Pattern: \(source). \(error.text)"))
      }
    }
  }
}

/// Resolves every name of a program, and reports unknown names.
struct NameResolution {
  private var program: Program
  private(set) var issues: [RulesIssue] = []

  init(_ program: Program) { self.program = program }

  /// - Returns: the program without unresolved names.
  mutating func resolve() -> Program {
    for id in program.expressions.indices {
      let expression = program.expressions[id]
      switch expression.kind {
      case .name(let name): program.expressions[id].kind = variable(name, at: id)
      case .call(let name, let arguments): program.expressions[id].kind = call(name, arguments, at: id)
      case .property(let whole, let path):
        if case .request = program.expressions[whole].kind, let property = RequestProperty(rawValue: path.first) {
          program.expressions[id].kind = .requestProperty(property)
        } else if let field = field(path, of: whole) {
          program.expressions[id].kind = .field(field)
        }
      default: break
      }
    }
    return program
  }

  private func field(_ name: FieldPath, of data: Expression.ID) -> Expression.Field? {
    guard case .property(let document, let member) = program.expressions[data].kind, member.first == "data" else {
      return nil
    }
    switch program.expressions[document].kind {
    case .resource: return Expression.Field(data: data, document: document, origin: .stored, name: name)
    case .requestProperty(.resource):
      return Expression.Field(data: data, document: document, origin: .written, name: name)
    default: return nil
    }
  }

  private static let mostIssues = 100

  private mutating func report(_ id: Expression.ID, _ message: String, isError: Bool) {
    if issues.count >= Self.mostIssues { return }
    issues.append(program.sources[program.files[id]].issue(program.expressions[id].range, message, isError: isError))
  }

  private mutating func variable(_ name: String, at id: Expression.ID) -> Expression.Kind {
    let scope = program.scopes[program.expressions[id].scope]
    if let place = scope.locals.lastIndex(of: name) { return .local(place) }
    if let place = scope.captures.lastIndex(of: name) { return .capture(place) }
    switch name {
    case "request": return .request
    case "resource": return .resource
    default:
      report(id, "Invalid variable name: \(name).", isError: false)
      return .undefined(name)
    }
  }

  private mutating func call(_ name: String, _ arguments: [Expression.ID], at id: Expression.ID) -> Expression.Kind {
    var scope: Int? = program.expressions[id].scope
    while let place = scope {
      if let function = program.scopes[place].functions.first(where: { program.functions[$0].name == name }) {
        let expected = program.functions[function].parameters.count
        if expected != arguments.count {
          report(id, "Incorrect number of arguments supplied to function: \(name).", isError: false)
        }
        return .function(function, arguments)
      }
      scope = program.scopes[place].parent
    }
    if let builtin = Builtin(rawValue: name) { return .builtin(builtin, arguments) }
    report(id, "Invalid function name: \(name).", isError: false)
    return .unknownCall(name)
  }
}

extension NameResolution {
  /// Reports recursive functions, and unused variables and functions.
  static func review(_ program: Program) -> [RulesIssue] {
    var issues: [RulesIssue] = []
    var calls: [[Int]] = Array(repeating: [], count: program.functions.count)
    var usedLocals: [Set<Int>] = Array(repeating: [], count: program.functions.count)
    for (place, function) in program.functions.enumerated() {
      var pending = function.bindings + [function.result]
      while let id = pending.popLast() {
        let kind = program.expressions[id].kind
        if case .function(let called, _) = kind { calls[place].append(called) }
        if case .local(let local) = kind { usedLocals[place].insert(local) }
        pending += kind.parts
      }
    }
    var lengths: [Int?] = Array(repeating: nil, count: calls.count)
    for (place, function) in program.functions.enumerated() {
      let source = program.sources[function.file]
      for (index, name) in function.parameters.enumerated()
      where !usedLocals[place].contains(index) && issues.count < mostIssues {
        issues.append(source.issue(function.parameterRanges[index], "Unused variable: \(name).", isError: false))
      }
      for (index, name) in function.bindingNames.enumerated()
      where !usedLocals[place].contains(function.parameters.count + index) && issues.count < mostIssues {
        issues.append(source.issue(function.bindingRanges[index], "Unused variable: \(name).", isError: false))
      }
      if calls[place].contains(place) {
        issues.append(source.issue(function.nameRange, "Recursive call is not allowed."))
      } else if let circle = circle(from: place, calls), circle.min() == place {
        let names = circle.map { program.functions[$0].name }.joined(separator: ",")
        issues.append(source.issue(function.nameRange, "Detected a call cycle between [\(names)] functions."))
      }
    }
    if issues.contains(where: \.isError) { return issues }
    for (place, function) in program.functions.enumerated()
    where length(from: place, calls, &lengths) > RulesLimits.callDepth + 1 {
      issues.append(
        program.sources[function.file].issue(
          function.nameRange, "Maximum allowed call depth of \(RulesLimits.callDepth) is reached."))
    }
    return issues
  }

  /// The number of functions in the longest chain of calls from a function, without cycles.
  private static func length(from start: Int, _ calls: [[Int]], _ known: inout [Int?]) -> Int {
    var pending = [start]
    while let place = pending.last {
      if let next = calls[place].first(where: { known[$0] == nil }) {
        pending.append(next)
      } else {
        known[place] = 1 + (calls[place].compactMap { known[$0] }.max() ?? 0)
        pending.removeLast()
      }
    }
    return known[start] ?? 1
  }

  /// The shortest cycle of calls from a function back to itself.
  private static func circle(from start: Int, _ calls: [[Int]]) -> [Int]? {
    var before: [Int: Int] = [:]
    var pending = [start]
    var next = 0
    while next < pending.count {
      let place = pending[next]
      next += 1
      for called in calls[place] {
        if called == start {
          var way = [place]
          while let last = way.last, last != start, let earlier = before[last] { way.append(earlier) }
          return way.reversed()
        }
        if before[called] == nil {
          before[called] = place
          pending.append(called)
        }
      }
    }
    return nil
  }
}

extension Expression.Kind {
  /// The parts of the expression.
  var parts: [Expression.ID] {
    switch self {
    case .constant, .name, .capture, .local, .request, .resource, .requestProperty, .undefined, .unknownCall: []
    case .field(let field): [field.data]
    case .property(let part, _), .not(let part), .negated(let part), .isType(let part, _): [part]
    case .index(let whole, let index): [whole, index]
    case .slice(let whole, let lower, let upper): [whole] + [lower, upper].compactMap { $0 }
    case .and(let parts), .or(let parts), .list(let parts): parts
    case .call(_, let parts), .function(_, let parts), .builtin(_, let parts): parts
    case .operation(_, let left, let right): [left, right]
    case .conditional(let condition, let first, let second): [condition, first, second]
    case .map(let keys, let values): zip(keys, values).flatMap { [$0, $1] }
    case .path(let parts):
      parts.compactMap { part in
        switch part {
        case .segment: nil
        case .expression(let id): id
        }
      }
    case .method(let receiver, _, let arguments): [receiver] + arguments
    }
  }
}
