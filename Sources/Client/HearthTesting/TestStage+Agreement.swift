// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSimulation

extension TestStage {
  /// The time for which an expectation waits that names none: ten seconds of the stage.
  public static let patience = Duration.seconds(10)

  /// Waits until every write of every client is answered, and every listener of a client that is online is in sync.
  /// - Parameter limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` with what is missing then.
  public func waitForSync(
    within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try check(place)
    if try await isInTime(limit, { await Agreement.missing(agreeing) == nil }) { return }
    let missing = await Agreement.missing(agreeing) ?? "nothing is missing now"
    throw failure(.notInTime, "not in sync within \(limit): \(missing).", place)
  }

  /// Waits until every listener of every client has the result that the server has.
  /// - Parameter limit: the longest time of the stage.
  /// - Throws: ``StageFailure`` with the first disagreement.
  public func expectSame(
    within limit: Duration = TestStage.patience, file: String = #fileID, line: Int = #line
  ) async throws {
    let place = CallPlace(file: file, line: line)
    try check(place)
    let server = world.server
    if try await isInTime(limit, { try await Agreement.disagreement(agreeing, with: server) == nil }) { return }
    let difference = try await Agreement.disagreement(agreeing, with: server) ?? "they agree now"
    throw failure(.disagreement, "clients and server do not agree within \(limit): \(difference).", place)
  }

  private var agreeing: [AgreeingClient] { clients.compactMap(\.agreeing) }

  func isInTime(_ limit: Duration, _ holds: () async throws -> Bool) async throws -> Bool {
    try await Patience.wait(limit, by: world.loop.clock, until: holds)
  }
}
