// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol

extension FirestoreService {
  /// Answers `hearth.v1.Commits/Follow`: which collections commits change, from now on, until cancelled.
  /// - Throws: `permission-denied` where there are rules and the caller is no administrator, also when rules come later;
  ///   `invalid-argument`; the error that `send` threw.
  package func followCommits(_ request: [UInt8], to send: Send) async throws {
    let name: String
    do throws(WireError) {
      name = try WireReader.read(request) { reader throws(WireError) in try reader.followRequest() }
    } catch { throw RPCStatus.invalid("The request cannot be read: \(error.reason).") }
    let database = try ResourceName.database(name)
    try checkMayFollow(database)
    throw try await backend.followCommits(in: database) { news in
      try checkMayFollow(database)
      try await send([WireWriter.message { $0.commitNews(news) }])
    }
  }

  private func checkMayFollow(_ database: DatabaseID) throws(RPCStatus) {
    try checkTime()
    try access?.checkIsAdmin("Notices of commits", in: database)
  }
}
