// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
package import FirestoreModel
import FirestoreText

/// The time as of which data is read.
package struct MomentOption: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Read what was there at this time: 2026-03-02T11:58:03Z, -10m for ten minutes ago, or now for one moment. The "
        + "embedded backend keeps the last hour, as far as 64 MiB of earlier versions reach; Cloud Firestore an hour, or a "
        + "week of whole minutes where that is switched on.",
      valueName: "time"),
    transform: { try MomentText.parse($0) })
  package var at: Timestamp?

  package init() {}
}
