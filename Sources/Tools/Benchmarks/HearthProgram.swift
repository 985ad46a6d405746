// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The program `hearth` in the same folder as this program.
enum HearthProgram {
  /// The path of `hearth` in this program's folder; `nil` if it does not exist.
  static var path: String? {
    guard let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else { return nil }
    let path = URL(filePath: own).deletingLastPathComponent().appending(path: "hearth").path
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }

  /// Reports on standard error that a case is skipped because the program does not exist.
  static func tellThatItIsMissing(to name: String) {
    let way = "swift build -c release --product hearth"
    FileHandle.standardError.write(
      Data("\(name): not measured: hearth is not in the folder of hearth-bench. Run: \(way)\n".utf8))
  }
}

/// A separate process that runs `hearth serve` in memory, on a free port.
struct ServedBackend {
  let port: Int
  private let process: Process

  /// - Throws: `SQLiteFloor.Failure` if the server ends before it is ready.
  init(_ program: String) throws {
    process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["serve", "--in-memory", "--port", "0"]
    process.standardInput = FileHandle.nullDevice
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = ""
    // The first line contains the address, followed by a full stop.
    while !text.contains("\n") {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      text += String(decoding: bytes, as: UTF8.self)
    }
    guard let found = text.firstMatch(of: /^Serving .* on [^ ]*:(\d+)\./), let port = Int(found.1) else {
      process.terminate()
      throw SQLiteFloor.Failure(description: "hearth serve printed “\(text.prefix(200))”.")
    }
    self.port = port
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
