// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import ByteCompression
package import CommandOutput
import FirestoreExports
import Glibc

/// The layout of a file of documents.
package enum TransferFormat: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
  /// One JSON value for the whole file: an array of documents, or an object of documents by name.
  case json
  /// One JSON object per line.
  case jsonl
  /// A row of names, and a row per document; for import only, since types get lost.
  case csv, tsv
  /// A folder in the layout of Cloud Firestore's managed exports and Google's emulator.
  case google

  /// Chooses the format of an input: Google's if there is such an export at the path, else by the file's name.
  package init(input path: String) {
    self = path != "-" && ExportLocation.isNamed(by: path) ? .google : TransferFormat(fileName: path)
  }

  /// Chooses the format by the end of a file's name, before that of a compressed one; lines if the name does not tell.
  package init(fileName: String) {
    let compression = CompressionFormat(fileName: fileName)?.fileExtension ?? ""
    let ending = fileName.lowercased().dropLast(compression.count).split(separator: ".").last.map(String.init) ?? ""
    let named = TransferFormat(rawValue: ending)
    // A folder is not recognised by its name.
    self = named == .google ? .jsonl : named ?? .jsonl
  }

  /// The delimiter of the cells of a row; `nil` for JSON.
  package var delimiter: Delimiter? {
    switch self {
    case .json, .jsonl, .google: nil
    case .csv: .comma
    case .tsv: .tab
    }
  }
}

/// The target of an export: standard output, an existing device or pipe, or a file that replaces an old one once it is
/// complete.
package struct ExportTarget {
  package let file: OutputFile
  private let end: End

  private enum End {
    case open
    case closing(Int32)
    case replacing(FileReplacement)
  }

  /// - Parameters:
  ///   - path: the path of the target; `nil` or `-` for standard output.
  ///   - compression: the format of the output; `nil` for none.
  package init(_ path: String?, _ compression: CompressionFormat? = nil) throws(CommandFailure) {
    guard let path, path != "-" else {
      (file, end) = (try .standard(compression), .open)
      return
    }
    switch try OutputPlace(path) {
    case .descriptor(let number):
      (file, end) = (try OutputFile(number, path, compression), .open)
    case .stream(let name):
      let descriptor = open(name, O_WRONLY | O_NOCTTY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno))).")
      }
      (file, end) = (try OutputFile(descriptor, path, compression), .closing(descriptor))
    case .file(let name):
      let replacement = try FileReplacement(of: name)
      (file, end) = (try OutputFile(replacement.descriptor, path, compression), .replacing(replacement))
    }
  }

  /// Ends the output after everything was written.
  package func commit() throws {
    do { try file.finish() } catch {
      discard()
      throw error
    }
    switch end {
    case .open: break
    case .closing(let descriptor): close(descriptor)
    case .replacing(let replacement): try replacement.commit()
    }
  }

  /// Discards the incomplete output, and leaves the old file.
  package func discard() {
    switch end {
    case .open: break
    case .closing(let descriptor): close(descriptor)
    case .replacing(let replacement): replacement.discard()
    }
  }
}
