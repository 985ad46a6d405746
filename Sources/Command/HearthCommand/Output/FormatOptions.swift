// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreText

/// A format in which documents are printed.
enum DocumentFormat: Sendable {
  /// One document as JSON, or a collection's documents as a line each.
  case text
  case json
  case table
  /// A line for each field.
  case expanded
  case delimited(Delimiter)
  case template(OutputTemplate)
}

struct FormatOptions: ParsableArguments {
  @Flag(help: "One line of JSON per document, with its path and times.")
  var json = false

  @Flag(help: "An aligned table, as a terminal gets it; it may be cut.")
  var table = false

  @Flag(help: "Comma-separated values with a row of names; without --select all documents are held in memory.")
  var csv = false

  @Flag(help: "The same with tabs.")
  var tsv = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "A line of text per document with values in it: '{{path}} {{address.city}}'. Also id, createTime, updateTime, data.",
      valueName: "text"))
  var template: String?

  @Flag(help: "Do not show what is longer than the screen through $PAGER, or less.")
  var noPager = false

  mutating func validate() throws {
    try Self.checkChoice(json: json, table: table, csv: csv, tsv: tsv, template: template)
  }

  /// - Throws: if more than one format was chosen.
  static func checkChoice(json: Bool, table: Bool, csv: Bool, tsv: Bool, template: String?) throws {
    let chosen = [
      ("--json", json), ("--table", table), ("--csv", csv), ("--tsv", tsv), ("--template", template != nil),
    ]
    .filter(\.1).map(\.0)
    if chosen.count > 1 { throw ValidationError("\(chosen.joined(separator: " and ")) exclude each other.") }
  }

  /// Parses the argument of `--template`.
  static func parse(_ template: String) throws(CommandFailure) -> OutputTemplate {
    do throws(TextError) { return try OutputTemplate(parsing: template) } catch {
      throw error.failure("--template", template)
    }
  }

  private var isChosen: Bool { json || table || csv || tsv || template != nil }

  /// - Parameter isTable: whether a table is the default.
  func format(orTable isTable: Bool) throws(CommandFailure) -> DocumentFormat {
    if let template { return .template(try Self.parse(template)) }
    if json { return .json }
    if csv { return .delimited(.comma) }
    if tsv { return .delimited(.tab) }
    if !isChosen, Surroundings.current.isExpanded { return .expanded }
    return table || isTable ? .table : .text
  }
}
