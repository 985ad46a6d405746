// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
package import CommandOutput
import Dashboard
package import DashboardModel
package import FirestoreBackend
package import FirestoreClientState

extension Session {
  /// The options of one run of the dashboard.
  package struct Options {
    package var storage: StorageOptions.Locations
    package var durability = BackendConfiguration.Durability.normal
    /// The demo that writes; `nil` for none.
    package var demo: DemoSettings?
    package var startsOffline = false
    package var isReadOnly = false
    /// Whether the last session's listeners come back, and this one's at the next start.
    package var restoresListeners = false
    /// The listeners of the command line.
    package var listeners: [ListenerDefinition] = []
    /// The command line's options for the screen.
    package var appearance: AppearanceOptions
    /// The settings in the user's files.
    package var preferences: Preferences
    package var theme: ThemeChoice
    package var paths: Paths
    /// Messages for the user at the start.
    package var notices: [String]
    /// The files that keep the session.
    package var keeping = Keeping()
    package var subject = Subject.client
    /// Whether the wall is on the screen at first. The listeners of earlier sessions are then opened and stay as kept.
    package var isWall = false
    /// The keys that are pressed by themselves, with captions; `nil` for none.
    package var script: DemoScript?
    /// Whether the collections at the root are listened to where no listener is open at the start.
    package var listensToRoot = false
    /// Commands of the palette that run at the start.
    package var commands: [String] = []
    /// Whether the line to the terminal counts as slow, whatever its round trip.
    package var isSlow = false
    /// The faults that are there from the start.
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

  /// The thing that is shown.
  package enum Subject {
    /// A client of the dashboard's own.
    case client
    /// Another program's client.
    case program(Attachment)
    /// A recorded session.
    case recording(ReplayRequest)
    /// A scenario that is played.
    case scenario(LiveScenario)
  }
}
