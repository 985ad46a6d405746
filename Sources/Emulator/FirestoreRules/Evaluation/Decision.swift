// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// One decision of a program on one request.
struct Decision: ~Copyable {
  /// A statement for the request's method, and the variables of its path.
  private struct Candidate {
    let statement: Program.Allow
    let captures: [MatchedPath.Capture]
  }

  let ruleset: Ruleset
  var evaluator: Evaluator
  private var outcomes: [RulesOutcome] = []
  private var reasons: [String] = []
  private var decidingLine: Int?
  /// Whether to report the values of conditions for allowed requests too.
  private let tellsValues: Bool
  /// Whether a list is allowed only if the query proves it for all documents that it can find.
  private let provesLists: Bool
  /// The fields that were assumed to be absent; `nil` if nothing was assumed.
  private var assumed: [String]?

  init(
    _ ruleset: Ruleset, _ request: SharedRequest, _ documents: any RulesDocuments, _ room: consuming RulesRoom,
    tellsValues: Bool, provesLists: Bool
  ) {
    self.ruleset = ruleset
    self.tellsValues = tellsValues
    self.provesLists = provesLists
    evaluator = Evaluator(ruleset, request, DocumentAccess(request, documents), room)
  }

  /// Ends the decision and returns the counts and buffers for the next decision.
  consuming func leftRoom() -> RulesRoom { evaluator.leftRoom() }

  private var program: Program { _read { yield ruleset.program } }
  private var request: RulesRequest { _read { yield evaluator.request } }

  mutating func verdict() -> RulesVerdict {
    let isAllowed = request.method.isList ? decideOnQuery() : decideOnDocument()
    if !isAllowed, reasons.isEmpty { reasons.append("No matching allow statements") }
    // The emulator's text begins with a line break if it lists statements.
    let denial = isAllowed ? "" : (decidingLine == nil ? "" : "\n") + reasons.joined(separator: ", ")
    return RulesVerdict(
      isAllowed: isAllowed, outcomes: outcomes, decidingLine: decidingLine, denial: denial,
      read: evaluator.documents.read, accesses: evaluator.documents.count, assumed: isAllowed ? assumed : nil,
      debugged: evaluator.debugged)
  }

  private mutating func decideOnDocument() -> Bool {
    let first = outcomes.count
    let isAllowed = isAllowedBySome()
    if !isAllowed || tellsValues { noteValues(from: first) }
    if !isAllowed, !request.method.isList { explain() }
    return isAllowed
  }

  /// Evaluates the conditions of the outcomes' statements again, and stores the values of their parts in the outcomes.
  private mutating func noteValues(from first: Int) {
    guard first < outcomes.count else { return }
    var again = evaluator.again()
    for (place, candidate) in zip(outcomes.indices[first...], candidates(request.method)) {
      guard let condition = candidate.statement.condition else { continue }
      again.captures = candidate.captures
      outcomes[place].values = again.values(seenBy: condition)
    }
    // The values of the last statements are kept, since they decide.
    var rest = SeenValue.most
    for place in outcomes.indices.reversed() {
      outcomes[place].values = outcomes[place].values.suffix(rest)
      rest -= outcomes[place].values.count
    }
  }

  private mutating func isAllowedBySome() -> Bool {
    matches(RulesMethods(request.method)) { decision, statement in decision.tries(statement) }
  }

  /// Whether the conditions of a query prove that every possible result may be listed. Each alternative of the
  /// conditions is decided separately.
  private mutating func decideOnQuery() -> Bool {
    guard let facts = QueryFacts(request.query), !facts.alternatives.isEmpty else {
      reasons.append("The query has too many alternatives.")
      return false
    }
    let collection = evaluator.path
    for alternative in facts.alternatives {
      if let key = alternative.key {
        // The query can find only one document, so that document is read.
        evaluator.path = MatchedPath(request.database, key.path)
        evaluator.resource = .document(evaluator.documents.only(key))
      } else {
        evaluator.path = MatchedPath(request.database, request.path, rest)
        evaluator.resource = .known(alternative.data)
      }
      let before = (outcomes, reasons)
      var isAllowed = decideOnDocument()
      if !isAllowed, !provesLists, alternative.key == nil {
        isAllowed = isAllowedInView(of: alternative.data, before)
      }
      evaluator.path = collection
      if !isAllowed { return false }
    }
    return true
  }

  /// Whether the documents may be listed if they have only the fields that the query names, as Google's emulator
  /// assumes. If the list is allowed, the outcomes come from this decision.
  private mutating func isAllowedInView(of data: RuleEntries, _ before: ([RulesOutcome], [String])) -> Bool {
    let strict = (outcomes, reasons, decidingLine, evaluator.resource)
    let absent = AbsentFields()
    evaluator.resource = .view(data.view(absent), absent)
    (outcomes, reasons) = before
    let isAllowed = isAllowedBySome()
    if isAllowed {
      assumed = (assumed ?? []) + absent.names.filter { !(assumed ?? []).contains($0) }
    } else {
      (outcomes, reasons, decidingLine, evaluator.resource) = strict
    }
    return isAllowed
  }

  /// The path segments from the request's path to the documents that the query may find.
  private var rest: [MatchedPath.Segment] {
    if let group = request.query?.target.collectionGroup { return [.anyNumber, .text(group), .any] }
    if request.path.isCollection { return [.any] }
    return request.query?.target.isDocumentTarget == true ? [] : [.anyNumber]
  }

  /// Evaluates a statement and records its outcome.
  private mutating func tries(_ statement: Program.Allow) -> Bool {
    var result = RulesOutcome.Result.isTrue
    if let condition = statement.condition {
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
    decidingLine = statement.line
    let outcome = RulesOutcome(line: statement.line, column: statement.column, result: result)
    // Most requests need only one statement; this avoids growing the array.
    if outcomes.isEmpty { outcomes = [outcome] } else { outcomes.append(outcome) }
    return result == .isTrue
  }

  private func place(of condition: Expression.ID, _ statement: Program.Allow) -> (line: Int, column: Int) {
    program.sources[statement.file].lineAndColumn(of: program.expressions[condition].range.lowerBound)
  }

  /// Replaces the reasons for a denial by the reasons that the emulator gives. The emulator evaluates conditions in two
  /// passes. First it evaluates all of them without reading documents, and does not know whether a document is created
  /// or updated. Then it evaluates the conditions that were not false again.
  private mutating func explain() {
    var first: [String] = []
    var second: [String] = []
    let methods: [RulesRequest.Method] =
      switch request.method {
      case .create, .update: [.create, .update]
      default: [request.method]
      }
    for method in methods {
      let reasons = method == request.method ? reasons : []
      for (place, candidate) in candidates(method).enumerated() {
        guard let said = blindReason(candidate, method) else { continue }
        first.append(said.text)
        if !said.isFalse, reasons.indices.contains(place) { second.append(reasons[place]) }
      }
    }
    reasons = first + second
  }

  private mutating func candidates(_ method: RulesRequest.Method) -> [Candidate] {
    var candidates: [Candidate] = []
    _ = matches(RulesMethods(method)) { decision, statement in
      candidates.append(Candidate(statement: statement, captures: decision.evaluator.captures))
      return false
    }
    return candidates
  }

  /// The reason why a statement that is evaluated without reading documents does not allow the request.
  /// - Returns: `nil` if the statement allows the request.
  private func blindReason(_ candidate: Candidate, _ method: RulesRequest.Method) -> (text: String, isFalse: Bool)? {
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

/// The counts and reusable buffers that a decision passes to the next decision with the same rules.
package struct RulesRoom: Sendable {
  /// The counted values of the expressions in all decisions that used this object.
  package var coverage = RulesCoverage()
  var memory = FunctionMemory()
  var ends: [Int] = []
  var captures: [MatchedPath.Capture] = []

  package init() {}
}
