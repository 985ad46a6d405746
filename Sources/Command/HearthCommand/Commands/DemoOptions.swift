// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOptions
import CommandOutput
import CommandTransfer
import DashboardHost
import FirestoreModel

/// The demo: customers who write, and where they may.
struct DemoOptions: ParsableArguments {
  @Flag(
    name: .customLong("demo"),
    help: """
      Let three customers write a plausible stream of orders, users and chat messages, into a database of the demo's \
      own; into no other that has documents.
      """)
  var isOn = false

  @Option(name: .customLong("demo-seed"), help: ArgumentHelp("Seed of the demo's stream.", valueName: "number"))
  var seed: UInt64 = 7

  @Option(
    name: .customLong("demo-speed"),
    help: ArgumentHelp("How many times faster than people the demo's customers are.", valueName: "factor"))
  var speed = 1.0

  @Option(
    name: .customLong("demo-writes"),
    help: ArgumentHelp(
      "Let the demo write into this project of the named backend, whose database must be empty or the demo's own.",
      valueName: "project"))
  var project: String?

  /// `nil` where no demo runs.
  var settings: DemoSettings? { isOn ? DemoSettings(seed: seed, speed: speed) : nil }

  /// - Throws: `ValidationError` if the demo may not write where the storage is.
  func check(_ storage: StorageOptions) throws {
    guard speed >= 0.001, speed <= 100_000 else {
      throw ValidationError("--demo-speed \(speed): give a number from 0.001 to 100000.")
    }
    guard isOn else {
      if project != nil { throw ValidationError("--demo-writes is about --demo; give both.") }
      return
    }
    if let name = storage.completion?.connection?.name, storage.isReadOnly {
      throw ValidationError("--demo writes, and the connection \(name) is read-only. Leave one of them out.")
    }
    guard let backend = storage.namedBackend else { return }
    let own = storage.locations(Paths.ofProcess).database.project
    if project == own { return }
    if let project {
      throw ValidationError("--demo-writes names the project \(project), but the database is one of \(own).")
    }
    let remedy = backend.hasPrefix("--") ? "Leave one of them out." : "Unset it, or say --in-memory."
    throw ValidationError(
      "--demo writes into data of its own, but \(backend) names another backend. \(remedy) "
        + "To let it write there: --demo-writes \(own).")
  }

  /// Gives the demo a folder of its own where no place is named.
  func direct(_ storage: inout StorageOptions, _ paths: Paths) {
    if isOn, storage.namedBackend == nil, !storage.inMemory, storage.data == nil { storage.data = "\(paths.data)/demo" }
  }
}

extension DemoScript {
  static let help: String = """
    Press the keys of a file, each at its time, and show its captions: lines such as 'wait 2s', 'keys 1 j enter', \
    'type orders', 'caption TEXT', 'pace 200ms', 'quit'.
    """

  /// - Parameter file: the script's name, `-` for standard input; `nil` for none.
  /// - Throws: the error in the script, with its line.
  static func read(_ file: String?) throws(CommandFailure) -> DemoScript? {
    guard let file else { return nil }
    return try parse(try DocumentArgument.text(ofFile: file), name: file == "-" ? "standard input" : file)
  }
}
