// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import FirestoreModel
import FirestoreQuery
import FirestoreText
import Glibc

/// `hearth distinct`: the values that fields have.
package struct DistinctCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "distinct", abstract: "List the values that a field has, each once.",
    discussion: """
      One value per line, in the order in which Firestore sorts them; of several fields, a line for each combination. \
      With --json a line is an object of the fields. Equal numbers are one value, whatever their type. Documents \
      without the field are told on standard error. The documents are read, of each these fields only; Cloud Firestore \
      charges for that. 'hearth count PATH --by FIELD' says how many there are of each.

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

/// One run of `hearth distinct`, or of `hearth count --by`.
struct GroupListing: Sendable {
  let queried: QueriedPath
  let options: AggregationOptions
  /// Whether each row says how many documents there are.
  let isCounted: Bool

  /// - Parameters:
  ///   - text: the fields, with commas between them.
  ///   - name: the name of the argument in messages.
  func run(_ text: String, _ name: String) async throws {
    let locations = options.storage.locations
    let query = try queried.collectionQuery(in: locations.database)
    if options.source == .cache, options.moment.at != nil { throw CommandFailure.cacheHasNoPast }
    let empty = FieldGroups(by: try Self.selection(text, name))
    let names = empty.names(isCounted: isCounted)
    let format = try options.formatting.format(names, or: isatty(STDOUT_FILENO) == 1 ? .table : .lines)
    let (source, time) = (options.source, options.moment.at)
    let groups = try await options.timeLimit.limit {
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
    for group in isCounted ? groups.ranked : groups.sorted where isCounted || !group.isAbsent {
      try printer.print(groups.row(group, isCounted: isCounted, in: locations.database))
    }
    try printer.finish()
    if groups.sorted.isEmpty, source == .server {
      await options.headless.hint(at: query.path, group: query.collectionGroup, try locations.connect().at(time))
    }
    guard !isCounted, let absent = groups.sorted.first(where: \.isAbsent) else { return }
    let fields = groups.fields.paths.map(\.canonicalText).joined(separator: " or ")
    options.headless.note("\(absent.documents.documents) without \(fields).")
  }

  private static func selection(_ text: String, _ name: String) throws(CommandFailure) -> FieldSelection {
    let fields: FieldSelection
    do throws(TextError) { fields = try FieldSelection(parsing: text) } catch { throw error.failure(name, text) }
    if fields.paths.contains(where: \.isDocumentID) {
      throw CommandFailure(.usage, "__name__ is the id, of which each document has its own: 'hearth get' lists them.")
    }
    return fields
  }
}
