// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardHost
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreText
import Foundation
import Glibc
import TerminalTheme

/// `hearth attach`: shows another program's client in the dashboard.
struct AttachCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Watch the client of a running program, or list such programs.",
    discussion: """
      You can watch a program that uses Hearth if it was started with HEARTH_INSPECT=1, or sets isInspectable in its \
      FirestoreSettings (HEARTH_INSPECT=0 forbids it). You can also watch a dashboard, hearth wall, watch, get --watch \
      and play. Their name is the name of the command, as in hearth attach dashboard. You can always watch a proxy and \
      its clients, unless the variable forbids it. The dashboard then shows the program's listeners with every \
      snapshot and its cause, its pending and rejected writes, its connection and its cache, and explains its queries. \
      You can watch only your own programs.

      Without --control nothing is changed. With it, o switches the program's network off and on, and F breaks the \
      connection to its backend. In the writes pane, r and x retry, cancel and drop pending writes. You cannot change \
      documents or listeners. When the dashboard ends, network and faults are restored.

      The program has priority: it spends about a hundredth of its processor time on reports (5 ms a second if it is \
      idle), and reports how many snapshots it left out.

      --json prints one object per line, with a type. The first type is attached, followed by the current state \
      (listener-started, status) and then the events: listener-started, snapshot, listener-stopped, listener-failed, \
      acknowledged, rejected, cancelled, pending, rejected-writes, rejected-writes-forgotten, indexes, retentions, \
      reads, status, faults, storage, snapshots-missed, outcomes-missed and traffic (of a proxy). It exits with 0 when \
      the program ends, when you interrupt it, when its reader closes, or after --timeout. --until TYPE and --until \
      'added cities/SF' exit with 0 at the first such line, and --until NUMBER after that number of lines. The exit \
      status is 75 after a timeout, and 69 if the program ends first.

      --inside prints the current targets, limbo, streams, lease, cache and query times of the client (with --json as \
      one object). On the screen, I shows them.

      Without a program, prints a list: the number (PID, and PID-2 for the second client of a process), the name, the \
      database, the number of listeners, and how long the client has been open. Exit status 66 if PROGRAM cannot be \
      found, 64 if several have its name, 69 if it does not answer, 77 if it belongs to another user, and 78 if it has \
      another version.

      Example: HEARTH_INSPECT=1 ./shop & hearth attach shop --control
      """)

  @Argument(help: ArgumentHelp("The number or the name of a program.", valueName: "program"))
  var program: String?

  @Flag(help: "Allow changes: switch the program's network, break its connection, and retry, cancel or drop writes.")
  var control = false

  @Flag(help: "Print JSON, one object per line, instead of opening a screen.")
  var json = false

  @Flag(help: "Print the current internals of the client: targets, limbo, streams, lease, cache, query times.")
  var inside = false

  @Option(
    help: ArgumentHelp(
      "With --json: stop N lines after the first, at the first line of a type (status), or at the first change of a "
        + "document (added, modified, removed; also with its path).",
      valueName: "number|event"),
    transform: { try EventGoal.parse($0, among: EventPattern.Kind.lines + [.added, .modified, .removed]) })
  var until: EventGoal?

  @Option(
    help: ArgumentHelp("With --json: stop after this time (500ms, 5s, 2m).", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var timeout: Duration?

  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions

  mutating func validate() throws {
    if control, json { throw ValidationError("--control needs the screen, but --json has none. Remove one of them.") }
    if until != nil || timeout != nil, !json || inside || program == nil {
      throw ValidationError("--until and --timeout need --json and a program.")
    }
    if inside, control { throw ValidationError("--inside only reads. Remove --control.") }
    if inside, program == nil { throw ValidationError("--inside needs a program. 'hearth attach' lists them.") }
    if control, program == nil { throw ValidationError("--control needs a program. 'hearth attach' lists them.") }
  }

  @MainActor
  mutating func run() async throws {
    let programs = try InspectablePrograms(in: InspectionFolder(ProcessInfo.processInfo.environment))
    guard let program else { return try list(programs) }
    let (address, greeting, link) = try programs.entry(program)
    if inside {
      let settings = Preferences.read(Paths.ofProcess).file.inside ?? InsideSettings()
      var report = InsideReport(address, greeting, link, settings)
      return try await report.run(asJSON: json)
    }
    if json { return try await AttachedStream(address, greeting, link, until: until, timeout: timeout).run() }
    let start = try ScreenStart(appearance, log, otherwise: "'hearth attach --json' prints lines")
    let attachment = Attachment(greeting, at: address, over: link, allowsControl: control)
    var options = start.options(
      StorageOptions.Locations(database: greeting.database, cache: .memory, backend: .embedded(folder: nil)))
    options.isReadOnly = !control
    options.subject = .program(attachment)
    try await start.run(options)
  }

  private func list(_ programs: InspectablePrograms) throws {
    let output = OutputFile.standard()
    if json {
      for entry in programs.entries {
        guard case .program(let greeting, _) = entry.find else { continue }
        try output.data(line: AttachedLines.program(entry.address, greeting, type: "program"))
      }
    } else {
      for line in programs.table(now: .now) { try output.line(line) }
    }
    try output.flush()
    if programs.entries.isEmpty { StandardError.write("hearth: \(InspectablePrograms.nobody)") }
  }
}
