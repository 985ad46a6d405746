// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol
package import FirestoreService

/// A call of another service than Firestore's, served by a task of its own.
package protocol AuxiliaryCall: Sendable {
  /// Whether it ends when the client or the server wants it to, not by itself.
  var isEndless: Bool { get }

  /// - Throws: `RPCStatus`, or what `send` threw.
  func serve(_ requests: RequestMessages, to send: FirestoreService.Send) async throws
}

/// Requests on connections of HTTP/2 that a server answers besides the calls of google.firestore.v1 and its administration.
package protocol OtherCalls: Sendable {
  /// Begins to serve a request that is no call of gRPC, by its path.
  /// - Returns: `nil` for every other path.
  func call(on stream: ServedStream, path: String, _ service: FirestoreService) -> (any StreamedCall)?

  /// Finds a call of another service by its path.
  /// - Parameter authorization: the text of that header.
  /// - Returns: `nil` for a path that means nothing.
  /// - Throws: the reason why its caller is refused.
  func call(
    _ path: String, _ authorization: String?, _ service: FirestoreService
  ) throws(RPCStatus) -> (any AuxiliaryCall)?
}

/// A call of google.firestore.admin.v1: which databases there are.
struct AdminCall: AuxiliaryCall {
  private let method: FirestoreService.AdminMethod
  private let service: FirestoreService

  /// - Parameter service: as its caller uses it; which databases there are is one of its administrators' affairs.
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

/// A call of `hearth.v1.Commits`: which collections commits change, as long as the client wants to know.
struct FollowCall: AuxiliaryCall {
  private let service: FirestoreService

  /// - Parameter service: as its caller uses it.
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
