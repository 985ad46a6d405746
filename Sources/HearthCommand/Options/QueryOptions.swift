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
