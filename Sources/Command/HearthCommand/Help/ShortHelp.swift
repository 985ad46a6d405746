// SPDX-License-Identifier: Apache-2.0

/// The help of `hearth` alone. It fits a terminal of 40 lines and 80 columns; `hearth help --all` prints the rest.
enum ShortHelp {
  typealias Row = (commands: [String], text: String)

  /// The commands that most people need, by what they are for.
  static let groups: [(title: String, rows: [Row])] = [
    (
      "THE SCREEN",
      [
        (["dashboard"], "all panes; what hearth does without a command"),
        (["wall"], "the last minute of all listeners"),
        (["attach"], "the client of a running program"),
        (["plain"], "without a screen: lines of words, or JSON"),
      ]
    ),
    (
      "READ",
      [
        (["databases", "ls", "tree"], "what there is"),
        (["get", "watch"], "documents once; their changes as they come"),
        (["count", "sum", "avg", "distinct"], "figures of a collection or a field"),
        (["schema", "stats", "diff"], "fields and sizes; what differs"),
      ]
    ),
    (
      "WRITE",
      [
        (["add", "create", "set", "update"], "a document; update also those of a query"),
        (["edit", "delete", "clear"], "in $EDITOR; one, many, or all of a database"),
        (["copy", "move"], "documents and collections, to other databases too"),
        (["import", "export"], "files: JSON, CSV, bundles, Google's exports"),
        (["backup", "restore"], "a whole database, with its rules and indexes"),
      ]
    ),
    (
      "SERVE AND TEST",
      [
        (["serve"], "a server for Firestore's SDKs, with rules"),
        (["proxy"], "between any client and any server: traffic, faults"),
        (["rules"], "check files of security rules, test them with cases"),
        (["play"], "a scenario: offline, writes, expected events"),
      ]
    ),
    (
      "WORK",
      [
        (["shell"], "commands one after the other, over one connection"),
        (["connections"], "names of places, and the one that is used without"),
      ]
    ),
  ]

  static var text: String {
    let parts = groups.map { group in
      "\(group.title)\n"
        + group.rows.map { row in
          "  \(row.commands.joined(separator: ", ").padding(to: 27))\(row.text)\n"
        }.joined()
    }
    return """
      Watch, change and unplug a Firestore database from the terminal.

      USAGE: hearth [OPTIONS]            the dashboard, on data of its own
             hearth COMMAND [OPTIONS]

      \(parts.joined())
      The place: --emulator HOST:PORT, --cloud --project ID, -C CONNECTION,
      --data FOLDER, --in-memory; else data of its own below ~/.local/share/hearth.

      hearth COMMAND --help        the options of a command, with examples
      hearth help --all            every command, and the dashboard's options
      hearth help PAGE             the manual: \(pages)
      """
  }

  /// The names of the pages, in lines below each other.
  private static var pages: String {
    let names = ManualPage.all.map(\.topic)
    let line = names.count - names.count / 2
    return names.prefix(line).joined(separator: ", ") + ",\n"
      + String(repeating: " ", count: 41) + names.dropFirst(line).joined(separator: ", ")
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(1, width - count))
  }
}
