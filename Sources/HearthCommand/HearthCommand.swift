// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dashboard
import Foundation
import Glibc
import Terminal
import TerminalTheme

/// `hearth`: the dashboard on the embedded backend.
struct HearthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hearth",
    abstract: "Watch, change and unplug a Firestore database from the terminal.",
    discussion: "Without options: the dashboard on the embedded backend, with its data and a durable cache under $XDG_DATA_HOME/hearth.",
    version: "0.1.0")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var appearance: AppearanceOptions

  @Flag(help: "Let a second client write a plausible stream of orders, users and chat messages.")
  var demo = false

  @Option(help: ArgumentHelp("Seed of the demo's stream.", valueName: "number"))
  var demoSeed: UInt64 = 7

  @Flag(help: "Start with the network switched off.")
  var offline = false

  @Flag(help: "Print the key bindings and exit.")
  var printKeys = false

  @Flag(help: "Print the configuration file with its defaults and exit.")
  var printConfig = false

  @MainActor
  mutating func run() async throws {
    if printKeys { return print(KeyReference.plainText) }
    if printConfig { return print(ConfigurationFile.template, terminator: "") }
    let paths = Paths(environment: ProcessInfo.processInfo.environment)
    let (file, fileError) = ConfigurationFile.read(paths.configurationFile)
    let catalog = ThemeCatalog(directories: paths.themeFolders)
    let theme = try appearance.theme(configured: file.theme, in: catalog)
    guard isatty(STDOUT_FILENO) == 1 else {
      throw ValidationError("standard output is not a terminal, so there is no dashboard. Run hearth in a terminal.")
    }
    Log.start(in: paths.state)
    let options = Session.Options(
      storage: storage.locations(paths), isDemo: demo, demoSeed: demoSeed, startsOffline: offline,
      mouse: appearance.mouse(configured: file.mouse), depth: appearance.color.depth, glyphs: file.glyphs.choice,
      theme: theme, catalog: catalog, notices: fileError.map { [$0] } ?? [])
    let session: Session
    do {
      session = try Session(options)
    } catch let error as TerminalError {
      throw ValidationError(error.message)
    }
    let code = await session.run()
    if code != 0 { throw ExitCode(code) }
  }
}
