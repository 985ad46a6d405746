// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

extension PipelineChecker {
  /// Checks a stage after the first.
  mutating func stage(_ stage: StageArguments) throws(RPCStatus) -> Stage {
    switch stage.name {
    case "where":
      try stage.expect(1...1)
      return .filter(try expression(stage.arguments[0]))
    case "select":
      try stage.expect(1...1)
      return .select(try assignments(stage.arguments[0], stage.name))
    case "add_fields":
      try stage.expect(1...1)
      return .addFields(try assignments(stage.arguments[0], stage.name))
    case "remove_fields":
      try stage.expect(1...Function.many)
      var paths: [FieldPath] = []
      for argument in stage.arguments { paths.append(try Self.path(of: argument, stage.name)) }
      return .removeFields(paths)
    case "sort":
      try stage.expect(1...Function.many)
      return .sort(try orders(stage.arguments, stage.name))
    case "limit":
      try stage.expect(1...1)
      return .limit(try stage.count(stage.arguments[0]))
    case "offset":
      try stage.expect(1...1)
      return .offset(try stage.count(stage.arguments[0]))
    case "distinct":
      try stage.expect(1...1)
      return .distinct(try assignments(stage.arguments[0], stage.name))
    case "aggregate": return try aggregate(stage)
    case "find_nearest": return try nearest(stage)
    case "replace_with": return try replacement(stage)
    case "sample": return try sample(stage)
    case "union":
      try stage.expect(1...1)
      guard case .pipeline(let other) = stage.arguments[0] else { throw stage.fail("takes a pipeline.") }
      return .union(try pipeline(other, .union))
    case "unnest": return try unnesting(stage)
    case "let":
      try stage.expect(1...1)
      var definitions: [Definition] = []
      for entry in try named(try Self.entries(stage.arguments[0], stage.name)) {
        definitions.append(Definition(name: entry.name, value: entry.value))
      }
      variables.formUnion(definitions.map(\.name))
      return .define(definitions)
    case "search": return try search(stage)
    default:
      let what = Self.inputs.contains(stage.name) ? "can only be the first stage." : "does not exist."
      throw stage.fail("\(what) Later stages are: \(Self.stages.joined(separator: ", ")).")
    }
  }

  /// Checks the last stage of a pipeline that writes.
  mutating func write(_ stage: StageArguments) throws(RPCStatus) -> Pipeline.Write {
    if stage.name == "delete" {
      try stage.expect(0...0)
      return .delete
    }
    try stage.expect(0...1)
    return .update(stage.arguments.isEmpty ? [] : try assignments(stage.arguments[0], stage.name))
  }

  private mutating func aggregate(_ stage: StageArguments) throws(RPCStatus) -> Stage {
    try stage.expect(1...2)
    var accumulations: [Accumulation] = []
    for entry in try Self.entries(stage.arguments[0], stage.name) {
      let path = try Self.path(entry.name, stage.name)
      guard case .function(let name, let arguments, _) = entry.value, let function = AggregateFunction(rawValue: name)
      else {
        let names = AggregateFunction.allCases.map(\.rawValue).sorted().joined(separator: ", ")
        throw stage.fail("needs one of these functions for '\(entry.name)': \(names).")
      }
      guard function.arity.contains(arguments.count) else {
        throw stage.fail("calls \(name)() with \(arguments.count) arguments.")
      }
      let value = arguments.isEmpty ? nil : try expression(arguments[0])
      accumulations.append(Accumulation(path: path, function: function, value: value))
    }
    if accumulations.isEmpty { throw stage.fail("requires at least one accumulator.") }
    let groups = stage.arguments.count > 1 ? try assignments(stage.arguments[1], stage.name) : []
    // The rows after the stage are new, so the variables defined before it are gone.
    variables = inherited
    return .aggregate(accumulations, groups: groups)
  }

  private mutating func nearest(_ stage: StageArguments) throws(RPCStatus) -> Stage {
    try stage.expect(3...3, options: ["limit", "distance_field", "distance_threshold"])
    guard case .constant(.vector(let vector)) = stage.arguments[1], !vector.isEmpty else {
      throw stage.fail("takes a constant vector as argument 2.")
    }
    guard let measure = VectorDistance(rawValue: try stage.text(at: 2)) else {
      throw stage.fail("supports these measures: \(VectorDistance.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    return .nearest(
      NearestSearch(
        field: try expression(stage.arguments[0]), vector: vector, measure: measure,
        limit: try stage.count(option: "limit"), distanceField: try stage.path(option: "distance_field"),
        threshold: try stage.number(option: "distance_threshold")))
  }

  private mutating func replacement(_ stage: StageArguments) throws(RPCStatus) -> Stage {
    try stage.expect(1...2)
    let name = stage.arguments.count > 1 ? try stage.text(at: 1) : ReplaceMode.full.rawValue
    guard let mode = ReplaceMode(rawValue: name) else {
      throw stage.fail("supports these modes: \(ReplaceMode.allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    return .replace(try expression(stage.arguments[0]), mode)
  }

  private func sample(_ stage: StageArguments) throws(RPCStatus) -> Stage {
    try stage.expect(2...2)
    switch try stage.text(at: 1) {
    case "documents": return .sample(.documents(try stage.count(stage.arguments[0])))
    case "percent":
      guard case .constant(let value) = stage.arguments[0], let share = Number(value)?.double,
        (0...1).contains(share)
      else { throw stage.fail("takes a fraction from 0 to 1.") }
      return .sample(.share(share))
    case let mode: throw stage.fail("supports the modes \"documents\" and \"percent\", not \"\(mode)\".")
    }
  }

  private mutating func unnesting(_ stage: StageArguments) throws(RPCStatus) -> Stage {
    try stage.expect(2...2, options: ["index_field"])
    return .unnest(
      Unnesting(
        value: try expression(stage.arguments[0]), path: try Self.path(of: stage.arguments[1], stage.name),
        indexPath: try stage.path(option: "index_field")))
  }

  private mutating func search(_ stage: StageArguments) throws(RPCStatus) -> Stage {
    try stage.expect(
      0...0, options: ["query", "limit", "retrieval_depth", "sort", "add_fields", "offset", "language_code"])
    guard let query = stage.options["query"] else { throw stage.fail("needs the option 'query'.") }
    var condition = query
    if case .constant(.string) = query { condition = .function("document_matches", [query]) }
    var order: [SortOrder] = []
    switch stage.options["sort"] {
    case .array(let messages)?: order = try orders(messages, stage.name)
    case nil: break
    default: throw stage.fail("takes an array of orders as option 'sort'.")
    }
    let added = try stage.options["add_fields"].map { message throws(RPCStatus) in
      try assignments(message, stage.name)
    }
    return .search(
      TextSearch(
        query: try expression(condition), order: order,
        added: added ?? [], offset: try stage.count(option: "offset") ?? 0,
        limit: try stage.count(option: "limit")))
  }
}

/// The arguments of a stage in the message, with the checks that stages share.
struct StageArguments {
  let name: String
  let arguments: [ExpressionMessage]
  let options: [String: ExpressionMessage]

  init(_ message: PipelineMessage.Stage) {
    (name, arguments, options) = (message.name, message.arguments, message.options)
  }

  /// The options with hints about indexes, which do not affect the result.
  private static let indexHints: Set = ["index_mode", "force_index"]

  func fail(_ reason: String) -> RPCStatus { .invalid("The stage '\(name)' \(reason)") }

  /// - Throws: if the number of arguments is not in `count`, or the stage does not support one of the options.
  func expect(_ count: ClosedRange<Int>, options known: [String] = []) throws(RPCStatus) {
    guard count.contains(arguments.count) else {
      let wanted =
        count.lowerBound == count.upperBound
        ? "\(count.lowerBound)" : count.upperBound == .max ? "at least \(count.lowerBound)" : "\(count)"
      throw fail("takes \(wanted) arguments, not \(arguments.count).")
    }
    for option in options.keys.sorted() where !known.contains(option) && !Self.indexHints.contains(option) {
      let list = known.isEmpty ? "It has no options." : "Its options are: \(known.joined(separator: ", "))."
      throw fail("has no option '\(option)'. \(list)")
    }
  }

  func text(at index: Int) throws(RPCStatus) -> String {
    guard case .constant(.string(let text)) = arguments[index] else {
      throw fail("takes a constant string as argument \(index + 1).")
    }
    return text
  }

  /// A constant nonnegative integer. Values beyond 32 bits are reduced to the largest 32-bit integer, so that sums of a
  /// few counts cannot overflow.
  func count(_ message: ExpressionMessage) throws(RPCStatus) -> Int {
    guard case .constant(.integer(let count)) = message, count >= 0 else {
      throw fail("takes a constant nonnegative integer.")
    }
    return Int(min(count, Int64(Int32.max)))
  }

  func count(option: String) throws(RPCStatus) -> Int? {
    guard let message = options[option] else { return nil }
    return try count(message)
  }

  func path(option: String) throws(RPCStatus) -> FieldPath? {
    guard let message = options[option] else { return nil }
    return try PipelineChecker.path(of: message, name)
  }

  func number(option: String) throws(RPCStatus) -> Double? {
    guard let message = options[option] else { return nil }
    guard case .constant(let value) = message, let number = Number(value) else {
      throw fail("takes a constant number as option '\(option)'.")
    }
    return number.double
  }
}
