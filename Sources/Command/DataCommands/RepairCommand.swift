// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
import FirestoreBackend
import FirestoreSQLite
import FirestoreSharing
import Foundation
import Glibc

import struct Hearth.Backend

/// `hearth repair`: recovers the readable part of the embedded backend's data if the data is damaged.
package struct RepairCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "repair", abstract: "Check the embedded backend's data, and repair it if it is damaged.",
    discussion: """
      Reads everything. Undamaged data stays unchanged. Otherwise the command reports the damage and asks. It then \
      keeps the damaged file as backend.sqlite3.damaged-N, saves the readable documents to a new file in its place, \
      and reports missing documents. Earlier versions of documents, for reads in the past, are not saved.

      Exit status 0 if nothing was wrong or everything was saved, 65 if something is missing or damaged data was not \
      repaired.
      """)

  @Option(help: ArgumentHelp("Folder of the embedded backend's data.", valueName: "dir"))
  var data: String?

  @Flag(name: .shortAndLong, help: "Repair without asking.")
  var yes = false

  package init() {}

  package func run() throws {
    let directory = data.map { Backend.dataFolder(of: $0) } ?? Paths.ofProcess.data + "/backend"
    guard DataRepair.applies(to: directory) else {
      throw CommandFailure(.noInput, "no data in \(directory). Name the data folder with --data.")
    }
    do {
      let repair = try DataRepair(directory: directory)
      guard let damage = repair.damage else {
        StandardError.write("hearth: the data in \(directory) is undamaged.")
        return
      }
      StandardError.write("hearth: \(damage)")
      try confirm(directory)
      try tell(repair.run())
    } catch let error as StoreError {
      let users = error.kind == .locked ? SharedData.users(of: directory) : []
      if users.isEmpty { throw CommandFailure(opening: error) }
      let names = users.map { "\($0)" }.joined(separator: ", ")
      throw CommandFailure(
        .unavailable,
        "The data directory \(directory) is in use by \(names). End "
          + "\(users.count == 1 ? "that process" : "these processes") before the repair.")
    }
  }

  private func confirm(_ directory: String) throws(CommandFailure) {
    if yes { return }
    guard isatty(STDIN_FILENO) == 1 else {
      throw CommandFailure(.badData, "\(directory) is damaged. Use --yes to repair it without asking.")
    }
    StandardError.write("Repair it? The damaged file is kept. [y/N]")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw CommandFailure(.badData, "\(directory) is damaged and was left unchanged.")
    }
  }

  private func tell(_ report: DataRepair.Report) throws {
    var lines: [ShownText] = ["\(Self.count(report.documents, "document")) saved; the damaged file is \(report.kept)"]
    for (path, count) in report.missing.sorted(by: { $0.key < $1.key }) {
      lines.append("\(Self.count(count, "document")) of \(path) cannot be read")
    }
    for path in report.uncounted.sorted() {
      lines.append("documents of \(path) may be missing: their count cannot be read")
    }
    if report.unnamed > 0 {
      lines.append(
        "\(Self.count(report.unnamed, "document")) left out: the name of their collection cannot be read")
    }
    if report.lostChanges > 0 {
      lines.append(
        "\(Self.count(report.lostChanges, "page")) of the log cannot be read: documents may have older versions")
    }
    if report.surplus > 0 {
      lines.append("\(Self.count(report.surplus, "deleted document")) may have reappeared")
    }
    if report.isEmpty { lines.append("nothing in the damaged file can be read: its contents are unknown") }
    try OutputFile.print(lines.asLines())
    if report.isComplete { return }
    throw CommandFailure(.badData, "not everything could be read. \(report.kept) still has the damaged data.")
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
