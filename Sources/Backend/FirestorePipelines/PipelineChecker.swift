// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol

extension Pipeline {
  /// - Parameter database: the request's database, which references must name.
  /// - Throws: `invalid-argument` if the message cannot be executed. The error names the invalid stage or function, and
  ///   the valid ones.
  package init(_ message: PipelineMessage, in database: DatabaseID) throws(RPCStatus) {
    var checker = PipelineChecker(database)
    self = try checker.pipeline(message, .whole)
  }
}

/// Converts messages to pipelines, and rejects those that cannot be executed.
struct PipelineChecker {
  enum Place {
    case whole
    /// A pipeline in a union.
    case union
    /// A pipeline in an expression.
    case expression
  }

  let database: DatabaseID
  /// The number of subqueries so far; each gets a unique number.
  private var subqueries = 0
  /// Whether the current expression is evaluated for array elements.
  private var isInArrayWalk = false
  /// The names of the variables that the current expression can use.
  var variables: Set<String> = []
  /// The names of the variables that the current pipeline inherits from the enclosing pipeline.
  private(set) var inherited: Set<String> = []

  init(_ database: DatabaseID) { self.database = database }

  static let inputs = ["collection", "collection_group", "database", "documents", "literals", "subcollection"]
  static let stages = [
    "add_fields", "aggregate", "delete", "distinct", "find_nearest", "let", "limit", "offset", "remove_fields",
    "replace_with", "sample", "search", "select", "sort", "union", "unnest", "update", "where",
  ]

  mutating func pipeline(_ message: PipelineMessage, _ place: Place) throws(RPCStatus) -> Pipeline {
    let around = (variables, inherited)
    defer { (variables, inherited) = around }
    // A pipeline in a union cannot use the variables that the enclosing pipeline defines.
    if place == .union { variables = inherited } else { inherited = variables }
    guard let first = message.stages.first else {
      throw .invalid("A pipeline needs a first stage, one of: \(Self.inputs.joined(separator: ", ")).")
    }
    let input = try input(StageArguments(first), place)
    var (stages, write) = ([Stage](), Pipeline.Write?.none)
    for message in message.stages.dropFirst() {
      let arguments = StageArguments(message)
      if write != nil { throw .invalid("The stages 'update' and 'delete' must be the last of a pipeline.") }
      if message.name == "update" || message.name == "delete" {
        if place != .whole { throw .invalid("The stage '\(message.name)' cannot be in a nested pipeline.") }
        write = try self.write(arguments)
      } else {
        stages.append(try stage(arguments))
      }
    }
    return Pipeline(input: input, stages: stages, write: write)
  }

  // MARK: Expressions of stages

  /// A map of names and expressions.
  mutating func assignments(_ message: ExpressionMessage, _ stage: String) throws(RPCStatus) -> [Assignment] {
    var assignments: [Assignment] = []
    for entry in try Self.entries(message, stage) {
      let path = try Self.path(entry.name, stage)
      if assignments.contains(where: { $0.path == path }) {
        throw .invalid("The stage '\(stage)' sets the field '\(entry.name)' twice.")
      }
      assignments.append(Assignment(path: path, value: try expression(entry.value)))
    }
    return assignments
  }

  static func entries(
    _ message: ExpressionMessage, _ stage: String
  ) throws(RPCStatus) -> [ExpressionMessage.Entry] {
    switch message {
    case .map(let entries): return entries
    case .constant(.map(let fields)):
      return fields.entries.map { ExpressionMessage.Entry($0.name, .constant($0.value)) }
    default:
      throw .invalid(
        "The stage '\(stage)' takes a map of names and expressions. Expected fields to be MAP_VALUE, but was "
          + "\(message.wireType).")
    }
  }

  static func path(_ text: String, _ user: String) throws(RPCStatus) -> FieldPath {
    if Expression.Metadata(rawValue: text) != nil { return FieldPath(text) }
    do throws(ModelError) { return try FieldPath(validating: text) } catch {
      throw .invalid("The stage or function '\(user)' has an invalid field name: \(error.message)")
    }
  }

  /// The path of a field, given as a field expression or as a constant string.
  static func path(of message: ExpressionMessage, _ stage: String) throws(RPCStatus) -> FieldPath {
    switch message {
    case .field(let text), .constant(.string(let text)): return try path(text, stage)
    default: throw .invalid("The stage '\(stage)' needs a field name here, not an expression.")
    }
  }

  mutating func orders(_ messages: [ExpressionMessage], _ stage: String) throws(RPCStatus) -> [SortOrder] {
    var orders: [SortOrder] = []
    for message in messages {
      var (value, isDescending) = (Expression?.none, false)
      for entry in try Self.entries(message, stage) {
        switch (entry.name, entry.value) {
        case ("expression", let message): value = try expression(message)
        case ("direction", .constant(.string("ascending"))): isDescending = false
        case ("direction", .constant(.string("descending"))): isDescending = true
        default:
          throw .invalid(
            "The stage '\(stage)' needs orders that have an expression and a direction, \"ascending\" or \"descending\"."
          )
        }
      }
      guard let value else { throw .invalid("The stage '\(stage)' has an order without an expression.") }
      orders.append(SortOrder(value: value, isDescending: isDescending))
    }
    return orders
  }

  mutating func subquery(
    _ kind: Subquery.Kind, _ message: PipelineMessage
  ) throws(RPCStatus) -> Expression {
    if isInArrayWalk {
      throw .invalid("A pipeline cannot be an expression inside of array_filter() or array_transform().")
    }
    let pipeline = try pipeline(message, .expression)
    subqueries += 1
    return .subquery(Subquery(id: subqueries, kind: kind, pipeline: pipeline))
  }

  /// Checks the expression for array elements, which cannot contain pipelines.
  /// - Parameter names: the variables for the element and its index.
  mutating func elementExpression(
    _ message: ExpressionMessage, knowing names: [String]
  ) throws(RPCStatus) -> Expression {
    let outer = (isInArrayWalk, variables)
    isInArrayWalk = true
    variables.formUnion(names)
    defer { (isInArrayWalk, variables) = outer }
    return try expression(message)
  }
}

extension RPCStatus {
  static func invalid(_ message: String) -> RPCStatus { RPCStatus(.invalidArgument, message) }
}

extension PipelineChecker {
  /// The first stage.
  mutating func input(_ stage: StageArguments, _ place: Place) throws(RPCStatus) -> Pipeline.Input {
    switch stage.name {
    case "collection":
      try stage.expect(1...1)
      return .collection(try collection(stage))
    case "collection_group":
      try stage.expect(2...2)
      return .collectionGroup(try Self.collectionID(try stage.text(at: 1), stage))
    case "database":
      try stage.expect(0...0)
      return .database
    case "documents":
      try stage.expect(1...Function.many)
      return .documents(try documents(stage))
    case "literals":
      try stage.expect(1...Function.many)
      var literals: [Expression] = []
      for argument in stage.arguments {
        let entries = try Self.entries(argument, stage.name)
        literals.append(.map(try named(entries)))
      }
      return .literals(literals)
    case "subcollection":
      try stage.expect(1...1)
      if place != .expression {
        throw stage.fail("is only allowed at the start of a nested pipeline in an expression.")
      }
      return .subcollection(try Self.collectionID(try stage.text(at: 0), stage))
    default:
      let what = Self.stages.contains(stage.name) ? "cannot be the first stage." : "does not exist."
      throw stage.fail("\(what) A pipeline begins with one of: \(Self.inputs.joined(separator: ", ")).")
    }
  }

  /// The path in an argument, as a reference or as text relative to the root.
  private func path(_ message: ExpressionMessage, _ stage: StageArguments) throws(RPCStatus) -> ResourcePath {
    switch message {
    case .constant(.reference(let named, let key)):
      guard named == database else {
        throw stage.fail("names the database '\(named.name)'; the request is for '\(database.name)'.")
      }
      return key.path
    case .path(let text):
      let root = database.documentsName + "/"
      var path = Substring(text)
      if path.hasPrefix(root) { path = path.dropFirst(root.count) } else if path.hasPrefix("/") { path.removeFirst() }
      do throws(ModelError) { return try ResourcePath(validating: String(path)) } catch {
        throw stage.fail("has an invalid path: \(error.message)")
      }
    default: throw stage.fail("takes references such as \"/c/a\".")
    }
  }

  private func collection(_ stage: StageArguments) throws(RPCStatus) -> ResourcePath {
    let path = try path(stage.arguments[0], stage)
    guard path.isCollection else { throw stage.fail("takes a collection; '/\(path)' is a document.") }
    return path
  }

  private func documents(_ stage: StageArguments) throws(RPCStatus) -> [DocumentKey] {
    var (keys, seen) = ([DocumentKey](), Set<DocumentKey>())
    for argument in stage.arguments {
      let path = try path(argument, stage)
      guard let key = DocumentKey(path) else { throw stage.fail("takes documents; '/\(path)' is a collection.") }
      guard seen.insert(key).inserted else { throw stage.fail("names the document '/\(path)' twice.") }
      keys.append(key)
    }
    return keys
  }

  private static func collectionID(_ id: String, _ stage: StageArguments) throws(RPCStatus) -> String {
    if let objection = ResourcePath.objection(to: id, isCollectionID: true) {
      throw stage.fail("has an invalid collection id: \(objection)")
    }
    return id
  }

  mutating func named(_ entries: [ExpressionMessage.Entry]) throws(RPCStatus) -> [NamedExpression] {
    var named: [NamedExpression] = []
    for entry in entries { named.append(NamedExpression(name: entry.name, value: try expression(entry.value))) }
    return named
  }
}

extension PipelineChecker {
  mutating func expression(_ message: ExpressionMessage) throws(RPCStatus) -> Expression {
    switch message {
    case .constant(let value):
      if let time = value.invalidTimestamp { throw .invalid(time.objection) }
      return .constant(value)
    case .path(let text): throw .invalid("\"\(text)\" is not the name of a document.")
    case .field(let text):
      if let metadata = Expression.Metadata(rawValue: text) { return .metadata(metadata) }
      // Google's clients name this field in their tests. It is reserved, so no document has it.
      if text == "__path__" { return .field(FieldPath(text)) }
      return .field(try Self.path(text, "field"))
    case .variable(let name):
      guard variables.contains(name) else {
        throw .invalid("Unknown variable '\(name)'. Define it in an earlier stage 'let'.")
      }
      return .variable(name)
    case .array(let elements): return .array(try expressions(elements))
    case .map(let entries): return .map(try named(entries))
    case .function(let name, let arguments, _): return try call(name, arguments)
    case .pipeline:
      throw .invalid("A pipeline is only allowed as the argument of array() or scalar().")
    }
  }

  private mutating func expressions(_ messages: [ExpressionMessage]) throws(RPCStatus) -> [Expression] {
    var expressions: [Expression] = []
    for message in messages { expressions.append(try expression(message)) }
    return expressions
  }

  private mutating func call(_ name: String, _ arguments: [ExpressionMessage]) throws(RPCStatus) -> Expression {
    if arguments.count == 1, case .pipeline(let pipeline) = arguments[0] {
      switch name {
      case "array": return try subquery(.array, pipeline)
      case "scalar": return try subquery(.scalar, pipeline)
      default: break
      }
    }
    switch name {
    case "current_document":
      try Self.check(arguments.count, 0...0, name)
      return .currentDocument
    case ArrayWalk.Kind.filter.rawValue: return try arrayWalk(.filter, arguments)
    case ArrayWalk.Kind.transform.rawValue: return try arrayWalk(.transform, arguments)
    default: break
    }
    if let form = LazyForm(rawValue: name) {
      try Self.check(arguments.count, form.arity, name)
      return .form(form, try expressions(arguments))
    }
    guard let function = Function.table[name] else {
      if AggregateFunction(rawValue: name) != nil {
        throw .invalid("The function '\(name)' is only allowed in the stage 'aggregate'.")
      }
      throw .invalid(
        "The function '\(name)' does not exist. Functions are: \(Function.names.joined(separator: ", ")).")
    }
    try Self.check(arguments.count, function.arity, name)
    return .call(function, try expressions(arguments))
  }

  private static func check(_ count: Int, _ arity: ClosedRange<Int>, _ name: String) throws(RPCStatus) {
    if arity.contains(count) { return }
    let wanted =
      arity.lowerBound == arity.upperBound
      ? "\(arity.lowerBound)"
      : arity.upperBound == Function.many
        ? "at least \(arity.lowerBound)" : "\(arity.lowerBound) to \(arity.upperBound)"
    throw .invalid("The function '\(name)' takes \(wanted) arguments, not \(count).")
  }

  /// Reads the arguments: the array, the name of the element's variable, the name of the index's variable (only in a
  /// transformation), and the expression.
  private mutating func arrayWalk(
    _ kind: ArrayWalk.Kind, _ arguments: [ExpressionMessage]
  ) throws(RPCStatus) -> Expression {
    try Self.check(arguments.count, kind == .filter ? 3...3 : 3...4, kind.rawValue)
    var names: [String] = []
    for argument in arguments[1..<(arguments.count - 1)] {
      guard case .constant(.string(let name)) = argument else {
        throw .invalid("The function '\(kind.rawValue)' takes constant strings as names of its variables.")
      }
      names.append(name)
    }
    return .arrayWalk(
      ArrayWalk(
        kind: kind, array: try expression(arguments[0]), element: names[0], index: names.count > 1 ? names[1] : nil,
        body: try elementExpression(arguments[arguments.count - 1], knowing: names)))
  }
}

extension ExpressionMessage {
  /// The name of the message's type in error messages, as in Cloud Firestore's error messages.
  fileprivate var wireType: String {
    switch self {
    case .constant(let value): value.pipelineType.uppercased() + "_VALUE"
    case .path: "REFERENCE_VALUE"
    case .field: "FIELD_REFERENCE_VALUE"
    case .variable: "VARIABLE_REFERENCE_VALUE"
    case .function: "FUNCTION_VALUE"
    case .array: "ARRAY_VALUE"
    case .map: "MAP_VALUE"
    case .pipeline: "PIPELINE_VALUE"
    }
  }
}
