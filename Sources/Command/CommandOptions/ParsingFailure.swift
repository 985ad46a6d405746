// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import CommandOutput
import Synchronization

/// The reason why options were refused, with an exit status of its own: the parser itself passes on only the text.
package final class ParsingFailure: Sendable {
  @TaskLocal package static var current: ParsingFailure?

  private let told = Mutex<CommandFailure?>(nil)

  package var failure: CommandFailure? { told.withLock { $0 } }

  package init() {}

  /// - Returns: the error that `validate` throws.
  package static func told(_ failure: CommandFailure) -> any Error {
    current?.told.withLock { $0 = $0 ?? failure }
    return ValidationError(failure.message)
  }
}
