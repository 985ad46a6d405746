// SPDX-License-Identifier: Apache-2.0
import FirestoreSharing

/// The name under which other processes that use the same data know this one.
package enum ProgramName {
  /// `hearth` with its command; for the tests, the name of their program.
  package static let ofProcess: String = {
    guard SharedData.processName == "hearth" else { return SharedData.processName }
    // Only the dashboard is run without its name, and it takes options alone.
    let first = CommandLine.arguments.dropFirst().first ?? ""
    return "hearth " + (first.isEmpty || first.hasPrefix("-") ? "dashboard" : first)
  }()
}
