// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import Foundation

/// Calls the administration REST APIs (google.firestore.admin.v1, google.firebase.rules.v1) to read the deployed
/// configuration when the user requests it.
package struct AdministrationCall: Sendable {
  /// The APIs. Google serves each API on a separate host. Other servers serve both APIs on the same host.
  package enum Interface: Sendable {
    case firestore, rules
  }

  private let endpoint: Endpoint
  private let credentials: Credentials
  private let isTrusting: Bool

  /// - Parameters:
  ///   - credentials: the credentials of an account that may read the deployed configuration.
  ///   - isTrusting: whether to send the credentials even if the connection has no TLS.
  package init(_ endpoint: Endpoint, _ credentials: Credentials, isTrusting: Bool = false) {
    (self.endpoint, self.credentials, self.isTrusting) = (endpoint, credentials, isTrusting)
  }

  /// The scheme and the host with which an API's URLs begin.
  package func root(of interface: Interface) -> String {
    let endpoint = endpoint(of: interface)
    let standard = endpoint.port == (endpoint.isTLS ? 443 : 80) ? endpoint.host : endpoint.text
    return (endpoint.isTLS ? "https://" : "http://") + standard
  }

  private func endpoint(of interface: Interface) -> Endpoint {
    guard interface == .rules, endpoint.isGoogle else { return endpoint }
    return Endpoint(host: Self.rulesHost, port: 443, security: endpoint.security)
  }

  /// Encodes a text for use as one path segment or as the value of a parameter.
  package static func encoded(_ text: String) -> String { HTTPURL.formEncoded(text) }

  static let rulesHost = "firebaserules.googleapis.com"

  /// Gets a resource.
  /// - Parameter path: the resource's path and parameters. It starts with a slash.
  /// - Returns: the body of a successful response.
  /// - Throws: `unavailable` if there is no response; `not-found`; `permission-denied` or `unauthenticated`, with the
  ///   server's reason; for any other response `unimplemented`, with the HTTP status.
  package func get(_ path: String, of interface: Interface) async throws(RPCStatus) -> [UInt8] {
    let endpoint = endpoint(of: interface)
    guard endpoint.socket == nil, let url = HTTPURL((endpoint.isTLS ? "https://" : "http://") + endpoint.text + path)
    else { throw RPCStatus(.unimplemented, "\(endpoint.text) cannot be reached over HTTP.") }
    var request = HTTPRequest(method: .get, url: url, purpose: "list deployed resources")
    if let authorization = try await credentials.authorization(for: endpoint, isTrusting: isTrusting) {
      request.headers = [("authorization", authorization)]
    }
    if case .tls(let roots) = endpoint.security { request.trustRoots = roots }
    let response = try await request.perform()
    let place = "\(endpoint.text)\(path.prefix { $0 != "?" })"
    let reason = "\(place): \(Refusal.message(in: response.body) ?? "status \(response.status)")."
    switch response.status {
    case 200: return response.body
    case 401: throw RPCStatus(.unauthenticated, "\(reason) \(credentials.remedy)")
    case 403: throw RPCStatus(.permissionDenied, reason)
    case 404: throw RPCStatus(.notFound, reason)
    default: throw RPCStatus(.unimplemented, reason)
    }
  }

  /// The body of an error response, which is a google.rpc.Status in JSON.
  private struct Refusal: Decodable {
    struct Content: Decodable { var message: String }
    var error: Content

    /// The server's reason, without a trailing full stop; `nil` if the body has another format.
    static func message(in body: [UInt8]) -> String? {
      // Servers respond to unknown paths with various formats.
      guard let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(body.prefix(65_536))) else { return nil }
      return refusal.error.message.hasSuffix(".") ? String(refusal.error.message.dropLast()) : refusal.error.message
    }
  }
}
