// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Foundation

extension Timestamp {
  /// This device's clock.
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
  }
}
