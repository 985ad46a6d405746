// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreBackend

extension Session {
  /// The options of one run of the dashboard.
  struct Options {
    var storage: StorageOptions.Locations
    var durability: BackendConfiguration.Durability
    var isDemo: Bool
    var demoSeed: UInt64
    var demoSpeed: Double
    var startsOffline: Bool
    var isReadOnly: Bool
    /// Whether the last session's listeners come back, and this one's at the next start.
    var restoresListeners: Bool
    /// The listeners of the command line.
    var listeners: [ListenerDefinition]
    /// The command line's options for the screen.
    var appearance: AppearanceOptions
    /// The settings in the user's files.
    var preferences: Preferences
    var theme: ThemeChoice
    var paths: Paths
    /// Messages for the user at the start.
    var notices: [String]
    /// The files that keep the session.
    var keeping = Keeping()
    var subject = Subject.client

    var attachment: Attachment? { if case .program(let attachment) = subject { attachment } else { nil } }
    var replay: ReplayRequest? { if case .recording(let replay) = subject { replay } else { nil } }
  }

  /// The thing that is shown.
  enum Subject {
    /// A client of the dashboard's own.
    case client
    /// Another program's client.
    case program(Attachment)
    /// A recorded session.
    case recording(ReplayRequest)
  }
}
