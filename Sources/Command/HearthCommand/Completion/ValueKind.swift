// SPDX-License-Identifier: Apache-2.0

/// The kind of a value that is being completed.
enum ValueKind: Hashable, Sendable {
  /// The path of a collection or a document.
  case path
  case field
  /// `field=value`
  case assignment
  /// Several fields, parted by commas.
  case fields
  case order
  case condition
  case connection
  case theme
  /// A program that can be watched.
  case program
  /// A file of a scenario, or the name of one that is shipped.
  case scenario
  case values([String])
  case file
  case directory
  case unknown

  /// - Parameter command: the name of the argument's command.
  init(_ argument: CommandGrammar.Argument, of command: String) {
    if let values = argument.allValues, !values.isEmpty {
      self = .values(values)
      return
    }
    let name = argument.preferredName?.name
    switch (argument.valueName ?? "", name) {
    case (_, "connection"), (_, "to-connection"): self = .connection
    case ("name", nil) where command == "use": self = .connection
    case (_, "theme"): self = .theme
    case (_, "frame"): self = .values(["80x24", "120x36", "160x48"])
    case ("path", _), ("collection", _), ("place", _), ("after", _): self = .path
    case ("condition", _): self = .condition
    case ("field[:desc]", _): self = .order
    case ("field,...", _): self = .fields
    case ("field", _): self = .field
    case ("fields", nil), ("field=value", _): self = .assignment
    case ("file", _), ("in", _), ("out", _), ("files", _): self = .file
    case ("dir", _), ("directory", _): self = .directory
    case ("program", _): self = .program
    case ("scenario", nil): self = .scenario
    default: self = .unknown
    }
  }
}
