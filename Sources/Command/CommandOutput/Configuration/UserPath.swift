// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A path as people type it where no shell reads it.
package enum UserPath {
  /// `~/x` in the home folder, anything else from the working folder.
  package static func absolute(_ path: String) -> String {
    guard path == "~" || path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else {
      return path
    }
    return home + path.dropFirst()
  }
}
