// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOutput
package import FirestoreModel
package import FirestoreQuery
import FirestoreText

/// The options that select and order the documents of a collection.
package struct QueryOptions: ParsableArguments {
  // A value may begin with a dash: it is never parsed as another option.
  @Option(
    name: .customLong("where"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Only documents that match: 'state == CA and (population > 1000 or tags contains west)'. Operators: "
        + "== != < <= > >= in, not in, contains, contains-any (lists in brackets). Values are JSON, text, or a "
        + "type and text: timestamp:2026-03-02 ref:users/ada bytes:aGk= geo:52.37,4.89 double:1 string:1. "
        + "Repeat the option for more conditions; documents must match all. See 'hearth help queries'.",
      valueName: "condition"))
  package var conditions: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Order by a field; add :desc to reverse. Repeatable; 'state, total:desc' orders by two fields.",
      valueName: "field[:desc]"))
  package var order: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("At most this many documents.", valueName: "number"))
  package var limit: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Return at most this many documents, from the end of the order.", valueName: "number"))
  var limitToLast: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Start at this value of the first order field. For more fields use a list: [CA, 5000]. A document id may follow.",
      valueName: "value"))
  var startAt: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Start after this value.", valueName: "value"))
  var startAfter: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("End at this value.", valueName: "value"))
  var endAt: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("End before this value.", valueName: "value"))
  var endBefore: String?

  /// Whether the options select all documents in the order of their names.
  package var isEmpty: Bool {
    conditions.isEmpty && order.isEmpty && [limit, limitToLast].allSatisfy { $0 == nil }
      && [startAt, startAfter, endAt, endBefore].allSatisfy { $0 == nil }
  }

  /// The query for a collection, a collection group or a document.
  /// - Throws: a usage failure with the option's name, and the position in its text.
  package func query(_ path: ResourcePath, group: String? = nil, in database: DatabaseID) throws(CommandFailure)
    -> Query
  {
    var query = Query(path: path, collectionGroup: group)
    for text in conditions {
      do throws(TextError) {
        query.filters += try ConditionText.parse(text, of: query, database: database)
      } catch {
        throw error.failure("--where", text)
      }
    }
    for text in order {
      do throws(TextError) {
        query.explicitOrderBy += try OrderText.parse(text)
      } catch {
        throw error.failure("--order", text)
      }
    }
    try limit(&query)
    query.start = try bound(("--start-at", startAt), ("--start-after", startAfter), of: query, database)
    query.end = try bound(("--end-at", endAt), ("--end-before", endBefore), of: query, database)
    if path.isDocument, group == nil, query.start != nil || query.end != nil {
      throw CommandFailure(.usage, "\"\(path)\" names a document. Cursors need a collection.")
    }
    do throws(QueryError) { try query.validate() } catch { throw CommandFailure(.usage, error.message) }
    return query
  }

  private func limit(_ query: inout Query) throws(CommandFailure) {
    query.limit = limit
    if let number = limit ?? limitToLast, number > Self.largestLimit {
      throw CommandFailure(.usage, "invalid limit \(number). The maximum is \(Self.largestLimit).")
    }
    guard let limitToLast else { return }
    if limit != nil { throw CommandFailure(.usage, "--limit and --limit-to-last cannot be combined.") }
    if order.isEmpty {
      throw CommandFailure(.usage, "--limit-to-last needs an order. Add --order.")
    }
    (query.limit, query.limitType) = (limitToLast, .last)
  }

  /// The largest limit that the protocol can encode.
  package static let largestLimit = Query.maximumLimit

  private func bound(
    _ inclusive: (name: String, text: String?), _ exclusive: (name: String, text: String?), of query: Query,
    _ database: DatabaseID
  ) throws(CommandFailure) -> Bound? {
    if inclusive.text != nil, exclusive.text != nil {
      throw CommandFailure(.usage, "\(inclusive.name) and \(exclusive.name) cannot be combined.")
    }
    guard let text = inclusive.text ?? exclusive.text else { return nil }
    do throws(TextError) {
      return try CursorText.parse(text, isInclusive: inclusive.text != nil, of: query, database: database)
    } catch {
      throw error.failure(inclusive.text != nil ? inclusive.name : exclusive.name, text)
    }
  }

  package init() {}
}

/// The query of a command: a path and its conditions.
package struct QueriedPath: ParsableArguments {
  @Argument(help: "Path of a document or a collection; with --collection-group the id of collections at any depth.")
  package var path: String

  @Flag(help: "All collections with this id.")
  package var collectionGroup = false

  @OptionGroup package var selection: QueryOptions

  /// Whether the path is the whole database.
  package var isRoot: Bool { path == "/" && !collectionGroup }

  /// - Throws: a usage failure with the argument's name, and the position in the argument.
  package func query(in database: DatabaseID) throws -> Query {
    collectionGroup
      ? try selection.query(.root, group: path, in: database)
      : try selection.query(try DataPath.any(path), in: database)
  }

  /// - Throws: a usage failure as `query` does. The path of a document is also a usage failure.
  package func collectionQuery(in database: DatabaseID) throws -> Query {
    let query = try query(in: database)
    guard query.isDocumentQuery else { return query }
    throw CommandFailure(.usage, "\"\(query.path)\" names a document. Expected a collection.")
  }

  package init() {}
}

/// The source of the documents that a command reads.
package enum ReadSource: String, ExpressibleByArgument, CaseIterable {
  case server, cache
}
