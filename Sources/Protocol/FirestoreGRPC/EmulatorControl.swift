// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// Calls the control interface of an emulator (PROTOCOL §5.2) over HTTP.
package struct EmulatorControl: Sendable {
  private let endpoint: Endpoint
  private let credentials: Credentials
  private let isTrusting: Bool

  /// Creates a client for the control interface.
  /// - Parameters:
  ///   - credentials: the credentials of an administrator.
  ///   - isTrusting: whether to send the credentials even if the connection has no TLS.
  package init(_ endpoint: Endpoint, _ credentials: Credentials, isTrusting: Bool = false) {
    (self.endpoint, self.credentials, self.isTrusting) = (endpoint, credentials, isTrusting)
  }

  /// Sends a GET request for a path.
  /// - Parameter path: the path, which starts with a slash.
  /// - Returns: the body of a successful response.
  /// - Throws: `unavailable` if there is no response; `permission-denied` if the credentials are not an
  ///   administrator's; `unimplemented` if the path does not exist, which is the case on Cloud Firestore.
  package func get(_ path: String) async throws(RPCStatus) -> [UInt8] {
    let response = try await perform(.get, path)
    if response.status == 401 || response.status == 403 {
      throw RPCStatus(.permissionDenied, "\(endpoint.text) allows \(path) only for administrators (--admin-secret).")
    }
    guard response.status == 200 else {
      throw RPCStatus(
        .unimplemented, "\(endpoint.text) does not support \(path) (status \(response.status)). Use 'hearth serve'.")
    }
    return response.body
  }

  /// Sends a PUT request with a body to a path.
  /// - Throws: `unavailable` if there is no response; `failedPrecondition`, with the response, if the server rejects
  ///   the body.
  package func put(_ path: String, _ body: String) async throws(RPCStatus) {
    let response = try await perform(.put, path, body)
    guard response.status == 200 else {
      let reason = String(decoding: response.body.prefix(2_000), as: UTF8.self)
      throw RPCStatus(.failedPrecondition, "\(endpoint.text) rejects it with status \(response.status): \(reason)")
    }
  }

  private func perform(
    _ method: HTTPRequest.Method, _ path: String, _ body: String = ""
  ) async throws(RPCStatus) -> HTTPResponse {
    guard endpoint.socket == nil, let url = HTTPURL((endpoint.isTLS ? "https://" : "http://") + endpoint.text + path)
    else { throw RPCStatus(.unimplemented, "\(endpoint.text) cannot be reached over HTTP.") }
    var request = HTTPRequest(method: method, url: url, body: body, purpose: "answer \(path)")
    if let authorization = try await credentials.authorization(for: endpoint, isTrusting: isTrusting) {
      request.headers = [("authorization", authorization)]
    }
    if case .tls(let roots) = endpoint.security { request.trustRoots = roots }
    return try await request.perform()
  }
}
