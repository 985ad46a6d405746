// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreProtocol

/// The time as of which a long read sees the data: one moment for all of it, unless `--live` is set.
struct WholenessOptions: ParsableArguments {
  @OptionGroup var moment: MomentOption

  @Flag(
    help: ArgumentHelp(
      "Read each document as it is when its turn comes, instead of all as they are when the command begins: where more "
        + "is changed meanwhile than the backend keeps of the past."))
  var live = false

  mutating func validate() throws {
    if live, moment.at != nil { throw ValidationError("--live reads what is there now; leave out --at.") }
  }

  /// The database in the state in which it is to be read.
  /// - Parameter note: called with a remark if it cannot be read as of one moment.
  func view(of connection: Connection, _ note: (String) -> Void) async throws -> Connection {
    if live || moment.at != nil { return connection.at(moment.at) }
    if let whole = try await connection.atBeginning() { return whole }
    note("this backend cannot be read as of one moment: each document is as it was when its turn came.")
    return connection
  }
}
