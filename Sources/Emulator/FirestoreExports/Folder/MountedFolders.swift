// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The folders on which file systems are mounted, as proc(5) tells them.
enum MountedFolders {
  private static let table = "/proc/self/mountinfo"

  /// - Parameter path: without links in it.
  /// - Returns: false where the system does not say.
  static func contain(_ path: String) -> Bool {
    guard let file = fopen(table, "re") else { return false }
    defer { fclose(file) }
    var (line, capacity) = (UnsafeMutablePointer<CChar>?.none, 0)
    defer { free(line) }
    while getline(&line, &capacity, file) > 0 {
      if let line, folder(String(cString: line).utf8) == Array(path.utf8) { return true }
    }
    return false
  }

  /// The folder that a line of the table names: its fifth word, with blanks and the like as `\\ooo`.
  static func folder(_ line: String.UTF8View) -> [UInt8]? {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
    guard words.count > 4 else { return nil }
    var (name, rest) = ([UInt8](), Substring(words[4]).utf8)
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3, let octal = UInt8(String(digits) ?? "", radix: 8) {
        name.append(octal)
        rest.removeFirst(3)
      } else {
        name.append(byte)
      }
    }
    return name
  }
}
