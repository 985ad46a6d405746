// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ByteCompression
import FirestoreExports
import Glibc

/// How a file of documents is laid out.
enum TransferFormat: String, ExpressibleByArgument, CaseIterable, Codable, Sendable {
  /// One JSON value for the whole file: an array of documents, or an object of documents by name.
  case json
  /// One JSON object per line.
  case jsonl
  /// A row of names, and a row per document; for import only, since types get lost.
  case csv, tsv
  /// A folder, as Cloud Firestore's managed exports and Google's emulator make it.
  case google

  /// By what is there, where that is an export in Google's format, else by the file's name.
  init(input path: String) {
    self = path != "-" && ExportLocation.isNamed(by: path) ? .google : TransferFormat(fileName: path)
  }

  /// By the end of a file's name, before that of a compressed one; lines where that says nothing.
  init(fileName: String) {
    let compression = CompressionFormat(fileName: fileName)?.fileExtension ?? ""
    let ending = fileName.lowercased().dropLast(compression.count).split(separator: ".").last.map(String.init) ?? ""
    let named = TransferFormat(rawValue: ending)
    // A folder is not told by its name.
    self = named == .google ? .jsonl : named ?? .jsonl
  }

  /// What parts the cells of a row; `nil` for JSON.
  var delimiter: Delimiter? {
    switch self {
    case .json, .jsonl, .google: nil
    case .csv: .comma
    case .tsv: .tab
    }
  }
}

/// Where an export goes: standard output, what a path leads to, or a file in place of an old one once it is complete.
struct ExportTarget {
  let file: OutputFile
  private let end: End

  private enum End {
    case open
    case closing(Int32)
    case replacing(FileReplacement)
  }

  /// - Parameters:
  ///   - path: `nil` or `-` for standard output.
  ///   - compression: of what is written; `nil` for none.
  init(_ path: String?, _ compression: CompressionFormat? = nil) throws(CommandFailure) {
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

  /// Everything was written.
  func commit() throws {
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

  /// Drops what was written, which is not all, and leaves the old file.
  func discard() {
    switch end {
    case .open: break
    case .closing(let descriptor): close(descriptor)
    case .replacing(let replacement): replacement.discard()
    }
  }
}
