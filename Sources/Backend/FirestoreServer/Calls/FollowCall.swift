// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreService

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
