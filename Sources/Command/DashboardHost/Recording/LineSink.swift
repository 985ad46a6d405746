// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation
import Glibc

/// A file to which whole lines are appended, up to a maximum size. Only the user who owns the file may read it.
actor LineSink<Item: Sendable> {
  /// Thrown when the file has ended. Contains the reason as text.
  struct Ended: Error, Hashable, Sendable {
    var reason: String
  }

  private let descriptor: Int32
  private let limit: Int
  private let encode: @Sendable (Item) throws -> Data
  private let last: @Sendable (String) throws -> Data?
  private var size = 0
  private var isOpen = true

  /// The bytes that are reserved for the last line.
  private static var reserve: Int { 512 }

  /// - Parameters:
  ///   - limit: the maximum size of the file in bytes.
  ///   - replaces: whether an existing file with this name may be replaced.
  ///   - encode: returns the line for an item, including the line break.
  ///   - last: returns the last line, given the reason why the file ends; `nil` for no such line.
  init(
    _ path: String, limit: Int, replaces: Bool, encode: @escaping @Sendable (Item) throws -> Data,
    last: @escaping @Sendable (String) throws -> Data?
  ) throws(CommandFailure) {
    let mode = replaces ? O_TRUNC : O_EXCL
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | mode, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST {
        throw CommandFailure(
          .cannotCreate, "\(path) already exists. Choose another name, or overwrite it with --force.")
      }
      throw CommandFailure(.cannotCreate, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
    // An overwritten file may have been readable for other users.
    if OutputPlace.isFile(descriptor) { _ = fchmod(descriptor, 0o600) }
    self.limit = limit
    self.encode = encode
    self.last = last
  }

  /// Writes the items' lines with as few calls as possible.
  /// - Throws: `Ended`, once. In this case the file contains only complete lines.
  func write(_ items: [Item]) throws(Ended) {
    guard isOpen else { return }
    var lines = Data()
    for item in items {
      // The encoder's own reason would name types of the program, which mean nothing to the user.
      guard let line = try? encode(item) else { throw ended("an event cannot be encoded as a line") }
      guard size + lines.count + line.count <= limit - Self.reserve else {
        try put(lines)
        throw ended("it has reached its limit of \(ByteCountText.text(limit))")
      }
      lines.append(line)
    }
    try put(lines)
  }

  /// Writes the last line and closes the file.
  func finish(_ reason: String) {
    guard isOpen else { return }
    if let line = try? last(reason) { try? put(line) }
    shut()
  }

  private func put(_ lines: Data) throws(Ended) {
    var done = 0
    while done < lines.count {
      let count = lines.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + done }, lines.count - done)
      }
      if count > 0 {
        done += count
      } else if errno != EINTR {
        let reason = String(cString: strerror(errno))
        // A reader would report an incomplete line as damage.
        _ = ftruncate(descriptor, off_t(size))
        shut()
        throw Ended(reason: reason)
      }
    }
    size += lines.count
  }

  private func ended(_ reason: String) -> Ended {
    finish(reason)
    return Ended(reason: reason)
  }

  private func shut() {
    isOpen = false
    close(descriptor)
  }
}

/// File sizes as text with units.
package enum ByteCountText {
  private static let units: [(name: String, factor: Int)] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)]

  /// The size in the largest unit in which it is a whole number, such as `64 MB`.
  static func text(_ count: Int) -> String {
    guard let unit = units.first(where: { count >= $0.factor && count.isMultiple(of: $0.factor) }) else {
      return "\(count) bytes"
    }
    return "\(count / unit.factor) \(unit.name)"
  }

  /// Parses `64MB`, `500 KB`, `1GB` or a number of bytes.
  package static func parse(_ text: String) -> Int? {
    let text = text.uppercased().filter { $0 != " " }
    for unit in units where text.hasSuffix(unit.name) {
      guard let number = Int(text.dropLast(unit.name.count)), number > 0, number <= 1 << 20 else { return nil }
      return number * unit.factor
    }
    return Int(text).flatMap { $0 > 0 ? $0 : nil }
  }
}

/// Writes items to a file in the background. Items that arrive during a write are part of the next write.
@MainActor
final class FileRecorder<Item: Sendable> {
  /// The maximum estimated size of the items that wait to be written, in bytes. The recording ends if it is exceeded.
  private static var patience: Int { 32 << 20 }

  let path: String
  /// Whether the disk is so slow that the caller should not add optional items.
  var isBehind: Bool { waitingCost > Self.patience / 4 }
  private let sink: LineSink<Item>
  private var waiting: [Item] = []
  private var waitingCost = 0
  private var writing: Task<Void, Never>?
  private var isEnded = false
  private let ended: @MainActor (String) -> Void

  /// - Parameter ended: called once with the reason if the file ends before `finish` is called.
  init(_ path: String, _ sink: LineSink<Item>, ended: @escaping @MainActor (String) -> Void) {
    self.path = path
    self.sink = sink
    self.ended = ended
  }

  func note(_ item: Item, cost: Int) {
    guard !isEnded else { return }
    waiting.append(item)
    waitingCost += cost
    if waitingCost > Self.patience { return give(up: "the disk is slower than the events") }
    if writing == nil { writing = Task { await write() } }
  }

  /// Writes the waiting items and the last line.
  func finish(_ reason: String) async {
    guard !isEnded else { return }
    await writing?.value
    guard !isEnded else { return }
    isEnded = true
    await sink.finish(reason)
  }

  private func write() async {
    while !waiting.isEmpty, !isEnded {
      let items = waiting
      (waiting, waitingCost) = ([], 0)
      do throws(LineSink<Item>.Ended) { try await sink.write(items) } catch { give(up: error.reason) }
    }
    writing = nil
  }

  private func give(up reason: String) {
    guard !isEnded else { return }
    isEnded = true
    (waiting, waitingCost) = ([], 0)
    Task { await sink.finish(reason) }
    ended(reason)
  }
}
