// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreExports
import Foundation

/// The documents of an export in Google's format. Positions in it count documents.
package struct ExportInput {
  let name: String
  /// The number of documents in the metadata.
  var size: Int { reader.documents }
  let modified: Double?
  private var reader: ExportReader
  private var position = InputPosition()
  /// The reason why nothing more can be read, reported behind the documents before it.
  private var failure: CommandFailure?

  /// - Parameter path: a path that `ExportLocation` accepts.
  init(_ path: String) throws(CommandFailure) {
    name = path
    if path == "-" {
      throw CommandFailure(.usage, "an export in Google's format is a folder and cannot be on standard input.")
    }
    do throws(ExportError) { reader = try ExportReader(path) } catch { throw CommandFailure(export: error) }
    // A resumed import without the time cannot see that the export changed, and goes on.
    let attributes = try? FileManager.default.attributesOfItem(atPath: reader.location.metadata)
    modified = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
  }

  mutating func skip(to position: InputPosition) throws(CommandFailure) {
    while self.position.offset < position.offset {
      guard try nextRecord() != nil else {
        throw CommandFailure(.badData, "\(name) is shorter than what was imported of it before.")
      }
    }
  }

  mutating func next() throws(CommandFailure) -> ImportInput.Batch? {
    if let failure { throw failure }
    var batch = ImportInput.Batch()
    do throws(CommandFailure) {
      while !batch.isFull, let record = try nextRecord() {
        batch.append(record)
        batch.end = position
      }
    } catch {
      // The error is thrown at the next call, after the documents before it are on their way.
      if batch.records.isEmpty { throw error }
      failure = error
    }
    return batch.records.isEmpty ? nil : batch
  }

  private mutating func nextRecord() throws(CommandFailure) -> InputRecord? {
    do throws(ExportError) {
      guard let record = try reader.next() else { return nil }
      let place = position
      position.offset += 1
      position.line += 1
      return InputRecord(entity: record, place: place)
    } catch {
      throw CommandFailure(export: error)
    }
  }
}

extension CommandFailure {
  package init(export error: ExportError) {
    let status: ExitStatus =
      switch error.kind {
      case .absent: .noInput
      case .damaged, .unsupported: .badData
      case .unwritable: .cannotCreate
      }
    self.init(status, "\(error)")
  }
}
