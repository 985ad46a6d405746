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
    /// A recorded session to show, in place of a client's.
    var replay: ReplayRequest?
    /// Another program whose client is shown, in place of one of the dashboard's own.
    var attachment: Attachment?
  }
}
