// SPDX-License-Identifier: Apache-2.0
import FirestoreSQLite

/// The openings of the data in which a database was changed, each with a random number.
///
/// A version alone does not tell whether a client saw the history that the file has. A file that was restored from a
/// copy, or that lost its last commits, goes on from an earlier version and reaches the client's version again with
/// other contents. A client's position therefore names the opening in which its version was committed:
///
/// ```
/// the file        ── A ── 10 ── 20 ─┬─ B ── 30 ── 40          a client that saw B40 resumes at B40
/// its copy, later                   └─ C ── 50                B is unknown here, and so is A30: the client is reset
/// ```
/// An opening begins with its first commit, in the same transaction. Before that, positions name the one before.
struct Openings: Sendable {
  private struct Opening {
    let number: Int64
    /// The version of the last commit before the opening.
    let start: Int64
  }

  /// The number of openings that are remembered. Positions of older ones are unknown.
  private static let kept = 200

  private var known: [Opening] = []
  /// Whether the last opening is this process's.
  private(set) var isCurrent = false

  static let schema = """
    CREATE TABLE openings (
      id INTEGER PRIMARY KEY, database INTEGER NOT NULL, number INTEGER NOT NULL, start INTEGER NOT NULL
    );
    """

  init(database: Int64, _ connection: Connection) throws(StoreError) {
    known = try connection.all("SELECT number, start FROM openings WHERE database = ? ORDER BY id", database) {
      Opening(number: $0.integer(0), start: $0.integer(1))
    }
  }

  var isEmpty: Bool { known.isEmpty }

  /// The number of the opening of the last commit.
  var last: Int64 { known.last?.number ?? 0 }

  /// The version up to which an opening's history is the file's; `nil` for an opening that the file does not know.
  /// - Parameter committed: the version of the last commit.
  func end(of number: Int64, committed: Int64) -> Int64? {
    guard let index = known.lastIndex(where: { $0.number == number }) else { return nil }
    return index + 1 < known.count ? known[index + 1].start : committed
  }

  /// Whether the file's history has a version that some opening handed out as a read time.
  func contains(_ version: Int64, committed: Int64) -> Bool {
    guard let index = known.lastIndex(where: { $0.start < version }) else { return known.first?.start == version }
    return version <= (index + 1 < known.count ? known[index + 1].start : committed)
  }

  /// Draws the number of this process's opening and stores it.
  /// - Parameter start: the version of the last commit before it.
  mutating func begin(at start: Int64, database: Int64, _ connection: Connection) throws(StoreError) {
    let number = try connection.integer("SELECT random()") ?? 0
    try connection.run("INSERT INTO openings (database, number, start) VALUES (?, ?, ?)", database, number, start)
    known.append(Opening(number: number, start: start))
    isCurrent = true
    guard known.count > Self.kept else { return }
    known.removeFirst()
    try connection.run(
      "DELETE FROM openings WHERE id = (SELECT min(id) FROM openings WHERE database = ?)", database)
  }
}
