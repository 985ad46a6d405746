// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import FirestoreModel
import Foundation
import Glibc

/// A command again and again, and documents to and from files.
extension ShellSession {
  private static let usualInterval = 2.0
  private static let longestInterval = 86_400.0

  /// Runs the last command every so many seconds, until it fails, or is interrupted, or was run often enough.
  func watch(_ words: [String]) async throws -> Int32 {
    guard lastCommand != nil else {
      throw CommandFailure(.usage, "\\watch runs the last command again, and there was none yet.")
    }
    let interval = words.first.map { Double($0) ?? 0 } ?? Self.usualInterval
    let times = words.count > 1 ? Int(words[1]) ?? 0 : Int.max
    guard interval > 0, interval <= Self.longestInterval, times > 0 else {
      throw CommandFailure(
        .usage, "\\watch \(words.joined(separator: " ")): expected seconds from above 0 to 86400, and how often.")
    }
    for time in 1...times {
      if !options.isQuiet { StandardError.write("\(Timestamp.now.rfc3339Text), every \(Self.text(interval)) s:") }
      let status = await runAgain(at: "")
      if status != 0 || hasLostReader { return status }
      if time == times { break }
      // Runs within the surroundings, so that an interruption ends the waiting, too.
      try await surroundings.run { try await ContinuousClock().sleep(for: .seconds(interval)) }
    }
    return 0
  }

  private static func text(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
  }

  /// Writes documents to a file, or those of a file to a collection. A file of rows loses types, as `get --csv` does.
  func copy(_ words: [String], at place: String) async throws -> Int32 {
    guard words.count == 3, ["to", "from"].contains(words[1].lowercased()) else {
      throw CommandFailure(.usage, "it is \(BackslashCommand.copy.usage.form).")
    }
    let (path, file) = (words[0], UserPath.absolute(words[2]))
    if words[1].lowercased() == "from" {
      if try Self.hasPaths(file) {
        throw CommandFailure(
          .usage, "\(words[2]) has a column of paths: 'import \(words[2])' puts its documents where they were.")
      }
      return await run(["import", file, "--into", path], at: place)
    }
    let ending = file.split(separator: ".").last.map { $0.lowercased() } ?? ""
    guard ["csv", "tsv"].contains(ending) else { return await run(["export", path, "-o", file], at: place) }
    // The file is there when it is whole.
    let part = "\(file).part-\(UUID().uuidString.prefix(8))"
    let status = await run(["get", path, "--\(ending)"], to: try ShellOutput(part), at: place)
    if status == 0 {
      guard rename(part, file) == 0 else {
        unlink(part)
        throw CommandFailure(.cannotCreate, "\(file) cannot be written: \(String(cString: strerror(errno))).")
      }
    } else {
      unlink(part)
    }
    return status
  }

  /// Whether a file of rows names the path of each document, as `get --csv` does.
  private static func hasPaths(_ file: String) throws(CommandFailure) -> Bool {
    guard file.lowercased().hasSuffix(".csv") || file.lowercased().hasSuffix(".tsv") else { return false }
    var input = try InputBytes(file)
    let first = try input.read(5)
    return first.starts(with: Array("path".utf8)) && (first.count == 4 || [0x09, 0x0A, 0x0D, 0x2C].contains(first[4]))
  }
}
