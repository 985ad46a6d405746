// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreText

/// A database at one read time. All reads use that time, and writes are rejected.
package struct PastDatastore: Datastore {
  package let base: any Datastore
  package let time: SnapshotVersion
  /// Whether the read time is the time when the read began; `false` if the user specified the read time.
  package var isBeginning = false

  package init(base: any Datastore, time: SnapshotVersion, isBeginning: Bool = false) {
    (self.base, self.time, self.isBeginning) = (base, time, isBeginning)
  }

  package var canFallSilent: Bool { base.canFallSilent }
  package func reconnect() { base.reconnect() }
  package var traffic: DatastoreTraffic? { base.traffic }

  package func read<Read: DatastoreRead>(_ read: Read) async throws(RPCStatus) -> Read.Answer {
    try await explaining { () async throws(RPCStatus) in try await base.read(try read.at(time)) }
  }

  package func visitDescendants(
    _ request: DescendantsRequest, deliver: @escaping @Sendable ([Document]) async -> Bool
  ) async throws(RPCStatus) {
    var request = request
    request.view.time = time
    try await explaining { () async throws(RPCStatus) in try await base.visitDescendants(request, deliver: deliver) }
  }

  /// Replaces a backend's error about the read time with an error about the user's options.
  private func explaining<Result>(
    _ body: () async throws(RPCStatus) -> Result
  ) async throws(RPCStatus) -> Result {
    do throws(RPCStatus) { return try await body() } catch {
      guard error.message.contains("read_time") || error.message.contains("read time") else { throw error }
      let moment = time.timestamp.rfc3339Text
      if isBeginning {
        throw RPCStatus(
          .aborted,
          "The snapshot from the start of the command, \(moment), is no longer available: too many documents changed. "
            + "Try again later, or use --live to read current versions.")
      }
      if error.message.contains("future") {
        throw RPCStatus(.outOfRange, "\(moment) is later than the backend's clock.")
      }
      // The embedded backend's message already names its oldest readable time.
      if let known = error.message.firstRange(of: "The oldest readable time") {
        throw RPCStatus(.outOfRange, "\(moment) cannot be read. \(error.message[known.lowerBound...])")
      }
      throw RPCStatus(
        .outOfRange,
        "\(moment) cannot be read: \(error.message) Cloud Firestore keeps earlier versions for one hour. With "
          + "point-in-time recovery it keeps them for one week, at whole minutes.")
    }
  }

  // MARK: Writing

  private static let unchangeable = RPCStatus(.failedPrecondition, "Data at an earlier time is read-only.")

  package func commit(_ mutations: [Mutation]) async throws(RPCStatus) -> CommitResponse { throw Self.unchangeable }

  package func write(
    requests: StreamRequests<WriteRequest>, deliver: @Sendable (WriteEvent) async -> Void
  ) async throws(RPCStatus) { throw Self.unchangeable }

  package func watch(
    requests: StreamRequests<WatchRequest>, deliver: @Sendable (WatchEvent) async -> Void
  ) async throws(RPCStatus) { throw RPCStatus(.failedPrecondition, "Data at an earlier time cannot have listeners.") }
}

extension BackendConnection {
  /// The database as it is now. Later writes do not affect reads from it.
  /// - Returns: `nil` for a backend that cannot read earlier data.
  func atBeginning() async throws(RPCStatus) -> BackendConnection? {
    guard let time = try await datastore.beginning(now: Timestamp(microseconds: Timestamp.now.microseconds)) else {
      return nil
    }
    var past = self
    past.datastore = PastDatastore(base: datastore, time: time, isBeginning: true)
    return past
  }
}

extension Datastore {
  /// The latest read time that is possible for all data; `nil` for a backend that can read only current data.
  /// - Parameter now: the time of this device's clock, which may differ from the backend's clock.
  package func beginning(now: Timestamp) async throws(RPCStatus) -> SnapshotVersion? {
    // The reply for a missing document carries the read time.
    let key = DocumentKey(unchecked: ResourcePath("hearth/\(AutomaticID.make())"))
    guard let answer = try await lookup([key], .names).first, let answered = answer.version else { return nil }
    for time in [max(SnapshotVersion(now), answered), answered] {
      do throws(RPCStatus) {
        _ = try await listCollectionIDs(below: .root, at: time)
        return time
      } catch {
        switch error.code {
        case .unimplemented, .invalidArgument, .failedPrecondition, .outOfRange: continue
        default: throw error
        }
      }
    }
    return nil
  }
}

/// The read time of a command.
package struct MomentOption: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Read the data at this time: 2026-03-02T11:58:03Z, -10m (ten minutes ago), or now for one snapshot. The "
        + "embedded backend keeps earlier versions for one hour, at most 64 MiB. Cloud Firestore keeps them for one "
        + "hour, or with point-in-time recovery for one week at whole minutes.",
      valueName: "time"),
    transform: { try MomentText.parse($0) })
  package var at: Timestamp?

  package init() {}
}

/// The option for the read time of commands that read with many requests. All requests use the same time, unless
/// `--live` is set.
package struct WholenessOptions: ParsableArguments {
  @OptionGroup package var moment: MomentOption

  @Flag(
    help: ArgumentHelp(
      "Read the current version of each document instead of one snapshot from the start of the command. Use it when "
        + "documents change faster than the backend can keep their earlier versions."))
  package var live = false

  package mutating func validate() throws {
    if live, moment.at != nil { throw ValidationError("--live reads current data. Remove --at.") }
  }

  /// The database at the read time that all requests of the command use.
  /// - Parameter note: called with a warning if the requests cannot all use the same read time.
  package func view(of connection: BackendConnection, _ note: (String) -> Void) async throws -> BackendConnection {
    if live || moment.at != nil { return connection.at(moment.at) }
    if let whole = try await connection.atBeginning() { return whole }
    note("this backend cannot read one snapshot. Documents are read one after another.")
    return connection
  }

  package init() {}
}
