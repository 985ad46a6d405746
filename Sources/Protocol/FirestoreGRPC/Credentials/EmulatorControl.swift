// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Asks the control interface of an emulator (PROTOCOL §5.2) over HTTP.
package struct EmulatorControl: Sendable {
  private let endpoint: Endpoint
  private let credentials: Credentials
  private let isTrusting: Bool

  /// Makes a client of the interface.
  /// - Parameters:
  ///   - credentials: an administrator's credentials.
  ///   - isTrusting: whether they are sent without TLS as well.
  package init(_ endpoint: Endpoint, _ credentials: Credentials, isTrusting: Bool = false) {
    (self.endpoint, self.credentials, self.isTrusting) = (endpoint, credentials, isTrusting)
  }

  /// Gets a path.
  /// - Parameter path: the path from its first slash on.
  /// - Returns: the body of a successful answer.
  /// - Throws: `unavailable` without an answer, `unimplemented` if there is no such path, as at Cloud Firestore.
  package func get(_ path: String) async throws(RPCStatus) -> [UInt8] {
    guard endpoint.socket == nil, let url = HTTPURL((endpoint.isTLS ? "https://" : "http://") + endpoint.text + path)
    else { throw RPCStatus(.unimplemented, "\(endpoint.text) is not asked over HTTP.") }
    var request = HTTPRequest(method: .get, url: url, purpose: "answer \(path)")
    if let authorization = try await credentials.authorization(for: endpoint, isTrusting: isTrusting) {
      request.headers = [("authorization", authorization)]
    }
    if case .tls(let roots) = endpoint.security { request.trustRoots = roots }
    let response = try await request.perform()
    guard response.status == 200 else {
      throw RPCStatus(
        .unimplemented, "\(endpoint.text) answers \(path) with status \(response.status); 'hearth serve' knows it.")
    }
    return response.body
  }
}
