// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

extension DocumentReader {
  /// Figures over a target's documents (PROTOCOL §3.9). A document counts only if it has every field that is summed or
  /// averaged, which order the query ascending before its limit applies.
  func aggregate(_ target: Target, _ aggregations: [Aggregation]) throws(BackendError) -> [String: Value] {
    try Self.check(aggregations)
    var fields: [FieldPath] = []
    for aggregation in aggregations {
      if let path = aggregation.path, !fields.contains(path) { fields.append(path) }
    }
    if fields.isEmpty { return Dictionary(uniqueKeysWithValues: try count(target, for: aggregations)) }

    var figures = fields.map { (path: $0, sum: NumberSum()) }
    var count: Int64 = 0
    func add(_ document: Document) {
      let values = fields.map { document[$0] }
      if values.contains(where: { $0 == nil }) { return }
      count += 1
      for (index, value) in values.enumerated() { if let value { figures[index].sum.add(value) } }
    }
    if target.limit == nil, !target.isDocumentTarget {
      // Without a limit the order does not matter and nothing has to be held.
      _ = try scanMatches(of: target, after: nil, rows: .max, add)
    } else {
      for document in try run(Self.ordered(target, by: fields), limit: target.limit) { add(document) }
    }
    return Dictionary(
      uniqueKeysWithValues: aggregations.map { aggregation in
        let sum = figures.first { $0.path == aggregation.path }?.sum ?? NumberSum()
        let value: Value =
          switch aggregation.function {
          case .count: .integer(count)
          case .sum: sum.sum
          case .average: sum.average
          }
        return (aggregation.alias, value)
      })
  }

  private static func check(_ aggregations: [Aggregation]) throws(BackendError) {
    if aggregations.isEmpty { throw .refused(.invalidArgument, "Aggregations can not be empty.") }
    if aggregations.count > 5 {
      throw .refused(.invalidArgument, "The maximum number of aggregations allowed in an aggregation query is 5.")
    }
    var aliases: Set<[UInt8]> = []
    for aggregation in aggregations {
      guard aliases.insert(Array(aggregation.alias.utf8)).inserted else {
        throw .refused(.invalidArgument, "Aggregation aliases contain duplicate alias: \(aggregation.alias).")
      }
      if aggregation.path?.isDocumentID == true {
        throw .refused(.invalidArgument, "Aggregations are not supported for the property: __key__")
      }
    }
  }

  private func count(
    _ target: Target, for aggregations: [Aggregation]
  ) throws(BackendError) -> [(String, Value)] {
    let count = min(try countMatches(of: target), target.limit ?? .max)
    return aggregations.map { ($0.alias, .integer(Int64(count))) }
  }

  /// How many documents match, limit aside. A whole collection's count is on record and reads no document.
  func countMatches(of target: Target) throws(BackendError) -> Int {
    if target.isDocumentTarget { return try document(DocumentKey(unchecked: target.path)).exists ? 1 : 0 }
    if target.matchesWholeCollections {
      return try collections(of: target).reduce(0) { $0 + $1.count }
    }
    var count = 0
    _ = try scanMatches(of: target, after: nil, rows: .max) { _ in count += 1 }
    return count
  }

  private static func ordered(_ target: Target, by fields: [FieldPath]) -> Target {
    // A cursor speaks about the given orderings: then the order stays, and only presence of the fields is required.
    guard target.start == nil, target.end == nil else { return target }
    var target = target
    let missing = fields.filter { field in !target.orderBy.contains { $0.path == field } }
    let name = target.orderBy.lastIndex { $0.path.isDocumentID } ?? target.orderBy.endIndex
    target.orderBy.insert(contentsOf: missing.map { OrderBy($0) }, at: name)
    return target
  }
}

extension Target {
  /// Whether every document of the collections matches: nothing restricts them and no ordering asks for a field.
  var matchesWholeCollections: Bool {
    filters.isEmpty && start == nil && end == nil && orderBy.allSatisfy { $0.path.isDocumentID }
  }
}

extension Aggregation {
  fileprivate var path: FieldPath? {
    switch function {
    case .count: nil
    case .sum(let path), .average(let path): path
    }
  }
}

/// A sum of the numbers among some values: exact for integers as long as it fits, else IEEE.
struct NumberSum {
  private var integers: Int128 = 0
  private var doubles = 0.0
  private var hasDoubles = false
  private var count = 0

  mutating func add(_ value: Value) {
    switch value {
    case .integer(let value): integers += Int128(value)
    case .double(let value):
      doubles += value
      hasDoubles = true
    default: return
    }
    count += 1
  }

  /// Integer 0 for no numbers; never -0.0.
  var sum: Value {
    if !hasDoubles, let exact = Int64(exactly: integers) { return .integer(exact) }
    return .double(total)
  }

  /// `null` for no numbers.
  var average: Value { count == 0 ? .null : .double(total / Double(count)) }

  private var total: Double { Double(integers) + doubles + 0.0 }
}
