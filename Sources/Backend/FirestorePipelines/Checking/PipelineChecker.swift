// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol

extension Pipeline {
  /// - Parameter database: the database of the request, to which references belong.
  /// - Throws: `invalid-argument` if the message cannot be executed; it names the stage or function, and those that
  ///   exist.
  package init(_ message: PipelineMessage, in database: DatabaseID) throws(RPCStatus) {
    var checker = PipelineChecker(database)
    self = try checker.pipeline(message, .whole)
  }
}

/// Turns messages into pipelines, and refuses those that cannot be executed.
struct PipelineChecker {
  enum Place {
    case whole
    /// A pipeline in a union.
    case union
    /// A pipeline in an expression.
    case expression
  }

  let database: DatabaseID
  /// The number of subqueries so far: each has a number of its own.
  private var subqueries = 0
  /// Whether the current expression is inside an expression for the elements of an array.
  private var isInArrayWalk = false
  /// The names of the variables that are defined where the current expression stands.
  var variables: Set<String> = []
  /// The names of the variables that the current pipeline takes over from the pipeline around it.
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
    // A variable that one pipeline defines is unknown in the pipeline that is united with it.
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
    default: throw .invalid("The stage '\(stage)' takes a map of names and expressions.")
    }
  }

  static func path(_ text: String, _ user: String) throws(RPCStatus) -> FieldPath {
    if Expression.Metadata(rawValue: text) != nil { return FieldPath(text) }
    do throws(ModelError) { return try FieldPath(validating: text) } catch {
      throw .invalid("The stage or function '\(user)' names no field: \(error.message)")
    }
  }

  /// The path of a field, given as a field expression or as a constant string.
  static func path(of message: ExpressionMessage, _ stage: String) throws(RPCStatus) -> FieldPath {
    switch message {
    case .field(let text), .constant(.string(let text)): return try path(text, stage)
    default: throw .invalid("The stage '\(stage)' takes a field there, not an expression.")
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
            "The stage '\(stage)' takes orders with an expression and a direction, \"ascending\" or \"descending\".")
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

  /// Checks the expression for the elements of an array, which has no pipelines.
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
