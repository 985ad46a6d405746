// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import LinearPatterns

/// Evaluates the expressions of a program for one request. Evaluation is lazy, also for parameters and `let` variables
/// of functions.
struct Evaluator: ~Copyable {
  /// A variable of the current function call.
  enum Local {
    /// An expression that is not evaluated yet; `frame` is the start of its variables.
    case pending(Expression.ID, frame: Int)
    case value(RuleValue)
    case failed(RuleFailure)
  }

  /// The meaning of the variable `resource`.
  enum Resource {
    /// The stored document of the request, not read yet.
    case stored
    /// A document, or null.
    case document(RuleDocument?)
    /// The values and constraints that are known about the data of a query's possible results.
    case known(RuleEntries)
    /// The data of a query's possible results, as if they had only the fields that the query names.
    case view(RuleEntries, AbsentFields)
    /// A document that must not be read, to find out which conditions are true or fail without it.
    case hidden
  }

  let ruleset: Ruleset
  private let shared: SharedRequest
  var documents: DocumentAccess
  var resource: Resource
  /// The path of the request. A query may not determine all of its segments.
  var path: MatchedPath
  /// The variables of paths.
  var captures: [MatchedPath.Capture]
  var coverage: RulesCoverage
  /// The results of functions for earlier requests.
  var memory: FunctionMemory
  /// The counted values since the start of a function whose result will be remembered.
  var outcomes: [FunctionMemory.SeenOutcome] = []
  var isRecording = false
  /// The remaining numbers of expressions and of steps. They limit the time of the evaluation.
  var remainingExpressions = RulesLimits.expressions
  var remainingWork = RulesLimits.work
  var locals: [Local] = []
  var frame = 0
  /// The values passed to `debug`, with their lines. Only this evaluation adds values; repeated evaluations do not.
  var debugged: [RulesRemark] = []
  /// The evaluated parts; `nil` unless requested.
  var seen: [Seen]?
  /// The document `request.resource`; `nil` before its first use.
  private var newDocument: RuleDocument??

  init(
    _ ruleset: Ruleset, _ shared: SharedRequest, _ documents: consuming DocumentAccess,
    _ room: consuming RulesRoom = RulesRoom()
  ) {
    self.ruleset = ruleset
    self.shared = shared
    self.documents = documents
    resource = .stored
    path = MatchedPath(shared.value.database, shared.value.path, in: room.ends)
    captures = room.captures
    coverage = room.coverage
    memory = room.memory
    coverage.makeRoom(for: ruleset.kinds.indices)
  }

  /// Ends the evaluation and returns the counts and buffers for the next decision.
  consuming func leftRoom() -> RulesRoom {
    var room = RulesRoom()
    room.coverage = coverage
    room.memory = memory
    room.ends = path.ends
    room.captures = captures
    return room
  }

  /// Creates an evaluator, for another request about the same document, that does not read the stored document.
  func blind(_ request: SharedRequest) -> Evaluator {
    var blind = Evaluator(ruleset, request, documents)
    blind.resource = .hidden
    blind.path = path
    return blind
  }

  /// Creates an evaluator for the same request that counts nothing. It shares the documents that this evaluator has
  /// read.
  func again() -> Evaluator {
    var again = Evaluator(ruleset, shared, documents)
    (again.resource, again.path) = (resource, path)
    return again
  }

  func kind(of id: Expression.ID) -> Expression.Kind { ruleset.kinds[id] }

  var request: RulesRequest { _read { yield shared.value } }
  var program: Program { _read { yield ruleset.program } }

  var isProof: Bool {
    switch resource {
    case .known, .view: true
    case .stored, .document, .hidden: false
    }
  }

  /// Whether a condition is true.
  mutating func holds(_ condition: Expression.ID) throws(RuleFailure) -> Bool {
    locals.removeAll(keepingCapacity: true)
    frame = 0
    return try truth(of: condition)
  }

  mutating func value(_ id: Expression.ID) throws(RuleFailure) -> RuleValue {
    remainingExpressions -= 1
    if remainingExpressions < 0 { throw .tooManyExpressions }
    do throws(RuleFailure) {
      let value = try evaluate(id)
      coverage.count(value, of: id)
      if isRecording {
        outcomes.append(FunctionMemory.SeenOutcome(expression: id, outcome: RulesCoverage.Outcome(value)))
      }
      if seen != nil { note(.success(value), of: id) }
      return value
    } catch {
      coverage.countUndefined(id)
      if isRecording { outcomes.append(FunctionMemory.SeenOutcome(expression: id, outcome: .undefined)) }
      if seen != nil { note(.failure(error), of: id) }
      throw error
    }
  }

  /// Subtracts steps from the remaining work, in proportion to the size of values.
  mutating func work(_ steps: Int) throws(RuleFailure) {
    remainingWork -= steps
    if remainingWork < 0 { throw .tooMuchWork }
  }

  private mutating func evaluate(_ id: Expression.ID) throws(RuleFailure) -> RuleValue {
    switch ruleset.kinds[id] {
    case .constant(let constant): return RuleValue(constant)
    case .capture(let place):
      guard let value = path.value(captures[place]) else { throw .nullValue }
      return value
    case .local(let place): return try local(place)
    case .request: return requestMap()
    case .resource: return try resourceValue()
    case .requestProperty(let property):
      remainingExpressions -= 1
      return try requestValue(property)
    case .name(let name), .undefined(let name):
      // Evaluating an undeclared name fails like null.
      _ = name
      throw .nullValue
    case .property(let whole, let name): return try property(name, of: value(whole))
    case .field(let field): return try value(field)
    case .index(let whole, let index): return try element(of: value(whole), at: value(index))
    case .slice(let whole, let lower, let upper): return try slice(whole, lower, upper)
    case .not(let part): return try negation(of: value(part))
    case .negated(let part): return try negative(value(part))
    case .and(let parts): return try .bool(conjunction(parts))
    case .or(let parts): return try .bool(disjunction(parts))
    case .operation(let sign, let left, let right): return try operation(sign, value(left), value(right))
    case .isType(let part, let type): return try isType(value(part), type)
    case .conditional(let condition, let first, let second):
      return try truth(of: condition) ? value(first) : value(second)
    case .list(let parts): return try .list(values(parts))
    case .map(let keys, let values): return try map(keys, values)
    case .path(let parts): return try path(parts)
    case .function(let function, let arguments): return try call(function, arguments)
    case .builtin(let builtin, let arguments): return try call(builtin, arguments)
    case .method(let receiver, let method, let arguments): return try call(method, on: receiver, arguments)
    case .call(let name, _), .unknownCall(let name): throw .unknownFunction(name)
    }
  }

  mutating func values(_ parts: [Expression.ID]) throws(RuleFailure) -> [RuleValue] {
    var values: [RuleValue] = []
    values.reserveCapacity(parts.count)
    for part in parts { values.append(try value(part)) }
    return values
  }

  private mutating func truth(of id: Expression.ID) throws(RuleFailure) -> Bool {
    let value = try value(id)
    guard case .bool(let isTrue) = value else { throw .type(received: value.typeName, expected: "bool") }
    return isTrue
  }

  /// Evaluates a conjunction. It is false if any part is false, even if other parts fail.
  private mutating func conjunction(_ parts: [Expression.ID]) throws(RuleFailure) -> Bool {
    var failure: RuleFailure?
    for part in parts {
      do throws(RuleFailure) { if try !truth(of: part) { return false } } catch {
        if error.isFinal { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return true
  }

  /// Evaluates a disjunction. It is true if any part is true, even if other parts fail.
  private mutating func disjunction(_ parts: [Expression.ID]) throws(RuleFailure) -> Bool {
    var failure: RuleFailure?
    for part in parts {
      do throws(RuleFailure) { if try truth(of: part) { return true } } catch {
        if error.isFinal { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return false
  }

  private mutating func map(_ keys: [Expression.ID], _ values: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    var entries = RuleEntries()
    for (key, value) in zip(keys, values) {
      let name = try self.value(key)
      guard case .string(let text) = name else { throw .type(received: name.typeName, expected: "string") }
      entries[text] = try self.value(value)
    }
    return .map(.entries(entries))
  }

  private mutating func path(_ parts: [Expression.PathPart]) throws(RuleFailure) -> RuleValue {
    var segments: [String] = []
    segments.reserveCapacity(parts.count)
    for part in parts {
      switch part {
      case .segment(let text): segments.append(text)
      case .expression(let id):
        switch try value(id) {
        case .string(let text): segments.append(text)
        case .int(let number): segments.append(String(number))
        case .float(let number): segments.append(FloatText.text(number))
        case .path(let path): segments += path.segments
        case .null: throw .nullValue
        case let value: throw .type(received: value.typeName, expected: "string,path")
        }
      }
    }
    return .path(RulePath(segments: segments))
  }
}

extension Evaluator {
  /// Evaluates a field of a document like two nested `property` expressions, without building their values.
  private mutating func value(_ field: Expression.Field) throws(RuleFailure) -> RuleValue {
    guard let document = document(field.origin) else { return try property(field.name, of: value(field.data)) }
    // Counts the expressions `data` and `resource`, and for a written document also `request`.
    remainingExpressions -= field.origin == .written ? 3 : 2
    if remainingExpressions < 0 { throw .tooManyExpressions }
    coverage.countUndefined(field.data)
    coverage.countUndefined(field.document)
    guard let value = document.field(field.name) else { throw .undefinedProperty(field.name.first) }
    return value
  }

  /// - Returns: `nil` for a missing or unknown document.
  private mutating func document(_ origin: Expression.Field.Origin) -> RuleDocument? {
    switch (origin, resource) {
    case (.stored, .stored):
      let document = RuleDocument(request.resource, in: request.database)
      resource = .document(document)
      return document
    case (.stored, .document(let document)): return document
    case (.stored, .known), (.stored, .view), (.stored, .hidden): return nil
    case (.written, _): return request.method.hasResult ? newResource : nil
    }
  }

  private mutating func resourceValue() throws(RuleFailure) -> RuleValue {
    switch resource {
    case .stored: return document(.stored).map { .map(.document($0)) } ?? .null
    case .document(let document): return document.map { .map(.document($0)) } ?? .null
    case .known(let data):
      var entries = RuleEntries()
      entries["data"] = .map(.known(data))
      return .map(.known(entries))
    case .view(let data, let absent):
      return .map(.entries(RuleEntries(sorted: [.init(name: "data", value: .map(.view(data, absent)))])))
    case .hidden: throw .notKnown
    }
  }

  private mutating func requestValue(_ property: RequestProperty) throws(RuleFailure) -> RuleValue {
    switch property {
    case .auth: return request.user.map { .map(.user($0)) } ?? .null
    case .method: return .string(request.method.rawValue)
    case .path: return .path(RulePath(path.database, path.path))
    case .time: return .timestamp(time)
    case .headers: return .map(.entries(RuleEntries()))
    case .writeFields:
      if request.method.isWrite { return request.writeFields.map { .list($0.map { .string($0) }) } ?? .null }
    // Only requests that read have this member, and it is null.
    case .fields: if !request.method.isWrite { return .null }
    case .inTransaction: return .bool(request.method.isWrite)
    case .query: if request.method.isList { return query }
    case .resource:
      switch request.method {
      case .create, .update: return newResource.map { .map(.document($0)) } ?? .null
      case .delete: return .null
      case .get, .list: break
      }
    }
    throw .undefinedProperty(property.rawValue)
  }

  /// The value of `request.time`, in whole milliseconds.
  private var time: Timestamp {
    Timestamp(seconds: request.time.seconds, nanoseconds: request.time.nanoseconds / 1_000_000 * 1_000_000)
  }

  private mutating func requestMap() -> RuleValue {
    var entries = RuleEntries()
    for property in RequestProperty.allCases {
      // The map does not contain properties that the request lacks.
      entries[property.rawValue] = try? requestValue(property)
    }
    return .map(.entries(entries))
  }

  private var newResource: RuleDocument? {
    mutating get {
      if let known = newDocument { return known }
      let document = RuleDocument(request.newResource, in: request.database)
      newDocument = .some(document)
      return document
    }
  }

  private var query: RuleValue {
    var entries = RuleEntries()
    var orderBy = RuleEntries()
    for order in request.query?.explicitOrderBy ?? [] {
      orderBy[order.path.segments.joined(separator: ".")] = .string(order.direction == .ascending ? "ASC" : "DESC")
    }
    entries["limit"] = request.query?.target.limit.map { .int(Int64($0)) } ?? .null
    entries["offset"] = .int(Int64(request.query?.offset ?? 0))
    entries["orderBy"] = .map(.entries(orderBy))
    return .map(.entries(entries))
  }
}

extension RuleFailure {
  /// Whether the failure ends the evaluation of the whole condition, regardless of other parts.
  var isFinal: Bool {
    switch self {
    case .tooManyExpressions, .tooMuchWork: true
    default: false
    }
  }
}
