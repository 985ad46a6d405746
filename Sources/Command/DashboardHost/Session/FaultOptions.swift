// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import FirestoreBackend
package import FirestoreClientState
import FirestoreModel
import FirestoreText

/// The faults that a command begins with.
package struct FaultOptions: ParsableArguments {
  @Option(
    name: .customLong("fault"),
    help: ArgumentHelp(
      "Begin with this fault between the client and its backend: \"latency 200ms\", \"loss 10%\", \"next write "
        + "drop-ack\", \"down watch\"; repeatable. The manual's page testing lists them.",
      valueName: "words"),
    transform: FaultOptions.parse)
  package var faults: [FaultChange] = []

  package init() {}

  private static func parse(_ text: String) throws -> FaultChange {
    let change: FaultChange
    do throws(TextError) { change = try FaultText.parse(text) } catch { throw ValidationError("\(error)") }
    if let objection = change.objectionOfClients { throw ValidationError(objection) }
    return change
  }
}

extension FaultInjector {
  /// A network that begins with faults, which were checked.
  package convenience init(seed: UInt64 = 0, _ changes: [FaultChange]) {
    self.init(seed: seed)
    // Words that mean nothing to a client are refused where they are read.
    for change in changes { try? perform(change) }
  }
}
