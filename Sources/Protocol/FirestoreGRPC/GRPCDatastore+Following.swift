// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import FirestoreProtocol

extension GRPCDatastore {
  package func followCommits(deliver: @Sendable (CommitNews) async -> Void) async throws(RPCStatus) {
    let request = WireWriter.message { $0.followRequest(in: database) }
    let reader = AnswerReader(endpoint) { reader throws(WireError) in try reader.commitNews() }
    try await call(.followCommits, request) { stream in
      while let messages = try await stream.next() {
        for message in messages { await deliver(try reader(message)) }
      }
    }
    throw RPCStatus(.unavailable, "\(endpoint.text) ended the news of its commits.")
  }
}
