// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import ClientPort
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import Foundation
import Glibc
import TerminalCanvas

extension BenchmarkCase {
  /// Cases that measure the time from starting the program `hearth` to its first screen.
  static let firstFrameCases = [
    BenchmarkCase(name: "first-frame", summary: "hearth from the start of its process to the dashboard's first frame") {
      bench in
      guard let program = HearthProgram.path else {
        // There is nothing to measure without `hearth` in the same folder.
        FileHandle.standardError.write(Data("first-frame: hearth is not in the folder of hearth-bench\n".utf8))
        return []
      }
      var reading = Reading(unit: .milliseconds, goal: 50, samples: [])
      for _ in 0..<bench.repetitions {
        let folder = bench.newPath()
        defer { bench.remove(folder) }
        reading.samples.append(try StartedDashboard.timeToFirstFrame(program, home: folder))
      }
      return [reading]
    }
  ]
}

/// Starts a dashboard on a pseudoterminal that this program controls.
private enum StartedDashboard {
  /// The maximum time to wait for a frame, in milliseconds.
  private static let patience: Int32 = 10_000
  /// The flag POSIX_SPAWN_SETSID of <spawn.h>, which Swift does not import.
  private static let asSessionLeader: Int16 = 0x80
  /// A text in the first frame that does not occur in earlier output.
  private static let mark = Array("Collections".utf8)

  static func timeToFirstFrame(_ program: String, home: String) throws -> Sample {
    var names = [CChar](repeating: 0, count: 128)
    var size = winsize(ws_row: 36, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0)
    var (master, slave): (CInt, CInt) = (-1, -1)
    guard openpty(&master, &slave, &names, nil, &size) == 0 else { throw failure("no pseudo terminal") }
    defer {
      close(master)
      close(slave)
    }
    for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let clock = ContinuousClock()
    let start = clock.now
    let process = try spawn(program, on: names, home: home)
    defer {
      kill(process, SIGKILL)
      var status: CInt = 0
      waitpid(process, &status, 0)
    }
    var seen: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while seen.firstRange(of: mark) == nil {
      var waiting = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, patience) == 1 else { throw failure("hearth draws nothing") }
      let count = read(master, &bytes, bytes.count)
      guard count > 0 else { throw failure("hearth ended before it drew anything") }
      seen += bytes[..<count]
    }
    let wall = start.duration(to: clock.now) / .seconds(1)
    return Sample(wall: wall, cpu: processorSeconds(of: process))
  }

  /// Starts the program as the leader of a new session, with the pseudoterminal as its terminal.
  private static func spawn(_ program: String, on terminal: [CChar], home: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO)
    posix_spawnattr_setflags(&attributes, Self.asSessionLeader)
    let variables = ["HOME=\(home)", "TERM=xterm-256color", "LANG=C.UTF-8", "PATH=/usr/bin:/bin"]
    let words = [program, "--in-memory"]
    let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    let environment: [UnsafeMutablePointer<CChar>?] = variables.map { strdup($0) } + [nil]
    defer { (arguments + environment).forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, program, &actions, &attributes, arguments, environment)
    guard code == 0 else { throw failure("\(program) cannot be started: \(String(cString: strerror(code)))") }
    return process
  }

  /// The processor time that another process has used so far.
  private static func processorSeconds(of process: pid_t) -> Double {
    var (clock, time) = (clockid_t(), timespec())
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func failure(_ text: String) -> SQLiteFloor.Failure { SQLiteFloor.Failure(description: text) }
}

extension BenchmarkCase {
  /// Cases that measure the time from a key press to the drawn screen, without the time that the terminal needs.
  static let screenCases = [
    BenchmarkCase(name: "screen-key", summary: "from a key press to its frame, in an open document of 10 000 fields") {
      bench in
      var screen = OpenDocument()
      func reading(_ variant: String, goal: Double?, _ body: (inout OpenDocument, Int) -> Void) -> Reading {
        var samples: [Sample] = []
        for number in 0..<bench.repetitions {
          body(&screen, number)
          samples.append(measure(count: 1) { screen.press(number.isMultiple(of: 2) ? "j" : "k") }.sample)
        }
        return Reading(variant: variant, unit: .milliseconds, goal: goal, samples: samples)
      }
      return [
        reading("unchanged", goal: 10) { _, _ in },
        reading("after a change of the document", goal: nil) { screen, number in screen.change(number) },
      ]
    },
    BenchmarkCase(
      name: "search-word", summary: "a search for a word that no document contains, without reading the documents"
    ) {
      bench in
      let request = SearchRequest(Workbench.collectionQuery, "zebra", in: DatabaseID(project: "bench"))
      var reading = Reading(unit: .milliseconds, goal: 100, samples: [])
      for _ in 0..<bench.repetitions {
        var run = try SearchRun(request)
        let (sample, update) = measure {
          run.look(at: bench.documents, of: bench.size, isLast: true, isFromCache: false)
        }
        guard update.looked == bench.size, update.found == 0 else {
          throw SQLiteFloor.Failure(description: "The search found \(update.found) of \(update.looked) documents.")
        }
        reading.samples.append(sample)
      }
      return [reading]
    },
  ]
}

/// A dashboard of 120×36 cells in which one document is open and its pane is focused.
private struct OpenDocument {
  private static let key = DocumentKey(unchecked: ResourcePath("cities").appending("large"))
  private static let fieldCount = 10_000

  private var state: DashboardState
  private var now = Timestamp(seconds: 1_772_452_800)

  init() {
    let backend = ConnectedBackend(.embedded, project: "bench")
    let size = Size(width: 120, height: 36)
    state = DashboardState(
      DashboardConfiguration(database: DatabaseID(project: "bench"), backend: backend), size: size, now: now)
    apply(.client(.collections(below: .root, ["cities"]), at: now))
    press(":")
    apply(.input(.paste(Self.key.path.text), at: now))
    apply(.input(.key(Key(.enter)), at: now))
    change(0)
    press("0")
  }

  mutating func change(_ number: Int) {
    var fields = Fields()
    for index in 0..<Self.fieldCount { fields["field\(index)"] = .integer(Int64(index + number)) }
    let version = SnapshotVersion(microseconds: now.microseconds + Int64(number))
    let document = Document(key: Self.key, version: version, createTime: version, state: .found(DocumentData(fields)))
    apply(.client(.detail(Self.key, remote: document, overlay: nil, local: document), at: now))
  }

  mutating func press(_ key: Character) { apply(.input(.key(Key(.character(key))), at: now)) }

  private mutating func apply(_ action: Action) {
    _ = update(&state, action)
    _ = view(state)
  }
}
