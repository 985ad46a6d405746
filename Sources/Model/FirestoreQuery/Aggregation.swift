// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One aggregation over the documents that a query matches.
package struct Aggregation: Hashable, Sendable {
  package enum Function: Hashable, Sendable {
    case count
    case sum(FieldPath)
    case average(FieldPath)
  }

  package var alias: String
  package var function: Function

  package init(alias: String, function: Function) {
    self.alias = alias
    self.function = function
  }
}

/// Computes aggregations over a query's documents with the backend's rules (PROTOCOL §3.9). A document is included only
/// if it has every field that is summed or averaged. The backend also orders the query by these fields before it
/// applies the limit. A query with cursors is an exception, because its cursors refer to the query's own orderings.
package struct DocumentAggregation: Sendable {
  /// The query whose documents must be passed to `values`. It may differ from the original query.
  package let query: Query
  private let aggregations: [Aggregation]
  private let paths: [FieldPath]
  private let limit: Int?

  package init(_ query: Query, _ aggregations: [Aggregation]) {
    self.aggregations = aggregations
    paths = aggregations.compactMap(\.path)
    var query = query
    if paths.isEmpty || query.limit == nil {
      limit = nil
    } else if query.start == nil, query.end == nil {
      // An ordering by a field excludes documents without the field.
      query.implyOrder(by: paths)
      limit = nil
    } else {
      // The limit applies to the documents that have the fields.
      limit = query.limit
      query.limit = nil
    }
    self.query = query
  }

  /// Selects the documents to include.
  /// - Parameter documents: the query's documents, in the query's order.
  package func counted(of documents: [Document]) -> ArraySlice<Document> {
    let counted = paths.isEmpty ? documents : documents.filter { document in paths.allSatisfy { document[$0] != nil } }
    guard let limit else { return counted[...] }
    return query.limitType == .first ? counted.prefix(limit) : counted.suffix(limit)
  }

  /// The results by alias.
  package func values(of counted: ArraySlice<Document>) -> [String: Value] {
    Aggregation.evaluate(aggregations, over: counted)
  }
}

extension Query {
  /// Inserts orderings by the paths before the ordering by id. For limit-to-last, the inserted orderings are
  /// descending, because the backend reverses the query.
  fileprivate mutating func implyOrder(by paths: [FieldPath]) {
    var orderings = orderBy
    for path in paths where !orderings.contains(where: { $0.path == path }) {
      let end = orderings.firstIndex { $0.path.isDocumentID } ?? orderings.count
      orderings.insert(OrderBy(path, limitType == .last ? .descending : .ascending), at: end)
    }
    explicitOrderBy = orderings
  }
}

extension Aggregation {
  /// The maximum number of aggregations in one request (PROTOCOL §3.9).
  package static let maximumCount = 5

  /// The field that a document must have in order to be included; `nil` for `count`.
  package var path: FieldPath? { function.path }

  /// Computes the results, by alias, over the documents that the query matches (PROTOCOL §3.9).
  ///
  /// If a document lacks a field that is summed or averaged, it is excluded from all results, including counts. The
  /// caller must already have applied the limit and the cursors, in the order of `Target.implyingOrder(of:)`.
  package static func evaluate(
    _ aggregations: [Aggregation], over documents: some Sequence<Document>
  ) -> [String: Value] {
    var figures = AggregationFigures(aggregations)
    for document in documents { figures.add(document) }
    return figures.values
  }
}

/// Computes aggregations over a sequence of documents. Does not store the documents.
package struct AggregationFigures {
  private let aliases: [String]
  private let paths: [FieldPath]
  private var accumulators: [Accumulator]

  package init(_ aggregations: [Aggregation]) {
    aliases = aggregations.map(\.alias)
    paths = aggregations.compactMap(\.path)
    accumulators = aggregations.map { Accumulator(function: $0.function) }
  }

  /// Adds a matching document; see `Aggregation.evaluate`.
  package mutating func add(_ document: Document) {
    guard document.exists, paths.allSatisfy({ document[$0] != nil }) else { return }
    for index in accumulators.indices { accumulators[index].add(document) }
  }

  /// The results by alias.
  package var values: [String: Value] {
    Dictionary(zip(aliases, accumulators.map(\.figure)), uniquingKeysWith: { _, last in last })
  }
}

extension Target {
  /// A copy of the target with the orderings that sums and averages imply. These are ascending orderings by the summed
  /// and averaged fields, before the ordering by `__name__`. They determine which documents are within the limit
  /// (PROTOCOL §3.9).
  package func implyingOrder(of aggregations: [Aggregation]) -> Target {
    var target = self
    for path in aggregations.compactMap(\.path) where !target.orderBy.contains(where: { $0.path == path }) {
      let end = target.orderBy.firstIndex { $0.path.isDocumentID } ?? target.orderBy.count
      target.orderBy.insert(OrderBy(path), at: end)
    }
    return target
  }
}

private struct Accumulator {
  let function: Aggregation.Function
  private var count: Int64 = 0
  /// The sum of the integers. It has enough bits to add as many 64-bit integers as fit into memory. Therefore only the
  /// conversion of the final result can overflow.
  private var integers: Int128 = 0
  private var doubles: Double?

  init(function: Aggregation.Function) { self.function = function }

  mutating func add(_ document: Document) {
    guard let path = function.path else {
      count += 1
      return
    }
    switch document[path] {
    case .integer(let value)?:
      count += 1
      integers += Int128(value)
    case .double(let value)?:
      count += 1
      doubles = (doubles ?? 0) + value
    default: break
    }
  }

  var figure: Value {
    // The sum is never -0.0, because the integer part is never -0.0.
    let sum = Double(integers) + (doubles ?? 0)
    return switch function {
    case .count: .integer(count)
    case .sum: doubles == nil ? Int64(exactly: integers).map { .integer($0) } ?? .double(sum) : .double(sum)
    case .average: count == 0 ? .null : .double(sum / Double(count))
    }
  }
}

extension Aggregation.Function {
  fileprivate var path: FieldPath? {
    switch self {
    case .count: nil
    case .sum(let path), .average(let path): path
    }
  }
}
