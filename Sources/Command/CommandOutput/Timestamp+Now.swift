// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Foundation

extension Timestamp {
  /// The time of this device's clock, in microseconds.
  package static var now: Timestamp { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) }
}
