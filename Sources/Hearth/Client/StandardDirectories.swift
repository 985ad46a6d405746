// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// Where data lies that nobody named a place for.
package enum StandardDirectories {
  /// The user's: what `HOME` names, else what the system has on record for the user. A relative or empty value is none;
  /// a user without either has a directory in which nothing can be made.
  package static func home(_ environment: [String: String]) -> String {
    if let home = environment["HOME"], home.hasPrefix("/") { return home }
    guard let record = getpwuid(getuid()), let directory = record.pointee.pw_dir else { return "/nonexistent" }
    let home = String(cString: directory)
    return home.hasPrefix("/") ? home : "/nonexistent"
  }

  /// `$XDG_DATA_HOME/hearth`. A relative path in the variable is ignored, as the XDG specification asks.
  package static func data(_ environment: [String: String]) -> String {
    let set = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return (set ?? home(environment) + "/.local/share") + "/hearth"
  }

  /// Of this process.
  static var data: String { data(ProcessInfo.processInfo.environment) }
}
