// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
package import FirestoreModel
package import FirestoreQuery

/// The query that a command is about: where it looks, and for what.
package struct QueriedPath: ParsableArguments {
  @Argument(help: "Path of a document or a collection; with --collection-group the id of collections at any depth.")
  package var path: String

  @Flag(help: "All collections with this id.")
  package var collectionGroup = false

  @OptionGroup package var selection: QueryOptions

  /// Whether the whole database is named.
  package var isRoot: Bool { path == "/" && !collectionGroup }

  /// - Throws: a usage failure that names the argument, and the place in it.
  package func query(in database: DatabaseID) throws -> Query {
    collectionGroup
      ? try selection.query(.root, group: path, in: database)
      : try selection.query(try DataPath.any(path), in: database)
  }

  /// - Throws: the same, also for the path of a document.
  package func collectionQuery(in database: DatabaseID) throws -> Query {
    let query = try query(in: database)
    guard query.isDocumentQuery else { return query }
    throw CommandFailure(.usage, "\"\(query.path)\" names a document. Expected a collection.")
  }

  package init() {}
}
