// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreBackend

extension BackendConfiguration.Durability: ExpressibleByArgument {
  static let help = ArgumentHelp(
    "Whether a commit is on the disk before it is acknowledged (full), or a power cut may take the commits of the last "
      + "seconds, each whole (normal). The death of the process takes none either way.", valueName: "when")
}
