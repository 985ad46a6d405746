// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreQuery

/// Which documents of a collection are meant, and in which order.
struct QueryOptions: ParsableArguments {
  // A value may begin with a dash: it is never taken for another option.
  @Option(
    name: .customLong("where"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Only documents for which this holds, such as 'state == CA', 'population >= 100000' or 'tags array-contains-any "
        + "[\"a\", \"b\"]'. Operators: == != < <= > >= in not-in array-contains array-contains-any. May be repeated.",
      valueName: "condition"))
  var conditions: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Order by a field; add :desc to reverse. May be repeated.", valueName: "field[:desc]"))
  var order: [String] = []

  @Option(parsing: .unconditional, help: ArgumentHelp("At most this many documents.", valueName: "number"))
  var limit: Int?

  var isEmpty: Bool { conditions.isEmpty && order.isEmpty && limit == nil }

  /// The query of a collection, a collection group or one document.
  /// - Throws: a usage failure that names the option, and the place in it.
  func query(_ path: ResourcePath, group: String? = nil, in database: DatabaseID) throws(CommandFailure) -> Query {
    var query = Query(path: path, collectionGroup: group)
    for text in conditions {
      do throws(ArgumentError) {
        query.filters.append(.field(try FilterText.parse(text, of: query, database: database)))
      } catch {
        throw error.failure("--where", text)
      }
    }
    for text in order {
      do throws(ArgumentError) {
        query.explicitOrderBy.append(try OrderText.parse(text))
      } catch {
        throw error.failure("--order", text)
      }
    }
    query.limit = limit
    do throws(QueryError) { try query.validate() } catch { throw CommandFailure(.usage, error.message) }
    return query
  }
}

/// The query that a command is about: where it looks, and for what.
struct QueriedPath: ParsableArguments {
  @Argument(help: "Path of a document or a collection; with --collection-group the id of collections at any depth.")
  var path: String

  @Flag(help: "All collections with this id.")
  var collectionGroup = false

  @OptionGroup var selection: QueryOptions

  /// - Throws: a usage failure that names the argument, and the place in it.
  func query(in database: DatabaseID) throws -> Query {
    collectionGroup
      ? try selection.query(.root, group: path, in: database)
      : try selection.query(try DataPath.any(path), in: database)
  }
}

/// Paths of documents and collections as arguments. Consoles write them with a slash before, shells complete them with
/// one after; both are taken, as the SDKs do.
enum DataPath {
  private static func trimmed(_ text: String) -> String {
    var path = text[...]
    if path.utf8.count > 1, path.utf8.first == UInt8(ascii: "/") { path.removeFirst() }
    if path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return String(path)
  }

  static func any(_ text: String) throws(CommandFailure) -> ResourcePath {
    do throws(ModelError) {
      return try ResourcePath(validating: trimmed(text))
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  static func document(_ text: String) throws(CommandFailure) -> DocumentKey {
    do throws(ModelError) {
      return try DocumentKey(validating: trimmed(text))
    } catch {
      throw CommandFailure(.usage, error.message)
    }
  }

  static func collection(_ text: String) throws(CommandFailure) -> ResourcePath {
    let path = try any(text)
    guard path.isCollection else {
      throw CommandFailure(.usage, "\"\(text)\" names a document. A collection path has an odd number of segments.")
    }
    return path
  }
}
