// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import FirestoreModel
import FirestoreProtocol

/// The time as of which a long read sees the data: one moment for all of it, unless `--live` is set.
package struct WholenessOptions: ParsableArguments {
  @OptionGroup package var moment: MomentOption

  @Flag(
    help: ArgumentHelp(
      "Read each document as it is when its turn comes, instead of all as they are when the command begins: where more "
        + "is changed meanwhile than the backend keeps of the past."))
  package var live = false

  package mutating func validate() throws {
    if live, moment.at != nil { throw ValidationError("--live reads what is there now; leave out --at.") }
  }

  /// The database in the state in which it is to be read.
  /// - Parameter note: called with a remark if it cannot be read as of one moment.
  package func view(of connection: BackendConnection, _ note: (String) -> Void) async throws -> BackendConnection {
    if live || moment.at != nil { return connection.at(moment.at) }
    if let whole = try await connection.atBeginning() { return whole }
    note("this backend cannot be read as of one moment: each document is as it was when its turn came.")
    return connection
  }

  package init() {}
}
