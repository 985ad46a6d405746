// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
import CommandOutput
import FirestoreBackend
import FirestoreSQLite
import FirestoreSharing
import Foundation
import Glibc

/// `hearth repair`: recovers the readable part of damaged data of the embedded backend.
package struct RepairCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "repair", abstract: "Check the embedded backend's data, and save what can be read of damaged data.",
    discussion: """
      Reads everything. Data that is as it was written is left alone. Otherwise it says what is wrong and asks; then \
      it keeps the damaged file as backend.sqlite3.damaged-N, saves what can be read into a new one in its place, and \
      says what is missing. Earlier versions of documents, for reads in the past, are not saved.

      It ends with 0 when nothing was wrong or everything was saved, and with 65 when something is missing or the data \
      is damaged and was not repaired.
      """)

  @Option(help: ArgumentHelp("Folder of the embedded backend's data.", valueName: "dir"))
  var data: String?

  @Flag(name: .shortAndLong, help: "Repair without asking.")
  var yes = false

  package init() {}

  package func run() throws {
    let directory = data ?? Paths.ofProcess.data + "/backend"
    guard DataRepair.applies(to: directory) else {
      throw CommandFailure(.noInput, "there is no data in \(directory); --data names the folder of the data.")
    }
    do {
      let repair = try DataRepair(directory: directory)
      guard let damage = repair.damage else {
        StandardError.write("hearth: the data in \(directory) is as it was written.")
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
        "The data directory \(directory) is in use by \(names). A repair needs it for itself: end "
          + "\(users.count == 1 ? "that one" : "these") first.")
    }
  }

  private func confirm(_ directory: String) throws(CommandFailure) {
    if yes { return }
    guard isatty(STDIN_FILENO) == 1 else {
      throw CommandFailure(.badData, "\(directory) is damaged; --yes repairs it without asking.")
    }
    StandardError.write("Repair it? The damaged file is kept. [y/N]")
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw CommandFailure(.badData, "\(directory) is damaged and was left as it is.")
    }
  }

  private func tell(_ report: DataRepair.Report) throws {
    var lines: [ShownText] = ["\(Self.count(report.documents, "document")) saved; the damaged file is \(report.kept)"]
    for (path, count) in report.missing.sorted(by: { $0.key < $1.key }) {
      lines.append("\(Self.count(count, "document")) of \(path) cannot be read")
    }
    for path in report.uncounted.sorted() {
      lines.append("documents of \(path) may be missing: how many there were cannot be read")
    }
    if report.unnamed > 0 {
      lines.append(
        "\(Self.count(report.unnamed, "document")) left out: the name of their collection cannot be read")
    }
    if report.lostChanges > 0 {
      lines.append(
        "\(Self.count(report.lostChanges, "page")) of the log cannot be read: documents may be older than they were")
    }
    if report.surplus > 0 {
      lines.append("\(Self.count(report.surplus, "document")) that had been deleted may be back")
    }
    if report.isEmpty { lines.append("nothing in it can be read: what it held is not known") }
    try OutputFile.print(lines.asLines())
    if report.isComplete { return }
    throw CommandFailure(.badData, "not everything could be read; \(report.kept) still has what is there.")
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
