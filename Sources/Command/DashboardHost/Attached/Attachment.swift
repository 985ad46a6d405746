// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
package import FirestoreClientState
package import FirestoreInspection
import FirestoreModel

/// A program whose client a dashboard shows, and the way to it.
package struct Attachment: Sendable {
  package var program: AttachedProgram
  package var link: InspectionLink
  package var greeting: InspectionGreeting

  package init(
    _ greeting: InspectionGreeting, at address: InspectionAddress, over link: InspectionLink, allowsControl: Bool
  ) {
    program = AttachedProgram(
      process: greeting.process, client: address.client, name: greeting.name, allowsControl: allowsControl)
    self.link = link
    self.greeting = greeting
  }

  /// The program's backend, as the dashboard names it.
  package var backend: ConnectedBackend {
    let kind: ConnectedBackend.Kind =
      switch greeting.backend {
      case .embedded, .other: .embedded
      case .emulator: .emulator
      case .cloud: .cloud
      }
    return ConnectedBackend(
      kind, project: greeting.database.project, database: greeting.database.database, host: greeting.host,
      isTLS: greeting.isTLS)
  }
}
