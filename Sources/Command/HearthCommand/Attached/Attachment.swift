// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreInspection
import FirestoreModel

/// A program whose client a dashboard shows, and the way to it.
struct Attachment: Sendable {
  var program: AttachedProgram
  var link: InspectionLink
  var greeting: InspectionGreeting

  init(_ greeting: InspectionGreeting, over link: InspectionLink, allowsControl: Bool) {
    program = AttachedProgram(process: greeting.process, name: greeting.name, allowsControl: allowsControl)
    self.link = link
    self.greeting = greeting
  }

  /// The program's backend, as the dashboard names it.
  var backend: DashboardConfiguration.Backend {
    let kind: DashboardConfiguration.Backend.Kind =
      switch greeting.backend {
      case .embedded, .other: .embedded
      case .emulator: .emulator
      case .cloud: .cloud
      }
    return DashboardConfiguration.Backend(
      kind, project: greeting.database.project, database: greeting.database.database, host: greeting.host,
      isTLS: greeting.isTLS)
  }
}
