// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Evaluator {
  mutating func local(_ place: Int) throws(RuleFailure) -> RuleValue {
    let index = frame + place
    switch locals[index] {
    case .value(let value): return value
    case .failed(let failure): throw failure
    case .pending(let id, let frame):
      let own = self.frame
      self.frame = frame
      defer { self.frame = own }
      do throws(RuleFailure) {
        let value = try value(id)
        locals[index] = .value(value)
        return value
      } catch {
        locals[index] = .failed(error)
        throw error
      }
    }
  }

  mutating func call(_ place: Int, _ arguments: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    guard arguments.count == ruleset.functions[place].parameters.count else {
      let function = ruleset.functions[place]
      throw .argumentCount(
        arguments.count, expected: ["\(function.name)(\(function.parameters.joined(separator: ", ")))"])
    }
    guard ruleset.steadyFunctions[place], let circumstances = circumstances(of: place) else {
      return try evaluate(function: place, arguments)
    }
    if let known = memory.call(circumstances), take(known) { return .bool(known.result) }
    return try evaluateAndRemember(circumstances)
  }

  private mutating func evaluate(function place: Int, _ arguments: [Expression.ID]) throws(RuleFailure) -> RuleValue {
    let base = locals.count
    let own = frame
    for argument in arguments { locals.append(.pending(argument, frame: own)) }
    for binding in ruleset.functions[place].bindings { locals.append(.pending(binding, frame: base)) }
    frame = base
    defer {
      while locals.count > base { locals.removeLast() }
      frame = own
    }
    return try value(ruleset.functions[place].result)
  }

  // MARK: Results of earlier requests

  /// - Returns: `nil` if the function's result must not be reused. This is the case while values are reported, because
  ///   all of them must be evaluated, and if documents are unknown or may change.
  private func circumstances(of function: Int) -> FunctionMemory.Circumstances? {
    guard seen == nil, resource.isOfOneDocument, let documents = documents.state else { return nil }
    // A steady function reads only the first variable of the path. Usually this is the database's id.
    if let first = captures.first, first.isRest || first.lower != MatchedPath.databasePlace { return nil }
    return FunctionMemory.Circumstances(
      function: function, user: request.user, database: request.database, documents: documents)
  }

  /// Replays the effects of evaluating the function.
  /// - Returns: whether this succeeded; false if a limit would be exceeded.
  private mutating func take(_ call: FunctionMemory.Call) -> Bool {
    guard remainingExpressions >= call.expressions, remainingWork >= call.work, documents.note(call.looks) else {
      return false
    }
    remainingExpressions -= call.expressions
    remainingWork -= call.work
    for outcome in call.outcomes { coverage.count(outcome.outcome, of: outcome.expression) }
    if isRecording { outcomes += call.outcomes }
    return true
  }

  private mutating func evaluateAndRemember(
    _ circumstances: FunctionMemory.Circumstances
  ) throws(RuleFailure) -> RuleValue {
    let (wasRecording, first, looks) = (isRecording, outcomes.count, documents.beginRecording())
    let (expressions, work, refusals) = (remainingExpressions, remainingWork, documents.refusals)
    isRecording = true
    defer {
      isRecording = wasRecording
      if !wasRecording {
        outcomes.removeAll(keepingCapacity: true)
        documents.endRecording()
      }
    }
    let value = try evaluate(function: circumstances.function, [])
    // A result that depends on a rejected or failed read is valid only for this request.
    let isWhole = documents.refusals == refusals && documents.state === circumstances.documents
    if case .bool(let result) = value, isWhole {
      memory.add(
        FunctionMemory.Call(
          function: circumstances.function, user: circumstances.user, database: circumstances.database,
          documents: circumstances.documents, result: result, expressions: expressions - remainingExpressions,
          work: work - remainingWork, outcomes: Array(outcomes[first...]), looks: documents.looks(since: looks)))
    }
    return value
  }
}

extension Evaluator.Resource {
  /// Whether the request is about one known document, rather than all possible results of a query.
  fileprivate var isOfOneDocument: Bool {
    switch self {
    case .stored, .document: true
    case .known, .view, .hidden: false
    }
  }
}

/// Remembers the results of functions for later requests, as long as nothing can have changed them. Most rules call the
/// same few functions about the user, such as `isAdmin()`, for each request.
struct FunctionMemory: Sendable {
  /// The inputs that determine the result of a function whose result can be reused.
  struct Circumstances {
    let function: Int
    let user: RulesUser?
    let database: DatabaseID
    let documents: any RulesDocumentState
  }

  /// A result, and all effects of evaluating the function.
  struct Call: Sendable {
    let function: Int
    let user: RulesUser?
    let database: DatabaseID
    let documents: any RulesDocumentState
    let result: Bool
    let expressions: Int
    let work: Int
    let outcomes: [SeenOutcome]
    /// The documents that were read, without duplicates.
    let looks: [DocumentKey]

    fileprivate func isOf(_ circumstances: Circumstances) -> Bool {
      function == circumstances.function && documents === circumstances.documents && user == circumstances.user
        && database == circumstances.database
    }
  }

  /// The counted value of one expression.
  struct SeenOutcome: Sendable {
    let expression: Expression.ID
    let outcome: RulesCoverage.Outcome
  }

  /// The maximum number of stored results. Searching this many takes less time than evaluating a function.
  private static let most = 16

  private var calls: [Call] = []

  func call(_ circumstances: Circumstances) -> Call? { calls.first { $0.isOf(circumstances) } }

  mutating func add(_ call: Call) {
    // Results for earlier states of the documents are never used again.
    calls.removeAll { $0.documents !== call.documents && $0.database == call.database }
    if calls.count >= Self.most { calls.removeFirst() }
    calls.append(call)
  }
}
