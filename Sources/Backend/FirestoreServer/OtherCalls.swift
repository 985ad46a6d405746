// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
package import FirestoreService

/// A call of a service other than google.firestore.v1, served by a separate task.
package protocol AuxiliaryCall: Sendable {
  /// Whether the call continues until the client or the server ends it.
  var isEndless: Bool { get }

  /// - Throws: `RPCStatus`, or the error that `send` threw.
  func serve(_ requests: RequestMessages, to send: FirestoreService.Send) async throws
}

/// The requests on HTTP/2 connections that a server answers in addition to the calls of google.firestore.v1 and its
/// administration.
package protocol OtherCalls: Sendable {
  /// Starts to serve a request that is not a gRPC call.
  /// - Returns: `nil` for a gRPC call, and for any other request that this object does not serve.
  func call(on stream: ServedStream, path: String, _ service: FirestoreService) -> (any StreamedCall)?

  /// Finds a call of another service by its path.
  /// - Parameter authorization: the text of the `authorization` header.
  /// - Returns: `nil` for an unknown path.
  /// - Throws: the reason why the caller is rejected.
  func call(
    _ path: String, _ authorization: String?, _ service: FirestoreService
  ) throws(RPCStatus) -> (any AuxiliaryCall)?
}

/// A call of google.firestore.admin.v1 that lists the databases.
struct AdminCall: AuxiliaryCall {
  private let method: FirestoreService.AdminMethod
  private let service: FirestoreService

  /// - Parameter service: the service with the caller's permissions. Only administrators may list databases.
  /// - Returns: `nil` for a path of another service.
  init?(_ path: String, _ service: FirestoreService) {
    let root = FirestoreService.AdminMethod.root
    guard path.hasPrefix(root), let method = FirestoreService.AdminMethod(rawValue: String(path.dropFirst(root.count)))
    else { return nil }
    self.method = method
    self.service = service
  }

  var isEndless: Bool { false }

  func serve(_ requests: RequestMessages, to send: FirestoreService.Send) async throws {
    try await send([try await service.answer(method, try await requests.single())])
  }
}

/// A call of `hearth.v1.Commits` that reports the collections that commits change, until the client ends it.
struct FollowCall: AuxiliaryCall {
  private let service: FirestoreService

  /// - Parameter service: the service with the caller's permissions.
  /// - Returns: `nil` for a path of another service.
  init?(_ path: String, _ service: FirestoreService) {
    guard path == FollowCommits.path else { return nil }
    self.service = service
  }

  var isEndless: Bool { true }

  func serve(_ requests: RequestMessages, to send: FirestoreService.Send) async throws {
    try await service.followCommits(try await requests.single(), to: send)
  }
}
