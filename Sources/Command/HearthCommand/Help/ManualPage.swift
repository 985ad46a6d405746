// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Foundation
import ManualPages

/// A page of the manual: `hearth help TOPIC`.
struct ManualPage: Hashable, Sendable {
  let topic: String
  let source: String

  /// The first heading.
  var title: String { source.split(separator: "\n").first.map { String($0.drop { $0 == "#" || $0 == " " }) } ?? topic }

  static let all = ManualPages.sources.map {
    ManualPage(topic: $0.topic, source: String(decoding: $0.source, as: UTF8.self))
  }

  static func named(_ topic: String) -> ManualPage? { all.first { $0.topic == topic } }

  /// The page that the arguments ask for; `nil` if they ask for something else.
  static func asked(_ arguments: [String]) -> ManualPage? {
    guard arguments.count == 2, arguments[0] == "help" else { return nil }
    return named(arguments[1])
  }

  /// A line for each page, for the help of `hearth` itself.
  static var list: String {
    let lines = all.map { "  " + $0.topic.padding(toLength: 24, withPad: " ", startingAt: 0) + $0.title }
    return "PAGES OF THE MANUAL:\n" + lines.joined(separator: "\n") + "\n\n  See 'hearth help <page>'."
  }

  /// Prints the page; of a topic that is a command too, the command's options before it. What is longer than a
  /// terminal goes through the pager.
  func print() throws {
    let terminal = TerminalSize(of: STDOUT_FILENO)
    let pager = terminal == nil ? nil : Pager(environment: ProcessInfo.processInfo.environment)
    defer { pager?.close() }
    let output = pager?.file ?? .standard()
    let command = HearthCommand.configuration.subcommands.first { $0.configuration.commandName == topic }
    if let command { try output.write("\(ShownText(lines: HearthCommand.helpMessage(for: command)))\n\n") }
    let width = min(max(terminal?.columns ?? 80, 40), 100)
    let text = ManualText(width: width, paint: terminal == nil ? .none : .ofProcess())
    try output.write(text.lines(of: source).asLines())
    try output.finish()
  }
}
