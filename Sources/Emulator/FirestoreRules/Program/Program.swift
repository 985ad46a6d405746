// SPDX-License-Identifier: Apache-2.0
import LinearPatterns

/// The set of methods that a statement allows.
struct RulesMethods: OptionSet, Sendable {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }
  init(_ methods: RulesRequest.Method...) { self.init(rawValue: methods.reduce(0) { $0 | Self.bit($1) }) }

  func contains(_ method: RulesRequest.Method) -> Bool { rawValue & Self.bit(method) != 0 }

  private static func bit(_ method: RulesRequest.Method) -> UInt8 {
    switch method {
    case .get: 1
    case .list: 2
    case .create: 4
    case .update: 8
    case .delete: 16
    }
  }
}

/// The compiled content of rules files: tables whose entries refer to each other by index.
struct Program: Sendable {
  /// A scope for names: a service, a `match` block or a function.
  struct Scope: Sendable {
    var parent: Int?
    /// The visible path variables, outermost block first.
    var captures: [String]
    /// The functions that are declared here, by index.
    var functions: [Int] = []
    /// The parameters and the `let` variables so far, if the scope is a function.
    var locals: [String] = []
    var isFunction = false
  }

  struct Function: Sendable {
    var name: String
    var nameRange: Range<Int>
    var file: Int
    var parameters: [String]
    var parameterRanges: [Range<Int>]
    /// The values of the `let` variables, in order. Locals are the parameters followed by these variables.
    var bindings: [Expression.ID] = []
    var bindingNames: [String] = []
    var bindingRanges: [Range<Int>] = []
    var result: Expression.ID = 0
    var scope: Int
  }

  enum Segment: Sendable, Hashable {
    case literal(String)
    case variable(String)
    /// A variable for any number of segments: `{name=**}`.
    case rest(String)
  }

  struct Allow: Sendable {
    var methods: RulesMethods
    var condition: Expression.ID?
    var file: Int
    var line: Int
    var column: Int
    /// The range of the statement up to its condition, in UTF-8 bytes of the file.
    var range: Range<Int>
  }

  struct Match: Sendable {
    var segments: [Segment]
    var allows: [Allow] = []
    /// The indices of the nested blocks.
    var children: [Int] = []
  }

  var version = 1
  var sources: [SourceText]
  var expressions: [Expression] = []
  /// The index of the source file of each expression.
  var files: [Int] = []
  var scopes: [Scope] = []
  var functions: [Function] = []
  var matches: [Match] = []
  /// The compiled regular expressions of literal expressions.
  var patterns: [Expression.ID: Pattern] = [:]
  /// The outermost blocks of `service cloud.firestore`.
  var roots: [Int] = []
}

extension Program {
  /// Whether each function is steady: it has no parameters, reads documents, and otherwise depends only on the
  /// request's user and database. Its result is then valid until a document changes. No function calls itself, directly
  /// or indirectly.
  var steadyFunctions: [Bool] {
    var known: [Steadiness?] = Array(repeating: nil, count: functions.count)
    return functions.indices.map { place in
      let steadiness = steadiness(of: place, &known)
      return functions[place].parameters.isEmpty && steadiness.isSteady && steadiness.looksAtDocuments
    }
  }

  private struct Steadiness {
    var isSteady = true
    var looksAtDocuments = false
  }

  private func steadiness(of function: Int, _ known: inout [Steadiness?]) -> Steadiness {
    if let known = known[function] { return known }
    var found = Steadiness()
    var pending = functions[function].bindings + [functions[function].result]
    while let id = pending.popLast() {
      let kind = expressions[id].kind
      pending += kind.parts
      switch kind {
      case .function(let called, _):
        let inner = steadiness(of: called, &known)
        found.isSteady = found.isSteady && inner.isSteady
        found.looksAtDocuments = found.looksAtDocuments || inner.looksAtDocuments
      case .builtin(.get, _), .builtin(.exists, _): found.looksAtDocuments = true
      // Functions that read the result of a commit.
      case .builtin(.getAfter, _), .builtin(.existsAfter, _): found.isSteady = false
      // A remembered result would not log its values.
      case .builtin(.debug, _): found.isSteady = false
      case .capture(let place): if place > 0 { found.isSteady = false }
      case .requestProperty(let property): if property != .auth { found.isSteady = false }
      case .request, .resource, .field, .name, .undefined, .call, .unknownCall: found.isSteady = false
      case .constant, .local, .property, .index, .slice, .not, .negated, .and, .or, .operation, .isType, .conditional,
        .list, .map, .path, .builtin, .method:
        break
      }
    }
    known[function] = found
    return found
  }
}

/// An immutable list at a fixed address. Reading a part of an element needs no reference counting for the other parts.
///
/// The list contains a pointer, so the compiler cannot verify that sending the list to another thread is safe. Sending
/// is safe because `init` writes the memory before another thread can access the list. Later the memory is only read,
/// and the elements are `Sendable`. The list cannot be copied, so it has one owner, and `deinit` frees the memory when
/// no reader remains.
struct FixedList<Element: Sendable>: ~Copyable, @unchecked Sendable {
  private let elements: UnsafeMutableBufferPointer<Element>

  init(_ list: [Element]) {
    elements = .allocate(capacity: list.count)
    _ = elements.initialize(from: list)
  }

  deinit {
    elements.deinitialize()
    elements.deallocate()
  }

  var indices: Range<Int> { elements.indices }

  subscript(place: Int) -> Element {
    @inline(__always) _read { yield elements[place] }
  }
}
