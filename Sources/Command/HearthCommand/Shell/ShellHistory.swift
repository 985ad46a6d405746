// SPDX-License-Identifier: Apache-2.0
import CDispatch
import CommandOutput
// `stat` belongs to whichever of these modules the compiler has read first.
import CommandTransfer
import CoreFoundation
import FirestoreText
import Foundation
import Glibc

/// The history of `hearth shell`, stored in a file that only the user can read. Each line of the file is one entry, in
/// which `\n` stands for a line break. Several shells append to the same file. A shell loads all entries at its start.
struct ShellHistory {
  /// The maximum number of entries, and the maximum size of an entry in bytes.
  static let limit = 1_000
  static let entryLimit = 16_384
  /// The file is shortened if it has more entries than this multiple of the maximum.
  private static let slack = 2

  /// The entries, oldest first.
  private(set) var entries: [String] = []
  /// The reason why entries are not saved; `nil` while entries are saved.
  private(set) var problem: String?
  private let path: String

  /// Reads the file. Skips lines that are not valid text.
  init(_ path: String) {
    self.path = path
    guard let data = FileManager.default.contents(atPath: path) else { return }
    let lines = data.split(separator: UInt8(ascii: "\n")).suffix(Self.limit)
    entries = lines.compactMap { line in
      guard line.count <= Self.entryLimit, let text = String(validating: line, as: UTF8.self) else { return nil }
      return Self.entry(text)
    }
  }

  /// Adds a typed line, unless it repeats the last entry or begins with a blank.
  mutating func add(_ text: String) {
    let entry = String(text.trimming())
    guard !entry.isEmpty, text.first?.isWhitespace != true, entry != entries.last, entry.utf8.count <= Self.entryLimit
    else { return }
    entries.append(entry)
    if entries.count > Self.limit { entries.removeFirst(entries.count - Self.limit) }
    guard problem == nil else { return }
    do throws(Failure) { try append(entry) } catch { problem = error.reason }
  }

  // MARK: File

  private struct Failure: Error { var reason: String }

  private func append(_ entry: String) throws(Failure) {
    let folder = OutputPlace.split(path).folder
    // Opening the file reports the reason if the folder cannot be created.
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let descriptor = try lockedFile()
    defer { close(descriptor) }
    let line = Array((Self.line(of: entry) + "\n").utf8)
    guard Glibc.write(descriptor, line, line.count) == line.count else { throw failure() }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 64 * Self.limit else { return }
    try trim()
  }

  /// Opens and locks the file, so that other shells cannot change it until it is closed.
  private func lockedFile() throws(Failure) -> CInt {
    while true {
      let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw failure() }
      fchmod(descriptor, 0o600)
      flock(descriptor, LOCK_EX)
      // Another shell may have replaced the file with a shorter one.
      var (mine, current) = (stat(), stat())
      if fstat(descriptor, &mine) == 0, stat(path, &current) == 0, mine.st_ino == current.st_ino { return descriptor }
      close(descriptor)
    }
  }

  /// Shortens the file to its newest entries if it has far too many.
  private func trim() throws(Failure) {
    guard let data = FileManager.default.contents(atPath: path) else { return }
    let lines = data.split(separator: UInt8(ascii: "\n"))
    guard lines.count > Self.slack * Self.limit else { return }
    let kept = Data(lines.suffix(Self.limit).joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
    do throws(CommandFailure) {
      let file = try FileReplacement(of: path, mode: 0o600)
      do {
        let output = OutputFile(file.descriptor, path)
        try output.data(String(decoding: kept, as: UTF8.self))
        try output.flush()
        try file.commit()
      } catch {
        file.discard()
      }
    } catch {
      throw Failure(reason: error.message)
    }
  }

  private func failure() -> Failure { Failure(reason: "\(path): \(String(cString: strerror(errno)))") }

  static func line(of entry: String) -> String {
    entry.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
  }

  static func entry(_ line: String) -> String {
    var entry = ""
    var isEscaped = false
    for character in line {
      if isEscaped {
        entry.append(character == "n" ? "\n" : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        entry.append(character)
      }
    }
    return entry
  }
}
