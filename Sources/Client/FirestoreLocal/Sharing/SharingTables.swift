// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The tables for messages between the clients of one cache (SPEC-FORMAT §11). They are in the cache's database, so
/// that one transaction writes a change and the notice about it. Therefore no notice is lost, and none arrives before
/// its data.
///
/// The first client to open the cache recreates the tables. Old content is meaningless, because the clients that wrote
/// it no longer exist.
struct SharingTables {
  static let schema = """
    DROP TABLE IF EXISTS sharing_clients;
    DROP TABLE IF EXISTS sharing_targets;
    DROP TABLE IF EXISTS sharing_target_states;
    DROP TABLE IF EXISTS sharing_state;
    DROP TABLE IF EXISTS sharing_notices;
    CREATE TABLE sharing_clients (
      id INTEGER PRIMARY KEY,       -- ClientPresence.place
      alive INTEGER NOT NULL,       -- when it last said so
      uses_network INTEGER NOT NULL,
      is_visible INTEGER NOT NULL,
      heard INTEGER NOT NULL        -- the last notice that it has dealt with
    ) STRICT;
    CREATE TABLE sharing_targets (  -- what each client listens to
      client INTEGER NOT NULL,
      target INTEGER NOT NULL,
      interest INTEGER NOT NULL,    -- TargetInterest
      PRIMARY KEY (client, target)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE sharing_target_states (
      target INTEGER PRIMARY KEY,
      is_current INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE sharing_state (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      lease_holder INTEGER,         -- the primary client
      lease_time INTEGER,
      online_state TEXT,
      online_client INTEGER,        -- whose online state that is
      forgotten INTEGER NOT NULL DEFAULT 0  -- notices up to this one may be gone
    ) STRICT;
    INSERT INTO sharing_state (id) VALUES (1);
    CREATE TABLE sharing_notices (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      client INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      subject INTEGER,              -- a batch or a target
      user INTEGER,                 -- whose batch
      content BLOB
    ) STRICT;
    """

  struct Client: Hashable {
    var id: Int64
    var alive: Int64
    var usesNetwork: Bool
    var isVisible: Bool
    var heard: Int64
  }

  let connection: Connection

  // MARK: Clients

  func clients() throws(StoreError) -> [Client] {
    try connection.all("SELECT id, alive, uses_network, is_visible, heard FROM sharing_clients ORDER BY id") { row in
      Client(
        id: row.integer(0), alive: row.integer(1), usesNetwork: row.integer(2) != 0, isVisible: row.integer(3) != 0,
        heard: row.integer(4))
    }
  }

  func set(_ client: Client) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO sharing_clients (id, alive, uses_network, is_visible, heard) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET alive = excluded.alive, uses_network = excluded.uses_network,
        is_visible = excluded.is_visible, heard = excluded.heard
      """, client.id, client.alive, client.usesNetwork ? 1 : 0, client.isVisible ? 1 : 0, client.heard)
  }

  /// Removes all rows of a client, including the lease.
  func remove(_ client: Int64) throws(StoreError) {
    try connection.run("DELETE FROM sharing_clients WHERE id = ?", client)
    try connection.run("DELETE FROM sharing_targets WHERE client = ?", client)
    try connection.run(
      "UPDATE sharing_state SET lease_holder = NULL, lease_time = NULL WHERE lease_holder = ?", client)
  }

  // MARK: The lease

  func lease() throws(StoreError) -> (holder: Int64, time: Int64)? {
    try connection.first("SELECT lease_holder, lease_time FROM sharing_state") { row in
      row.optionalInteger(0).map { ($0, row.integer(1)) }
    } ?? nil
  }

  func setLease(_ holder: Int64?, at time: Int64) throws(StoreError) {
    try connection.run("UPDATE sharing_state SET lease_holder = ?, lease_time = ?", holder, time)
  }

  // MARK: The online state

  func onlineState() throws(StoreError) -> OnlineState? {
    try connection.first(
      """
      SELECT online_state FROM sharing_state
      WHERE online_client IN (SELECT id FROM sharing_clients) AND online_state NOT NULL
      """
    ) { OnlineState(rawValue: $0.text(0)) } ?? nil
  }

  func set(_ state: OnlineState, of client: Int64) throws(StoreError) {
    try connection.run("UPDATE sharing_state SET online_state = ?, online_client = ?", state.rawValue, client)
  }

  // MARK: Targets

  /// - Parameter interest: the interest to add to the interest that the client already has.
  /// - Returns: whether the client's interest grew.
  func add(_ interest: TargetInterest, in target: TargetID, of client: Int64) throws(StoreError) -> Bool {
    try connection.run(
      """
      INSERT INTO sharing_targets (client, target, interest) VALUES (?, ?, ?)
      ON CONFLICT (client, target) DO UPDATE SET interest = excluded.interest WHERE interest < excluded.interest
      """, client, target, interest.rawValue)
    return connection.rowsChangedLast > 0
  }

  /// - Parameter interest: `nil` for a target without a listener of the client.
  /// - Returns: whether the client's interest changed.
  func set(_ interest: TargetInterest?, in target: TargetID, of client: Int64) throws(StoreError) -> Bool {
    if let interest {
      try connection.run(
        """
        INSERT INTO sharing_targets (client, target, interest) VALUES (?, ?, ?)
        ON CONFLICT (client, target) DO UPDATE SET interest = excluded.interest WHERE interest <> excluded.interest
        """, client, target, interest.rawValue)
    } else {
      try connection.run("DELETE FROM sharing_targets WHERE client = ? AND target = ?", client, target)
    }
    return connection.rowsChangedLast > 0
  }

  func removeTargets(of client: Int64) throws(StoreError) {
    try connection.run("DELETE FROM sharing_targets WHERE client = ?", client)
  }

  /// Removes a client's interest in the target. The state of the result remains stored while other clients need the
  /// result.
  func withdraw(_ target: TargetID, of client: Int64) throws(StoreError) {
    try connection.run("DELETE FROM sharing_targets WHERE client = ? AND target = ?", client, target)
    try connection.run(
      """
      DELETE FROM sharing_target_states
      WHERE target = ?1
        AND NOT EXISTS (SELECT 1 FROM sharing_targets WHERE sharing_targets.target = ?1 AND interest = ?2)
      """, target, TargetInterest.backend.rawValue)
  }

  /// Removes all clients' interest in the target.
  func removeEverywhere(_ target: TargetID) throws(StoreError) {
    try connection.run("DELETE FROM sharing_targets WHERE target = ?", target)
    try connection.run("DELETE FROM sharing_target_states WHERE target = ?", target)
  }

  /// The targets to which other clients listen.
  /// - Parameter interest: the interest that at least one of these clients must have; `nil` for any interest.
  func targets(
    ofOthersThan client: Int64, _ interest: TargetInterest? = nil
  ) throws(StoreError) -> Set<TargetID> {
    var ids: Set<TargetID> = []
    try connection.forEachRow(
      "SELECT target FROM sharing_targets WHERE client <> ?1 AND (?2 IS NULL OR interest = ?2)", client,
      interest?.rawValue
    ) { row throws(StoreError) in ids.insert(try TargetCache.id(row.integer(0))) }
    return ids
  }

  func isCurrent(_ target: TargetID) throws(StoreError) -> Bool {
    try connection.integer("SELECT is_current FROM sharing_target_states WHERE target = ?", target) == 1
  }

  func setCurrent(_ target: TargetID, _ isCurrent: Bool) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO sharing_target_states (target, is_current) VALUES (?, ?)
      ON CONFLICT (target) DO UPDATE SET is_current = excluded.is_current
      """, target, isCurrent ? 1 : 0)
  }

  func removeStates() throws(StoreError) { try connection.run("DELETE FROM sharing_target_states") }

  // MARK: Notices

  /// The highest notice number so far.
  func lastNotice() throws(StoreError) -> Int64 {
    try connection.integer("SELECT seq FROM sqlite_sequence WHERE name = 'sharing_notices'") ?? 0
  }

  /// The highest number of a deleted notice, whether or not every client had processed it.
  func forgottenNotices() throws(StoreError) -> Int64 {
    try connection.integer("SELECT forgotten FROM sharing_state") ?? 0
  }

  func append(_ notice: Notice, of client: Int64, _ user: UserNumber?) throws(StoreError) {
    try connection.run(
      "INSERT INTO sharing_notices (client, kind, subject, user, content) VALUES (?, ?, ?, ?, ?)", client,
      notice.kind.rawValue, notice.subject, user, notice.content)
  }

  func notices(after last: Int64, ofOthersThan client: Int64) throws(StoreError) -> [NoticeRecord] {
    try connection.all(
      "SELECT id, kind, subject, user, content FROM sharing_notices WHERE id > ? AND client <> ? ORDER BY id", last,
      client
    ) { row throws(StoreError) in
      NoticeRecord(
        id: row.integer(0), notice: try Notice(row.integer(1), row.optionalInteger(2), row.blob(4)),
        user: row.optionalInteger(3).map(UserNumber.init))
    }
  }

  /// Deletes the notices that all clients have processed, and the oldest notices if more than `count` notices remain.
  func forgetNotices(heardByAll heard: Int64, keeping count: Int64) throws(StoreError) {
    let bound = max(heard, try lastNotice() - count)
    try connection.run("DELETE FROM sharing_notices WHERE id <= ?", bound)
    try connection.run("UPDATE sharing_state SET forgotten = max(forgotten, ?)", bound)
  }
}
