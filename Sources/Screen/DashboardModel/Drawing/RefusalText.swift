// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension RPCStatus {
  /// The status on one line: a refusal by security rules without the sentence with which every one begins.
  package var lineText: String {
    let beginning = "Missing or insufficient permissions. "
    guard code == .permissionDenied, message.utf8.starts(with: beginning.utf8) else { return description }
    return RPCStatus(code, String(message.dropFirst(beginning.count))).description
  }
}
