// SPDX-License-Identifier: Apache-2.0
import Foundation

/// One-line messages for people, beside the output.
enum StandardError {
  static func write(_ line: String) {
    FileHandle.standardError.write(Data((line + "\n").utf8))
  }
}
