// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// `hearth`: a command with sub-commands; the dashboard if none is named.
struct HearthCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth",
    abstract: "Watch, change and unplug a Firestore database from the terminal.",
    usage: """
      hearth [<dashboard options>]
      hearth <command> [<options>]
      """,
    discussion: """
      Without a command: the dashboard on the embedded backend, with its data and a durable cache under \
      $XDG_DATA_HOME/hearth.
      """,
    version: "0.1.0",
    subcommands: [
      DashboardCommand.self, GetCommand.self, SetCommand.self, UpdateCommand.self, DeleteCommand.self,
      WatchCommand.self, ImportCommand.self, ExportCommand.self, ExplainCommand.self, IndexesCommand.self,
      RunCommand.self, ServeCommand.self, RepairCommand.self,
    ],
    defaultSubcommand: DashboardCommand.self)
}
