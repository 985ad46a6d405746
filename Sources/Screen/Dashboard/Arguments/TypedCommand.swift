// SPDX-License-Identifier: Apache-2.0
import DashboardModel
package import FirestoreText

/// Commands of the palette by their names, as the command line gives them: `offline 30s; wall`.
package enum TypedCommand {
  /// The commands of a line, parted by semicolons outside of quotes.
  /// - Throws: for a name that no command has, with its column; an argument is read when the command runs.
  package static func commands(in line: String) throws(TextError) -> [String] {
    var found: [String] = []
    for (start, text) in parts(of: line) {
      let typed = text.trimmed
      if typed.isEmpty { continue }
      let indent = text.unicodeScalars.prefix { $0 == " " }.count
      do throws(TextError) { try check(typed) } catch { throw error.moved(by: start + indent) }
      found.append(typed)
    }
    return found
  }

  private static func parts(of line: String) -> [(start: Int, text: String)] {
    var parts: [(start: Int, text: String)] = [(0, "")]
    var quote: Unicode.Scalar?
    for (index, scalar) in line.unicodeScalars.enumerated() {
      if scalar == quote { quote = nil } else if quote == nil, scalar == "\"" || scalar == "'" { quote = scalar }
      if scalar == ";", quote == nil {
        parts.append((index + 1, ""))
      } else {
        parts[parts.count - 1].text.unicodeScalars.append(scalar)
      }
    }
    return parts
  }

  /// The name of a command, and what stands behind it.
  static func split(_ text: String) -> (name: String, rest: String) {
    guard let blank = text.firstIndex(of: " ") else { return (text, "") }
    return (String(text[..<blank]), text[blank...].trimmed)
  }

  private static func check(_ text: String) throws(TextError) {
    if Palette.moment(named: text) != nil { return }
    let (name, rest) = split(text)
    let keymap = Keymap.standard
    let all = (keymap.commands + keymap.unbound).filter { command in
      if case .overlay = command.context { false } else { true }
    }
    let named = all.filter { $0.name == name }
    guard let command = named.first(where: { $0.argument != nil }) ?? named.first else {
      if Palette.path(text) != nil { return }
      throw TextError(column: 1, "no command is called \(name)\(Keymap.hint(name, all.map(\.name)))")
    }
    if command.argument == nil, !rest.isEmpty {
      throw TextError(column: name.unicodeScalars.count + 2, "\(name) takes nothing behind it")
    }
    if let argument = command.argument, !argument.isOptional, rest.isEmpty {
      throw TextError(column: name.unicodeScalars.count + 1, "\(name) needs more: \(argument.hint)")
    }
  }
}

extension Palette {
  /// The row, moment or recording that a text names by itself: `42`, `50%`, `at 12:04:16`, `record FILE`.
  static func moment(named text: String) -> Item? { jump(text) ?? moment(text) ?? recording(text) }
}

extension DashboardState {
  /// Runs a command by its name; a message tells why that is not possible.
  mutating func run(typed text: String) -> [Effect] {
    let text = text.trimmed
    if text.isEmpty { return [] }
    if let item = Palette.moment(named: text) { return run(item.target) }
    let (name, rest) = TypedCommand.split(text)
    let keymap = configuration.keymap
    let panes = [Pane.collections, .writes, .network, .feed].map(KeyContext.pane)
    let contexts = screenContexts + panes + [.always]
    guard
      let command = keymap.unbound.first(where: { $0.name == name }) ?? keymap.command(named: name, in: contexts)
    else {
      if let item = Palette.path(text) { return run(item.target) }
      toast(.warning, "no command is called \(name)")
      return []
    }
    return rest.isEmpty ? perform(command) : perform(command, rest)
  }
}
