// SPDX-License-Identifier: Apache-2.0
import ClientTesting
import Hearth

extension Events where Element == FirestoreErrorCode.Code {
  /// A completion handler; no error counts as `OK`.
  var completion: @Sendable ((any Error)?) -> Void {
    { error in self.send(error.map { code(of: $0) ?? .unknown } ?? .OK) }
  }
}
