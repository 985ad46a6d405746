// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import DataCommands
import FirestoreModel
import TerminalCanvas

/// The prompt before a typed line, which names the backend and database of commands.
struct ShellPrompt: Hashable, Sendable {
  var text: String
  /// The text with colours.
  var painted: ShownText

  init(_ text: String) { (self.text, painted) = (text, ShownText(text)) }

  /// - Parameter isSilent: whether the backend did not answer when it was asked last.
  init(
    _ locations: StorageOptions.Locations, isReadOnly: Bool, isSilent: Bool = false, _ paint: TerminalPaint,
    _ paths: Paths
  ) {
    let database = locations.database
    let name = locations.connection?.name ?? locations.place(paths)
    // The usual project has the program's own name.
    let isUsual = database.project == "hearth" && database.database == "(default)" && locations.connection == nil
    let project = database.database == "(default)" ? database.project : "\(database.project)/\(database.database)"
    let place = SafeText.sanitized(isUsual ? name : "\(name) \(project)")
    let isReadOnly = isReadOnly || locations.isReadOnly
    let production = locations.isProduction ? " PRODUCTION" : ""
    let silence = isSilent ? " unreachable" : ""
    let end = (isReadOnly ? " read-only" : "") + "> "
    text = place + silence + production + end
    let marks: ShownText =
      "\(paint.text(ShownText(silence), .headerOffline))\(paint.text(ShownText(production), .headerProd))"
    painted = "\(paint.text(ShownText(place), .header))\(marks)\(end)"
  }
}
