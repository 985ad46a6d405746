// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Asks what controls an emulator (PROTOCOL §5.2) over HTTP.
package struct EmulatorControl: Sendable {
  private let endpoint: Endpoint

  package init(_ endpoint: Endpoint) { self.endpoint = endpoint }

  /// - Parameter path: from its first slash on.
  /// - Returns: the body of an answer that is well.
  /// - Throws: `unavailable` without an answer, `unimplemented` where there is no such path, as at Cloud Firestore.
  package func get(_ path: String) async throws(RPCStatus) -> [UInt8] {
    guard endpoint.socket == nil, let url = HTTPURL((endpoint.isTLS ? "https://" : "http://") + endpoint.text + path)
    else { throw RPCStatus(.unimplemented, "\(endpoint.text) is not asked over HTTP.") }
    let request = HTTPRequest(
      method: .get, url: url, headers: [("authorization", "Bearer owner")], purpose: "answer \(path)")
    let response = try await request.perform()
    guard response.status == 200 else {
      throw RPCStatus(
        .unimplemented, "\(endpoint.text) answers \(path) with status \(response.status); 'hearth serve' knows it.")
    }
    return response.body
  }
}
