// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import CommandOptions
package import CommandOutput
import Dashboard
package import DashboardModel
package import FirestoreBackend
package import FirestoreClientState
import FirestoreModel
import FirestoreText

extension Session {
  /// The options of a run of the dashboard.
  package struct Options {
    package var storage: StorageOptions.Locations
    package var durability = BackendConfiguration.Durability.normal
    /// The settings of the demo, which writes to the backend; `nil` if no demo runs.
    package var demo: DemoSettings?
    package var startsOffline = false
    package var isReadOnly = false
    /// Whether the listeners of the last session are started again, and the listeners of this session are saved.
    package var restoresListeners = false
    /// The listeners that the command line names.
    package var listeners: [ListenerDefinition] = []
    /// The appearance options of the command line.
    package var appearance: AppearanceOptions
    /// The settings in the user's files.
    package var preferences: Preferences
    package var theme: ThemeChoice
    package var paths: Paths
    /// Messages to the user at the start.
    package var notices: [String]
    /// The files to which the session is recorded.
    package var recordingFiles = RecordingFiles()
    package var subject = Subject.client
    /// Whether the dashboard starts with the wall, the full-screen view of all listeners. In this case the saved
    /// listeners are started, but the file with them is not changed.
    package var isWall = false
    /// The script with keys to press automatically and captions; `nil` for none.
    package var script: DemoScript?
    /// Whether to start listeners for the root collections if there are no other listeners at the start.
    package var listensToRoot = false
    /// Palette commands to run at the start.
    package var commands: [String] = []
    /// Whether the terminal connection counts as slow, whatever its round trip.
    package var isSlow = false
    /// The faults that are set at the start.
    package var faults: [FaultChange] = []
    /// The number of clients on the screen at the start.
    package var clientCount = 1

    package init(
      storage: StorageOptions.Locations, appearance: AppearanceOptions, preferences: Preferences, theme: ThemeChoice,
      paths: Paths, notices: [String]
    ) {
      self.storage = storage
      self.appearance = appearance
      self.preferences = preferences
      self.theme = theme
      self.paths = paths
      self.notices = notices
    }

    package var attachment: Attachment? { if case .program(let attachment) = subject { attachment } else { nil } }
    package var live: LiveScenario? { if case .scenario(let live) = subject { live } else { nil } }
    package var replay: ReplayRequest? { if case .recording(let replay) = subject { replay } else { nil } }
  }

  /// The content that the dashboard shows.
  package enum Subject {
    /// A client of the dashboard.
    case client
    /// Another program's client.
    case program(Attachment)
    /// A recorded session.
    case recording(ReplayRequest)
    /// A scenario to play.
    case scenario(LiveScenario)
  }
}

/// The faults that are set when a command starts.
package struct FaultOptions: ParsableArguments {
  @Option(
    name: .customLong("fault"),
    help: ArgumentHelp(
      "Start with this fault between the client and its backend: \"latency 200ms\", \"loss 10%\", \"next write "
        + "drop-ack\", \"down watch\"; repeatable. 'hearth help testing' lists them.",
      valueName: "words"),
    transform: FaultOptions.parse)
  package var faults: [FaultChange] = []

  package init() {}

  private static func parse(_ text: String) throws -> FaultChange {
    let change: FaultChange
    do throws(TextError) { change = try FaultText.parse(text) } catch { throw ValidationError("\(error)") }
    if let objection = change.objectionOfClients { throw ValidationError(objection) }
    return change
  }
}

extension FaultInjector {
  /// Creates a fault injector with the given faults, which must be valid.
  package convenience init(seed: UInt64 = 0, _ changes: [FaultChange]) {
    self.init(seed: seed)
    // The parser rejects faults that do not apply to a client.
    for change in changes { try? perform(change) }
  }
}

extension StorageOptions.Locations {
  /// The options that let another command use the same data, in shell syntax. `nil` if the data is in this process's
  /// memory.
  var reachingOptions: String? {
    var options: [String] = []
    if let connection { return Self.quoted(["-C", connection.name]) }
    let reached = BackendConnection.name(self)
    switch (backend, reached.kind) {
    case (.embedded(nil), _): return nil
    case (.embedded(let folder?), _): if isDataNamed { options += ["--data", folder] }
    case (.remote, .cloud): options.append("--cloud")
    case (.remote, _):
      // A server with TLS also needs options for certificates or credentials.
      guard let host = reached.host, !reached.isTLS else { return nil }
      options += ["--emulator", host]
    }
    if database.project != "hearth" { options += ["--project", database.project] }
    if reached.database != "(default)" { options += ["--database", reached.database] }
    return Self.quoted(options)
  }

  /// The words in shell syntax.
  private static func quoted(_ words: [String]) -> String {
    words.map { word in
      let isPlain = word.utf8.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return byte < 0x80 && (character.isLetter || character.isNumber || "-_./:@%+=,".contains(character))
      }
      return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }.joined(separator: " ")
  }
}
