// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Glibc

/// A terminal whose other side is this test: it sees every byte that a program writes.
final class PseudoTerminal {
  let path: String
  private var master: CInt
  /// Held open so that the modes outlive the program.
  private let slave: CInt
  private(set) var bytes: [UInt8] = []
  /// How many bytes were looked at for questions.
  private var heard = 0

  init(width: UInt16 = 120, height: UInt16 = 36) throws {
    var names: [CChar] = Array(repeating: 0, count: 128)
    var size = winsize(ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0)
    var ends: (master: CInt, slave: CInt) = (-1, -1)
    guard openpty(&ends.master, &ends.slave, &names, nil, &size) == 0 else { throw Failure("no pseudo terminal") }
    (master, slave) = ends
    for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    path = names.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit {
    hangUp()
    close(slave)
  }

  /// What the program wrote as text.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The part of it that came after so many bytes.
  func text(from start: Int) -> String { String(decoding: bytes[start...], as: UTF8.self) }

  /// What `stty -a` tells.
  var modes: String {
    var modes = termios()
    tcgetattr(slave, &modes)
    return "\(modes.c_iflag) \(modes.c_oflag) \(modes.c_cflag) \(modes.c_lflag) \(modes.c_cc)"
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(master, bytes, bytes.count)
  }

  /// Writes until the terminal takes no more, as a program does whose output nobody reads.
  func fill() {
    let flags = fcntl(slave, F_GETFL)
    _ = fcntl(slave, F_SETFL, flags | O_NONBLOCK)
    let blanks = [UInt8](repeating: 0x20, count: 4096)
    while Glibc.write(slave, blanks, blanks.count) > 0 || Glibc.write(slave, blanks, 1) > 0 {}
    _ = fcntl(slave, F_SETFL, flags)
  }

  /// Closes the terminal as a window that is closed does.
  func hangUp() {
    if master >= 0 { close(master) }
    master = -1
  }

  /// Waits until what was written contains a text.
  func wait(_ wanted: String, after start: Int = 0) async throws {
    let deadline = ContinuousClock.now + Waiting.limit
    let needle = Array(wanted.utf8)
    while bytes.dropFirst(start).firstRange(of: needle) == nil {
      guard await read(by: deadline) else { throw Failure("waited in vain for \(wanted.debugDescription) in \(tail)") }
    }
  }

  /// Reads until nothing has come for as long as told.
  func settle(for quiet: Duration) async throws {
    let deadline = ContinuousClock.now + Waiting.limit
    while await read(by: .now + quiet) {
      if .now > deadline { throw Failure("the screen does not come to rest: \(tail)") }
    }
  }

  /// Reads what was written before, to its last byte: the kernel passes it on when it has time, and in order, so that
  /// a mark comes after it.
  func drain() async throws {
    let start = bytes.count
    let mark = "\u{1B}]drained\u{7}"
    guard Glibc.write(slave, mark, mark.utf8.count) == mark.utf8.count else {
      throw Failure("a mark cannot be written")
    }
    try await wait(mark, after: start)
    bytes.removeLast(mark.utf8.count)
  }

  /// Waits for the end of a process on this terminal, and reads all that it writes: its last words may not fit into
  /// what waits to be read.
  func exitStatus(of process: ChildProcess) async throws -> CInt {
    let deadline = ContinuousClock.now + Waiting.limit
    while await !process.hasEnded, .now < deadline { _ = await read(by: .now + .milliseconds(10)) }
    let status = try await process.exitStatus()
    try await drain()
    return status
  }

  private func read(by deadline: ContinuousClock.Instant) async -> Bool {
    guard await Waiting.isReadable(master, by: deadline) else { return false }
    let more = Waiting.read(master)
    bytes += more
    answer()
    return !more.isEmpty
  }

  /// Says that what was read is drawn, where that is asked.
  private func answer() {
    let question = Array("\u{1B}[5n".utf8)
    while let asked = bytes[heard...].firstRange(of: question) {
      heard = asked.upperBound
      type("\u{1B}[0n")
    }
  }

  private var tail: String { String(decoding: bytes.suffix(400), as: UTF8.self).debugDescription }

  /// The private modes after all bytes; `nil` for one that was never mentioned.
  func isOn(_ mode: Int) -> Bool? {
    var isOn: Bool?
    let pieces = text.components(separatedBy: "\u{1B}[?").dropFirst()
    for piece in pieces {
      let numbers = piece.prefix { $0.isNumber || $0 == ";" }
      let final = piece.dropFirst(numbers.count).first
      guard final == "h" || final == "l", numbers.split(separator: ";").contains("\(mode)") else { continue }
      isOn = final == "h"
    }
    return isOn
  }
}
