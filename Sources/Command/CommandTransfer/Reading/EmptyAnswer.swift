// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
package import CommandOutput
package import FirestoreModel
import FirestoreProtocol
package import FirestoreQuery
import Spelling

/// Notes about a path without results. Without a note, a mistyped name or a wrong project looks like lost data.
struct EmptyAnswer: Sendable {
  let datastore: any Datastore
  let database: DatabaseID

  init(_ datastore: any Datastore, _ database: DatabaseID) { (self.datastore, self.database) = (datastore, database) }

  init(_ connection: BackendConnection) { self.init(connection.datastore, connection.database) }

  /// - Parameters:
  ///   - path: the path of a collection or document, or the root.
  ///   - group: the collection id of a collection group, which replaces the path.
  /// - Returns: `nil` if there is no likely reason, or if the reason cannot be determined.
  func note(at path: ResourcePath, group: String? = nil) async -> String? {
    // The note is optional: the result is complete without it.
    guard let collections = try? await datastore.listCollectionIDs(below: .root) else { return nil }
    if collections.isEmpty { return await elsewhere() }
    if group != nil || path.isRoot { return nil }
    return await nearest(to: path, collections)
  }

  /// A note about data in other databases of the same backend.
  private func elsewhere() async -> String? {
    // Notes are omitted if they cannot be determined.
    guard let all = try? await datastore.databases(of: nil) else { return nil }
    let others = all.filter { $0 != database }
    guard let first = others.first else { return nil }
    let more = others.count > 1 ? ", and others ('hearth databases')" : ""
    return "the database \(database.text) is empty, but there is data in \(first.text)\(more). Add "
      + "\(first.options(from: database))."
  }

  /// A note about the first segment of the path that does not exist, with the most similar existing name.
  private func nearest(to path: ResourcePath, _ collections: [String]) async -> String? {
    var (parent, known) = (ResourcePath.root, collections)
    let segments = path.segments.map(String.init)
    if segments.first == "**" {
      return "for all collections with the id \(path.last), use \(ShellText.typed(path.last)) --collection-group."
    }
    for index in stride(from: 0, to: segments.count, by: 2) {
      if !known.contains(segments[index]) {
        let missing = parent.appending(segments[index])
        let hint = NearestName.suggestion(for: segments[index], among: known).map {
          " Did you mean \(parent.appending($0))?"
        }
        return "collection \(missing) does not exist.\(hint ?? "")"
      }
      guard index + 2 < segments.count else { return nil }
      parent = parent.appending(segments[index]).appending(segments[index + 1])
      // Notes are omitted if they cannot be determined.
      guard let below = try? await datastore.listCollectionIDs(below: parent) else { return nil }
      known = below
    }
    return nil
  }
}

extension HeadlessOptions {
  /// Prints possible reasons for an empty result, unless `--quiet` is set.
  package func hint(at path: ResourcePath, _ connection: BackendConnection) async {
    if !quiet, let note = await EmptyAnswer(connection).note(at: path) { self.note(ShownText(note)) }
  }

  /// Prints possible reasons for the empty result of a query, unless `--quiet` is set.
  package func hint(for query: Query, _ connection: BackendConnection) async {
    if quiet { return }
    var reason = await EmptyAnswer(connection).note(at: query.path, group: query.collectionGroup)
    if reason == nil { reason = await AbsentFields(of: query, connection).note() }
    if let reason { note(ShownText(reason)) }
  }

  /// Prints the field that occurs in one alternative (`or`) of a query but in no document, unless `--quiet` is set. The
  /// results of the other alternatives would hide a mistyped name.
  package func hint(forAlternativesOf query: Query, _ connection: BackendConnection) async {
    let paths = query.filters.flatMap(\.alternatives).map(\.path).filter { !$0.isDocumentID }
    if quiet || paths.isEmpty { return }
    if let reason = await AbsentFields(of: query, connection).note(ofUnsampled: paths) { note(ShownText(reason)) }
  }
}

extension Filter {
  /// The conditions inside `or` filters. A document need not satisfy all of them.
  fileprivate var alternatives: [FieldFilter] {
    switch self {
    case .field: []
    case .and(let filters): filters.flatMap(\.alternatives)
    case .or: fieldFilters
    }
  }
}

extension CommandFailure {
  /// The failure, with a note about possible reasons for the empty result.
  package func hinting(at path: ResourcePath, _ connection: BackendConnection) async -> CommandFailure {
    guard let note = await EmptyAnswer(connection).note(at: path) else { return self }
    var failure = self
    failure.message += " " + note.prefix(1).uppercased() + note.dropFirst()
    return failure
  }
}

extension DatabaseID {
  /// The options that select this database if another one is selected now.
  package func options(from other: DatabaseID) -> String {
    var options: [String] = []
    if project != other.project { options.append("--project \(ShellText.typed(project))") }
    if database != other.database { options.append("--database \(ShellText.typed(database))") }
    return options.joined(separator: " ")
  }
}
