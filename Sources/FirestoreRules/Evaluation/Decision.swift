// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// One decision of a program on one request.
struct Decision: ~Copyable {
  private typealias Statement = PathMatch.Statement

  private let ruleset: Ruleset
  private var evaluator: Evaluator
  private var outcomes: [RulesOutcome] = []
  private var reasons: [String] = []
  private var decidingLine: Int?

  /// - Parameter trace: where it is noted what expressions come to.
  init(_ ruleset: Ruleset, _ request: SharedRequest, _ documents: RulesDocuments, _ trace: consuming RulesTrace?) {
    self.ruleset = ruleset
    evaluator = Evaluator(ruleset, request, DocumentAccess(request.value, documents))
    evaluator.trace = trace
  }

  private var program: Program { _read { yield ruleset.program } }

  mutating func takeTrace() -> RulesTrace? { evaluator.trace.take() }

  mutating func verdict() -> RulesVerdict {
    let isAllowed = request.method.isList ? decideOnQuery() : decideOnDocument(evaluator.path)
    if !isAllowed, reasons.isEmpty { reasons.append("No matching allow statements") }
    // The emulator begins with a line break where it names statements.
    let denial = isAllowed ? "" : (decidingLine == nil ? "" : "\n") + reasons.joined(separator: ", ")
    return RulesVerdict(
      isAllowed: isAllowed, outcomes: outcomes, decidingLine: decidingLine, denial: denial,
      read: evaluator.documents.read, accesses: evaluator.documents.count)
  }

  private var request: RulesRequest { _read { yield evaluator.request } }

  private func statements(_ path: RulePath, _ rest: [PathMatch.Segment] = []) -> [Statement] {
    PathMatch.statements(ruleset, RulesMethods(request.method), path, rest)
  }

  private mutating func decideOnDocument(_ path: RulePath) -> Bool {
    let statements = statements(path)
    if let allowing = statements.firstIndex(where: { tries($0) }) {
      decidingLine = statements[allowing].statement.line
      return true
    }
    if !request.method.isList { explain(statements) }
    return false
  }

  /// Whether a query finds nothing but documents that may be listed: it must follow from what the query asks for.
  /// Each alternative of its conditions is looked at for itself.
  private mutating func decideOnQuery() -> Bool {
    guard let facts = QueryFacts(request.query), !facts.alternatives.isEmpty else {
      reasons.append("The query has too many alternatives.")
      return false
    }
    let collection = evaluator.path
    let rest = self.rest
    for alternative in facts.alternatives {
      let isAllowed: Bool
      if let key = alternative.key {
        // All that can be found is one document, which is looked at.
        evaluator.path = RulePath(request.database, key.path)
        evaluator.resource = .document(evaluator.documents.only(key))
        isAllowed = decideOnDocument(evaluator.path)
        evaluator.path = collection
      } else {
        evaluator.resource = .known(alternative.data)
        let statements = statements(collection, rest)
        let allowing = statements.firstIndex { tries($0) }
        if let allowing { decidingLine = statements[allowing].statement.line }
        isAllowed = allowing != nil
      }
      if !isAllowed { return false }
    }
    return true
  }

  /// What follows the query's path in those of all documents that it may find.
  private var rest: [PathMatch.Segment] {
    if let group = request.query?.target.collectionGroup { return [.anyNumber, .text(group), .any] }
    if request.path.isCollection { return [.any] }
    return request.query?.target.isDocumentTarget == true ? [] : [.anyNumber]
  }

  /// Evaluates a statement and notes what came of it.
  private mutating func tries(_ candidate: Statement) -> Bool {
    let statement = candidate.statement
    decidingLine = statement.line
    var result = RulesOutcome.Result.isTrue
    if let condition = statement.condition {
      evaluator.captures = candidate.captures
      do throws(RuleFailure) {
        if try !evaluator.holds(condition) {
          result = .isFalse
          reasons.append("false for '\(request.method.rawValue)' @ L\(statement.line)")
        }
      } catch {
        let place = place(of: condition, statement)
        result = .failed(message: error.message, line: place.line, column: place.column)
        let text = error == .notKnown ? "evaluation error at L\(place.line):\(place.column)" : error.message
        reasons.append("\(text) for '\(request.method.rawValue)' @ L\(statement.line)")
      }
    }
    outcomes.append(RulesOutcome(line: statement.line, column: statement.column, result: result))
    return result == .isTrue
  }

  private func place(of condition: Expression.ID, _ statement: Program.Allow) -> (line: Int, column: Int) {
    program.sources[statement.file].lineAndColumn(of: program.expressions[condition].range.lowerBound)
  }

  /// Says of a denial what the emulator does, which first evaluates all conditions without looking at documents, and
  /// again those that are not false then. Whether a document is created or updated it does not know at first.
  private mutating func explain(_ statements: [Statement]) {
    var first: [String] = []
    var second: [String] = []
    let methods: [RulesRequest.Method] =
      switch request.method {
      case .create, .update: [.create, .update]
      default: [request.method]
      }
    for method in methods {
      if method == request.method {
        for (candidate, reason) in zip(statements, reasons) {
          guard let said = blindReason(candidate, method) else { continue }
          first.append(said.text)
          if !said.isFalse { second.append(reason) }
        }
      } else {
        let others = PathMatch.statements(ruleset, RulesMethods(method), evaluator.path)
        first += others.compactMap { blindReason($0, method)?.text }
      }
    }
    reasons = first + second
  }

  /// Why a statement does not allow before any document is looked at.
  /// - Returns: `nil` if it does.
  private func blindReason(_ candidate: Statement, _ method: RulesRequest.Method) -> (text: String, isFalse: Bool)? {
    guard let condition = candidate.statement.condition else { return nil }
    var blindRequest = request
    blindRequest.method = method
    var blind = evaluator.blind(SharedRequest(blindRequest))
    blind.captures = candidate.captures
    let suffix = " for '\(method.rawValue)' @ L\(candidate.statement.line)"
    do throws(RuleFailure) { return try blind.holds(condition) ? nil : ("false" + suffix, true) } catch {
      let place = place(of: condition, candidate.statement)
      let text = error == .notKnown ? "evaluation error at L\(place.line):\(place.column)" : error.message
      return (text + suffix, false)
    }
  }
}
