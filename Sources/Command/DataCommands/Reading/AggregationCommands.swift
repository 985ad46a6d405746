// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreText
import Foundation
import Glibc

/// `hearth count`: counts the documents in a query's result.
package struct CountCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Count documents on the server.",
    discussion: """
      Prints a number, or with --json {"count": …}. An unreachable server is an error.

      With --by, counts documents by the values of fields, the largest count first. Each line has a count and the \
      values, (none) for a missing field; with --json an object such as {"by": {"state": "CA"}, "count": 2}. This \
      reads only these fields of the documents; Cloud Firestore charges for the reads. --limit prints only the largest \
      counts.

      Examples: hearth count cities --where 'state == CA'; hearth count orders --by status
      """)

  @OptionGroup var queried: QueriedPath

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Count the documents for each value of these fields: status,kind. May be repeated.", valueName: "field,..."))
  var by: [String] = []

  @OptionGroup var options: AggregationOptions

  package init() {}

  package mutating func run() async throws {
    if by.isEmpty { return try await options.run(queried, "count", .count) }
    try await GroupListing(queried: queried, options: options, isCounted: true).run(by.joined(separator: ","), "--by")
  }
}

/// `hearth sum`: the sum of a field.
package struct SumCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "sum", abstract: "Sum a field of documents on the server.",
    discussion: """
      Prints a number, or with --json {"sum": …}. Ignores missing fields and values that are not numbers.

      Example: hearth sum orders total --where 'status == paid'
      """)

  @OptionGroup var queried: QueriedPath

  @Argument(help: "Field to sum, such as total or address.rooms.")
  var field: String

  @OptionGroup var options: AggregationOptions

  package init() {}

  package mutating func run() async throws {
    try await options.run(queried, "sum", .sum(try FieldPathText.argument(field)))
  }
}

/// `hearth avg`: the average of a field.
package struct AverageCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "avg", abstract: "Average a field of documents on the server.",
    discussion: """
      Prints a number, or with --json {"avg": …}; null if no document has a number in the field. Ignores missing \
      fields and values that are not numbers.

      Example: hearth avg orders total --where 'status == paid'
      """)

  @OptionGroup var queried: QueriedPath

  @Argument(help: "Field to average, such as total or address.rooms.")
  var field: String

  @OptionGroup var options: AggregationOptions

  package init() {}

  package mutating func run() async throws {
    try await options.run(queried, "avg", .average(try FieldPathText.argument(field)))
  }
}

/// The options of `hearth count`, `hearth sum` and `hearth avg`.
struct AggregationOptions: ParsableArguments {
  @Option(help: "Where to read.")
  var source = ReadSource.server

  @OptionGroup var formatting: RowFormatOptions
  @OptionGroup var moment: MomentOption
  @OptionGroup var timeLimit: TimeLimitOptions
  @OptionGroup var headless: HeadlessOptions
  @OptionGroup var storage: StorageOptions

  func run(_ queried: QueriedPath, _ name: String, _ function: Aggregation.Function) async throws {
    let locations = storage.locations
    let query = try queried.collectionQuery(in: locations.database)
    var printer = RowPrinter(try formatting.format([name], or: .lines), [name], to: .standard())
    // The sum of an empty set is 0; only the average shows that the set was empty.
    var aggregations = [Aggregation(alias: name, function: function)]
    if let field = function.field {
      aggregations.append(Aggregation(alias: "average", function: .average(field)))
    }
    let asked = aggregations
    if source == .cache, moment.at != nil { throw CommandFailure.cacheHasNoPast }
    let (source, time) = (source, moment.at)
    let figures = try await timeLimit.limit {
      switch source {
      case .cache:
        let computation = DocumentAggregation(query, asked)
        let documents = try await CacheReader.documents(of: computation.query, locations)
        return computation.values(of: computation.counted(of: documents))
      case .server:
        try locations.requireData()
        return try await locations.connect().at(time).datastore.aggregate(query.target, asked)
      }
    }
    guard let figure = figures[name] else {
      throw CommandFailure(.failure, "the server did not return the aggregation's result.")
    }
    let value = DocumentJSON.line(of: figure)
    try printer.print(
      ListedRow(
        cells: [ListedRow.Cell(name, value)], json: "{\"\(name)\": \(value)}", line: ShownText(value)))
    try printer.finish()
    if function.field == nil, source == .server {
      let connection = try locations.connect().at(time)
      if figure == .integer(0) {
        await headless.hint(for: query, connection)
      } else {
        await headless.hint(forAlternativesOf: query, connection)
      }
    }
    guard let field = function.field, figures["average"] == .null, !headless.quiet else { return }
    var reason = try await reason(query, field, isAll: queried.selection.isEmpty)
    if source == .server,
      let hint = await AbsentFields(of: query, try locations.connect().at(time)).suggestion(for: field)
    {
      reason += " \(hint)"
    }
    headless.note(ShownText(reason))
    if source == .server, !queried.selection.isEmpty {
      await headless.hint(for: query, try locations.connect().at(time))
    }
  }

  /// The reason why a sum or average has no result.
  private func reason(_ query: Query, _ field: FieldPath, isAll: Bool) async throws -> String {
    let place = query.collectionGroup.map { "all collections \($0)" } ?? query.path.text
    if isAll, source == .server, moment.at == nil {
      // A count together with another aggregation would count only documents that have its field.
      let datastore = try storage.locations.connect().datastore
      let count = try await timeLimit.limit { try await datastore.count(query) }
      if count == 0 { return "\(place) has no documents. The collection comes first, then the field." }
    }
    return "no document of \(place)\(isAll ? "" : " that matches") has a number in \(field.canonicalText)."
  }
}

extension Aggregation.Function {
  /// The field of the sum or average; `nil` for a count.
  fileprivate var field: FieldPath? {
    switch self {
    case .sum(let field), .average(let field): field
    case .count: nil
    }
  }
}

/// `hearth distinct`: the distinct values of fields.
package struct DistinctCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "distinct", abstract: "List the distinct values of a field.",
    discussion: """
      Prints one value per line, in Firestore's order; with several fields, one line per combination. With --json, \
      each line is an object of the fields. Equal numbers of different types are one value. A message on standard \
      error counts the documents without the field. This reads only these fields of the documents; Cloud Firestore \
      charges for the reads. --limit prints only the first values. 'hearth count PATH --by FIELD' counts the documents \
      of each value.

      Example: hearth distinct orders status --where 'total > 100'
      """)

  @OptionGroup var queried: QueriedPath

  @Argument(help: ArgumentHelp("Field, such as status or address.city; several with commas.", valueName: "field,..."))
  var fields: String

  @OptionGroup var options: AggregationOptions

  package init() {}

  package mutating func run() async throws {
    try await GroupListing(queried: queried, options: options, isCounted: false).run(fields, "")
  }
}

/// A run of `hearth distinct` or of `hearth count --by`.
struct GroupListing: Sendable {
  let queried: QueriedPath
  let options: AggregationOptions
  /// Whether each row contains a document count.
  let isCounted: Bool

  /// - Parameters:
  ///   - text: the fields, separated by commas.
  ///   - name: the name of the argument in messages.
  func run(_ text: String, _ name: String) async throws {
    let locations = options.storage.locations
    var query = try queried.collectionQuery(in: locations.database)
    if query.limitType == .last {
      throw CommandFailure(.usage, "--limit-to-last limits documents, not their values. Use --limit for values.")
    }
    // The limit applies to the rows. A limit on the documents would count only a part of the collection.
    let limit = query.limit ?? .max
    query.limit = nil
    if options.source == .cache, options.moment.at != nil { throw CommandFailure.cacheHasNoPast }
    let empty = FieldGroups(by: try Self.selection(text, name))
    let names = empty.names(isCounted: isCounted)
    let format = try options.formatting.format(names, or: isatty(STDOUT_FILENO) == 1 ? .table : .lines)
    let (source, time) = (options.source, options.moment.at)
    let groups = try await options.timeLimit.limit { [query] in
      var groups = empty
      switch source {
      case .cache: for document in try await CacheReader.documents(of: query, locations) { groups.add(document) }
      case .server:
        try locations.requireData()
        try await groups.read(query, at: try locations.connect().at(time))
      }
      return groups
    }
    var printer = RowPrinter(format, names, to: .standard())
    let rows = isCounted ? groups.ranked : groups.sorted.filter { !$0.isAbsent }
    for group in rows.prefix(limit) {
      try printer.print(groups.row(group, isCounted: isCounted, in: locations.database))
    }
    try printer.finish()
    if source == .server, !options.headless.quiet {
      let connection = try locations.connect().at(time)
      if groups.sorted.isEmpty {
        await options.headless.hint(for: query, connection)
      } else if let note = await AbsentFields(of: query, connection).note(of: groups.unseen) {
        return options.headless.note(ShownText(note))
      }
    }
    guard !isCounted, let absent = groups.sorted.first(where: \.isAbsent) else { return }
    let fields = groups.fields.paths.map(\.canonicalText).joined(separator: " or ")
    options.headless.note("\(absent.documents.documents) without \(fields).")
  }

  private static func selection(_ text: String, _ name: String) throws(CommandFailure) -> FieldSelection {
    let fields: FieldSelection
    do throws(TextError) { fields = try FieldSelection(parsing: text) } catch { throw error.failure(name, text) }
    if fields.paths.contains(where: \.isDocumentID) {
      throw CommandFailure(.usage, "__name__ is the id, which is always distinct. Use 'hearth get' to list ids.")
    }
    return fields
  }
}
