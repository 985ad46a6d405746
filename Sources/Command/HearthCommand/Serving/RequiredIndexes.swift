// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import DashboardHost
import FirestoreClientState
import FirestoreService

import struct Hearth.FirestoreError
import enum Hearth.IndexConfigurationReader

/// The composite indexes of `hearth serve --require-indexes`: read at the beginning and whenever their file changes.
struct RequiredIndexes {
  let indexes: ServedIndexes
  private let file: String?

  /// - Throws: `CommandFailure` for a file that cannot be read, or is not as Google's tools write it.
  init(_ file: String?) throws {
    self.file = file
    indexes = ServedIndexes(
      required: try file.map { try Self.read(try ServedFile($0, of: "indexes").text(), of: $0) })
  }

  private static func read(_ text: String, of file: String) throws(CommandFailure) -> [CompositeIndex] {
    do throws(FirestoreError) { return try IndexConfigurationReader.composites(text) } catch {
      throw CommandFailure(.badData, "\(file): \(error.message)")
    }
  }

  @MainActor
  func watch() -> FileWatch? {
    guard let file else { return nil }
    let indexes = indexes
    return ServedFile(file, of: "indexes").watch { text in
      do throws(CommandFailure) {
        indexes.require(try Self.read(try text.get(), of: file))
        StandardError.write("hearth: \(file) has changed; its indexes are those that there are.")
      } catch { StandardError.write("hearth: \(error.message) The indexes from before stay.") }
    }
  }
}
