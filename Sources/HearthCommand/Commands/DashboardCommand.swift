// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Dashboard
import FirestoreBackend
import FirestoreModel
import Foundation
import Glibc
import Terminal
import TerminalTheme

/// `hearth dashboard`, or just `hearth`: the full-screen dashboard.
struct DashboardCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dashboard", abstract: "Open the full-screen dashboard; what hearth does without a command.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var appearance: AppearanceOptions

  @Option(help: BackendConfiguration.Durability.help)
  var sync = BackendConfiguration.Durability.normal

  @Flag(
    help: """
      Let three customers write a plausible stream of orders, users and chat messages, into a database of the demo's \
      own; into no other that has documents.
      """)
  var demo = false

  @Option(help: ArgumentHelp("Seed of the demo's stream.", valueName: "number"))
  var demoSeed: UInt64 = 7

  @Option(help: ArgumentHelp("How many times faster than people the demo's customers are.", valueName: "factor"))
  var demoSpeed = 1.0

  @Option(
    help: ArgumentHelp(
      "Let the demo write into this project of the named backend, whose database must be empty or the demo's own.",
      valueName: "project"))
  var demoWrites: String?

  @Flag(help: "Start with the network switched off.")
  var offline = false

  @Flag(help: "Refuse everything that changes documents or waiting writes; what already waits is still sent.")
  var readonly = false

  @Flag(help: "Print the key bindings, those of the configuration included, and exit.")
  var printKeys = false

  @Flag(help: "Print the configuration file with its defaults and exit.")
  var printConfig = false

  mutating func validate() throws {
    guard demoSpeed > 0, demoSpeed <= 100_000 else {
      throw ValidationError("--demo-speed \(demoSpeed): give a number above 0, at most 100000.")
    }
    if demoWrites != nil, !demo { throw ValidationError("--demo-writes is about --demo; give both.") }
    if demo, readonly { throw ValidationError("--demo writes, and --readonly forbids that. Leave one of them out.") }
    guard demo, let backend = storage.namedBackend else { return }
    let project = storage.locations(Paths.ofProcess).database.project
    if demoWrites == project { return }
    if let demoWrites {
      throw ValidationError("--demo-writes names the project \(demoWrites), but the database is one of \(project).")
    }
    let remedy = backend.hasPrefix("$") ? "Unset it, or say --in-memory." : "Leave one of them out."
    throw ValidationError(
      "--demo writes into data of its own, but \(backend) names another backend. \(remedy) "
        + "To let it write there: --demo-writes \(project).")
  }

  @MainActor
  mutating func run() async throws {
    if printConfig { return try OutputFile.print(ConfigurationFile.template) }
    let paths = Paths.ofProcess
    let preferences = Preferences.read(paths)
    if printKeys {
      preferences.problems.forEach { StandardError.write("hearth: \($0)") }
      return try OutputFile.print(KeyReference.plainText(preferences.keymap) + "\n")
    }
    let background = ProcessInfo.processInfo.environment["COLORFGBG"].flatMap(Theme.Variant.init(colorFGBG:))
    let theme = try appearance.theme(preferences, background: background)
    guard isatty(STDOUT_FILENO) == 1 else {
      throw ValidationError(
        "standard output is not a terminal, so there is no dashboard. Run hearth in a terminal, or a command without a "
          + "screen ('hearth --help' lists them).")
    }
    Log.start(in: paths.state)
    if demo, storage.namedBackend == nil, !storage.inMemory, storage.data == nil { storage.data = "\(paths.data)/demo" }
    let notices =
      Notices.about(preferences.problems, theme, paths)
      + EditorFile.abandoned(below: paths.state).map { folder in
        "A killed session left an edited text in \(folder). Delete it when you have what you need."
      }
    let options = Session.Options(
      storage: storage.locations(paths), durability: sync, isDemo: demo, demoSeed: demoSeed, demoSpeed: demoSpeed,
      startsOffline: offline, isReadOnly: readonly, appearance: appearance, preferences: preferences, theme: theme,
      paths: paths, notices: notices)
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

/// What the user should read first.
enum Notices {
  /// One line for each problem, the theme in its place included.
  static func about(_ problems: [String], _ theme: ThemeChoice, _ paths: Paths) -> [String] {
    var all: [String] = []
    for problem in (problems + theme.problems).map(paths.short) where !all.contains(problem) { all.append(problem) }
    if !theme.problems.isEmpty { all.append("The theme is \(theme.theme.slug) instead.") }
    // The screen shows three lines at a time.
    if all.count > 3 { all.append("\(all.count) things are wrong with the configuration; : messages shows all.") }
    return all
  }
}

/// How the screen looks.
struct AppearanceOptions: ParsableArguments {
  enum Color: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// `nil` leaves it to NO_COLOR and the terminal, which has the last word in any case.
    var depth: ColorDepth? {
      switch self {
      case .auto: nil
      case .always: .trueColor
      case .never: .mono
      }
    }
  }

  @Option(help: ArgumentHelp("Theme; T in the dashboard shows them all.", valueName: "name"))
  var theme: String?

  @Option(help: "When to use colour.")
  var color = Color.auto

  @Flag(help: "Leave the mouse to the terminal.")
  var noMouse = false

  func mouse(configured: Bool?) -> Bool { noMouse ? false : configured ?? true }

  /// - Throws: a usage error with the nearest name for a theme that does not exist.
  func theme(_ preferences: Preferences, background: Theme.Variant?) throws -> ThemeChoice {
    do throws(ThemeError) {
      return try ThemeChoice.make(option: theme, preferences, background: background)
    } catch {
      throw ValidationError(error.line == nil ? error.reason : error.description)
    }
  }
}
