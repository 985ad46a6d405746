// SPDX-License-Identifier: Apache-2.0
package import FirestoreGRPC

extension EmulatorControl {
  package init(_ remote: RemoteBackend) {
    self.init(remote.endpoint, remote.credentials, isTrusting: remote.allowsInsecureCredentials)
  }

  /// `nil` for backends that are no emulators.
  package init?(of backend: BackendChoice) {
    guard case .remote(let remote) = backend, !remote.endpoint.isGoogle else { return nil }
    self.init(remote)
  }
}
