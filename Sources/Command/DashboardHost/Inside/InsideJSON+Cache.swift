// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// The parts of the object that are about the cache.
extension InsideJSON {
  static func cache(_ survey: CacheSurvey) -> JSONSyntax {
    let collections = survey.shares.map { share in
      object([
        Member("path", string(share.path.text)), Member("documents", integer(share.documents)),
        Member("overlays", integer(share.overlays)), Member("names", integer(share.names)),
        Member("bytes", integer(Int(clamping: share.bytes))),
        Member("leavingDocuments", integer(share.leavingDocuments)),
        Member("leavingBytes", integer(Int(clamping: share.leavingBytes))),
        Member("offline", coverage(share.coverage)),
      ])
    }
    return object([
      Member("policy", string(survey.policy.rawValue)), Member("bytes", integer(Int(clamping: survey.bytes))),
      Member("freeBytes", integer(Int(clamping: survey.freeBytes))),
      Member("limit", survey.limit.map { integer(Int(clamping: $0)) } ?? null),
      Member("targets", integer(survey.targets)), Member("leavingTargets", integer(survey.leavingTargets)),
      Member("leavesNext", JSONSyntax(.array(survey.victims.map(victim)))),
      Member("collections", JSONSyntax(.array(collections))),
      Member("tables", JSONSyntax(.array(survey.contents.tables.map(table)))),
      Member("pages", integer(survey.contents.pageCount)),
      Member("logBytes", integer(Int(clamping: survey.contents.logBytes))),
      Member("checksums", string(survey.contents.checksums.rawValue)),
    ])
  }

  private static func coverage(_ coverage: CacheSurvey.Coverage) -> JSONSyntax {
    object([
      Member("wholeAsOf", coverage.wholeAsOf.map(time) ?? null), Member("results", integer(coverage.results)),
      Member("newestResult", coverage.newestResult.map(time) ?? null),
    ])
  }

  private static func victim(_ victim: CacheSurvey.Victim) -> JSONSyntax {
    let use = [
      Member("lastUse", integer(Int(clamping: victim.lastUse))),
      Member("confirmed", victim.confirmed.map(time) ?? null),
    ]
    return switch victim.subject {
    case .result(let target, let documents):
      object([Member("query", string(QueryText.line(target))), Member("documents", integer(documents))] + use)
    case .document(let key, let bytes):
      object([Member("path", string(key.path.text)), Member("bytes", integer(Int(clamping: bytes)))] + use)
    }
  }

  private static func table(_ table: CacheContents.Table) -> JSONSyntax {
    object([
      Member("table", string(table.name)), Member("rows", integer(table.rows)),
      Member("bytes", table.bytes.map { integer(Int(clamping: $0)) } ?? null),
    ])
  }

  /// A pin, or a lifetime in microseconds.
  static func retention(_ retention: Retention) -> JSONSyntax {
    object([
      Member("query", string(QueryText.line(retention.target))),
      Member("kind", string(retention.kind.isPin ? "pin" : "lifetime")),
      Member("lifetime", retention.lifetime.map { integer(Int(clamping: $0.wholeMicroseconds)) } ?? null),
      Member("since", time(retention.since)),
    ])
  }

  /// The local indexes with their progress, and with the count of their entries.
  static func indexes(_ inside: ClientInside, _ counted: CacheContents?) -> JSONSyntax {
    JSONSyntax(
      .array(
        inside.indexes.map { index in
          let amount = counted?.indexes.first { $0.state.definition == index.definition }
          return object([
            Member("index", string("\(index.definition)")), Member("automatic", boolean(index.isAutomatic)),
            Member("ready", boolean(index.backfill == nil)),
            Member("documentsIndexed", index.backfill.map { integer($0.documentsIndexed) } ?? null),
            Member("documentsTotal", index.backfill.map { integer($0.documentsTotal) } ?? null),
            Member("entries", amount.map { integer($0.entries) } ?? null),
            Member("bytes", amount.map { integer(Int(clamping: $0.bytes)) } ?? null),
          ])
        }))
  }
}
