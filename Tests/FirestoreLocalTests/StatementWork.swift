// SPDX-License-Identifier: Apache-2.0
import CSQLite

@testable import FirestoreLocal
@testable import FirestoreSQLite

/// What a connection has done so far, counted: the same on every machine.
struct StatementWork: Equatable {
  /// Statements that were run.
  var runs: Int
  /// Instructions of SQLite's virtual machine; each row that is looked at takes some.
  var steps: Int

  static func - (after: StatementWork, before: StatementWork) -> StatementWork {
    StatementWork(runs: after.runs - before.runs, steps: after.steps - before.steps)
  }
}

extension LocalStore {
  var work: StatementWork {
    var work = StatementWork(runs: 0, steps: 0)
    for statement in database.connection.statements.all {
      work.runs += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_RUN, 0))
      work.steps += Int(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0))
    }
    return work
  }
}
