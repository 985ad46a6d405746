// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
import CommandOutput
package import FirestoreBackend
import FirestoreGRPC
import FirestoreInspection
import FirestoreModel
import Foundation
import Glibc

package import class Hearth.Inspection
package import enum Hearth.InspectionPermission

extension StorageOptions.Locations {
  /// The plan by which `hearth attach` finds the client of this command, and what faults it may set there.
  /// - Returns: `nil` unless the user allows it by `HEARTH_INSPECT=1`.
  package func inspection(_ faults: FaultInjector = FaultInjector()) -> Inspection.Plan? {
    let environment = ProcessInfo.processInfo.environment
    guard InspectionPermission.isGiven(unlessSaid: false, environment) else { return nil }
    let (kind, host, isTLS): (InspectionGreeting.BackendKind, String?, Bool) =
      switch backend {
      case .embedded: (.embedded, nil, false)
      case .remote(let remote): (isCloud ? .cloud : .emulator, remote.endpoint.text, remote.endpoint.isTLS)
      }
    let greeting = InspectionGreeting(
      process: getpid(), name: ProgramName.ofProcess, database: database, backend: kind, host: host, isTLS: isTLS,
      since: .now)
    return Inspection.Plan(folder: InspectionFolder(environment), greeting: greeting, faults: faults)
  }
}
