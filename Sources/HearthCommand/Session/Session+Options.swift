// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreBackend

extension Session {
  /// What one run of the dashboard is opened with.
  struct Options {
    var storage: StorageOptions.Locations
    var durability: BackendConfiguration.Durability
    var isDemo: Bool
    var demoSeed: UInt64
    var demoSpeed: Double
    var startsOffline: Bool
    var isReadOnly: Bool
    /// Whether the listeners of the last session come back, and those of this one at the next start.
    var restoresListeners: Bool
    /// What the command line names to be listened to.
    var listeners: [ListenerDefinition]
    /// What the command line says of the screen.
    var appearance: AppearanceOptions
    /// What the user's files say.
    var preferences: Preferences
    var theme: ThemeChoice
    var paths: Paths
    /// What the user should read first.
    var notices: [String]
    /// What is kept of the session.
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
