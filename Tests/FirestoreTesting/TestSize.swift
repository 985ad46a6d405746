// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The number of things that a test tries: all of them with `HEARTH_FULL=1`, which `.ci/nightly` says, and otherwise a part
/// with which the test can fail in the same ways.
package enum TestSize {
  package static let isFull = ProcessInfo.processInfo.environment["HEARTH_FULL"] == "1"

  package static func count(_ part: Int, full: Int) -> Int { isFull ? full : part }

  /// Every so many of a list's elements, from a place on that differs between the cases of a test: together they try all.
  package static func share<Element>(_ step: Int, of all: [Element], from place: Int) -> [Element] {
    if isFull { return all }
    return stride(from: place % step, to: all.count, by: step).map { all[$0] }
  }
}
