// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import FirestoreLocal
import FirestoreModel
import FirestoreSQLite
import FirestoreTesting
import Foundation

/// The folder of a client process: its cache, and its backend if that is not in memory. It goes with the value.
final class ClientFolder: Sendable {
  static let database = DatabaseID(project: "crash", database: "(default)")

  private let folder = TemporaryFolder()
  var path: String { folder.path }
  var cachePath: String { path + "/cache/cache.sqlite3" }

  private static let program: String = {
    let own = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(filePath: own).deletingLastPathComponent().appending(path: "CrashClient").path
  }()

  init() throws {
    try folder.make()
  }

  func start(_ arguments: String..., environment extra: [String: String] = [:]) throws -> ChildProcess {
    // A sanitizer's options apply to the process as well.
    let environment = ProcessInfo.processInfo.environment.filter {
      $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "LD_PRELOAD"
    }.merging(extra) { $1 }
    return try ChildProcess([Self.program, path] + arguments, environment: environment, streams: .pipes)
  }

  /// The cache as this process sees it. No other process may have it open.
  func openCache() throws -> LocalStore {
    try LocalStore(
      LocalStoreConfiguration(
        location: .directory(path + "/cache"), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20),
        database: Self.database))
  }

  /// Copies the files of a cache that is in use, as the kernel has them: what is left if its process is killed now.
  func copyCache(to folder: ClientFolder) throws {
    try FileManager.default.copyItem(atPath: path + "/cache", toPath: folder.path + "/cache")
  }

  /// What SQLite says is wrong with one of its files.
  func integrityComplaint(of file: String) throws -> String? {
    try Connection(path: path + "/" + file, called: file).integrityComplaint()
  }

  func size(of file: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path + "/" + file)[.size] as? Int) ?? 0
  }
}
