// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreJSON
import FirestoreModel
import FirestoreQuery

// Indexes, explanations, client internals, and the cache.

extension FieldIndex.Kind: JSONFormed {}

extension FieldIndex.Field: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    FieldIndex.Field(try form("field", it?.path), try form("kind", it?.kind))
  }
}

extension FieldIndex: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let group = try form.word("collection", it?.collectionGroup)
    let fields: [Field] = try form("fields", it?.fields)
    if let it { return it }
    do throws(ModelError) { return try FieldIndex(collectionGroup: group, fields: fields) } catch {
      throw form.error(error.message)
    }
  }
}

extension IndexProgress: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    IndexProgress(
      documentsIndexed: try form("indexed", it?.documentsIndexed), documentsTotal: try form("total", it?.documentsTotal)
    )
  }
}

extension IndexState: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    IndexState(
      definition: try form.members(of: it?.definition), isAutomatic: try form("automatic", it?.isAutomatic),
      backfill: try form.optional("backfill", it?.backfill))
  }
}

extension QueryPlan: JSONFormed {}

extension IndexUse: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    IndexUse(
      index: try form("index", it?.index), servedFilters: try form("servedFilters", it?.servedFilters),
      servesOrder: try form("servesOrder", it?.servesOrder))
  }
}

extension QueryExplanation: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    QueryExplanation(
      query: try form("query", it?.query), plan: try form("plan", it?.plan), indexes: try form("indexes", it?.indexes),
      documentsScanned: try form("documentsScanned", it?.documentsScanned),
      entriesRead: try form("entriesRead", it?.entriesRead),
      documentsReturned: try form("documentsReturned", it?.documentsReturned),
      duration: try form("duration", it?.duration),
      suggestedIndexes: try form("suggestedIndexes", it?.suggestedIndexes),
      isBuildingIndexes: try form("buildingIndexes", it?.isBuildingIndexes))
  }
}

extension QueryPreview: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    QueryPreview(
      query: try form("query", it?.query), count: try form.optional("count", it?.count),
      suggestedIndexes: try form("suggestedIndexes", it?.suggestedIndexes),
      documentsToScan: try form("documentsToScan", it?.documentsToScan))
  }
}

extension QueryTimes.Class: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    QueryTimes.Class(
      limit: try form.optional("limit", it?.limit), runs: try form("runs", it?.runs),
      median: try form("median", it?.median), p99: try form("p99", it?.p99))
  }
}

extension QueryTimes: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    QueryTimes(
      query: try form("query", it?.query), classes: try form("classes", it?.classes), runs: try form("runs", it?.runs),
      plan: try form("plan", it?.plan), scanned: try form("scanned", it?.scanned), found: try form("found", it?.found))
  }
}

// MARK: - Inside

extension TargetState.Purpose: JSONFormed {}
extension TargetState.Progress: JSONFormed {}

extension TargetState: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    TargetState(
      id: try form("id", it?.id), target: try form("target", it?.target), purpose: try form("purpose", it?.purpose),
      progress: try form("state", it?.progress), tokenTime: try form.optional("tokenTime", it?.tokenTime),
      documents: try form("documents", it?.documents), sent: try form("sent", it?.sent),
      kept: try form("kept", it?.kept),
      lastUse: try form.optional("lastUse", it?.lastUse.map { Int($0) }).map(Int64.init))
  }
}

extension Lookups.Lookup: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Lookups.Lookup(try form("path", it?.key), target: try form.optional("target", it?.target))
  }
}

extension Lookups: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    Lookups(
      listed: try form("listed", it?.listed), asked: try form("asked", it?.asked),
      waiting: try form("waiting", it?.waiting), limit: try form("limit", it?.limit))
  }
}

extension CachePeers.Member: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CachePeers.Member(
      process: try form.optional("process", it?.process), isSelf: try form("self", it?.isSelf),
      hasLease: try form("lease", it?.hasLease), usesNetwork: try form("network", it?.usesNetwork),
      isVisible: try form("visible", it?.isVisible), seen: try form("seen", it?.seen))
  }
}

extension CachePeers: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CachePeers(members: try form("clients", it?.members), renewed: try form.optional("renewed", it?.renewed))
  }
}

extension StreamUse.Kind: JSONFormed {}

extension StreamUse.Bytes: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    StreamUse.Bytes(sent: try form("sent", it?.sent), received: try form("received", it?.received))
  }
}

extension StreamUse: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    StreamUse(
      kind: try form("stream", it?.kind), status: try form.members(of: it?.status), begun: try form("begun", it?.begun),
      since: try form.optional("since", it?.since), messagesSent: try form("messagesSent", it?.messagesSent),
      messagesReceived: try form("messagesReceived", it?.messagesReceived),
      heardAt: try form.optional("heard", it?.heardAt), bytes: try form.optional("bytes", it?.bytes),
      longestSilence: try form.optional("longestSilence", it?.longestSilence))
  }
}

extension ClientInside.Beginning: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ClientInside.Beginning(
      opening: try form("opening", it?.opening), firstSnapshot: try form.optional("firstSnapshot", it?.firstSnapshot),
      firstInSync: try form.optional("firstInSync", it?.firstInSync))
  }
}

extension ConnectionState: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ConnectionState(
      try form("online", it?.online), since: try form("since", it?.since),
      reason: try form.optional("reason", it?.reason), nextAttempt: try form.optional("nextAttempt", it?.nextAttempt))
  }
}

extension Retention: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    let target: Target = try form("target", it?.target)
    let lifetime = try form.optional("lifetime", it?.lifetime)
    return Retention(target, lifetime.map { .lifetime($0) } ?? .pinned, since: try form("since", it?.since))
  }
}

extension ClientInside: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    ClientInside(
      time: try form("time", it?.time), targets: try form("targets", it?.targets),
      targetCount: try form("targetCount", it?.targetCount), lookups: try form("lookups", it?.lookups),
      peers: try form.optional("company", it?.peers), streams: try form("streams", it?.streams),
      queries: try form("queries", it?.queries), beginning: try form("beginning", it?.beginning),
      connection: try form("connection", it?.connection), retentions: try form("retentions", it?.retentions),
      isDurable: try form("durable", it?.isDurable), indexes: try form("indexes", it?.indexes))
  }
}

// MARK: - Cache

extension CacheSurvey.Coverage: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CacheSurvey.Coverage(
      wholeAsOf: try form.optional("wholeAsOf", it?.wholeAsOf), results: try form("results", it?.results),
      newestResult: try form.optional("newestResult", it?.newestResult))
  }
}

extension CacheSurvey.Share: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CacheSurvey.Share(
      path: try form("path", it?.path), documents: try form("documents", it?.documents),
      names: try form("names", it?.names), bytes: try form("bytes", it?.bytes),
      overlays: try form("overlays", it?.overlays),
      leavingDocuments: try form("leavingDocuments", it?.leavingDocuments),
      leavingBytes: try form("leavingBytes", it?.leavingBytes), coverage: try form.members(of: it?.coverage))
  }
}

extension CacheSurvey.Victim: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CacheSurvey.Victim(
      try form.members(of: it?.subject), lastUse: try form("lastUse", it?.lastUse),
      confirmed: try form.optional("confirmed", it?.confirmed))
  }
}

/// Identifies what a garbage collection would evict: a query's result by the member `target`, or a document by the
/// member `path`.
extension CacheSurvey.Victim.Subject: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var (target, documents, key, bytes): (Target?, Int?, DocumentKey?, Int64?)
    switch it {
    case .result(let of, let count): (target, documents) = (of, count)
    case .document(let of, let size): (key, bytes) = (of, size)
    case nil: break
    }
    target = try form.optional("target", target)
    documents = try form.optional("documents", documents)
    key = try form.optional("path", key)
    bytes = try form.optional("bytes", bytes)
    if let target, let documents { return .result(target, documents: documents) }
    if let key, let bytes { return .document(key, bytes: bytes) }
    throw form.error("Expected \"target\" and \"documents\", or \"path\" and \"bytes\".")
  }
}

extension CacheSurvey.Policy: JSONFormed {}
extension CacheContents.Checksums: JSONFormed {}

extension CacheContents.Index: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CacheContents.Index(
      try form.members(of: it?.state), entries: try form("entries", it?.entries), bytes: try form("bytes", it?.bytes))
  }
}

extension CacheContents.Table: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CacheContents.Table(
      try form.word("name", it?.name), rows: try form("rows", it?.rows), bytes: try form.optional("bytes", it?.bytes))
  }
}

extension CacheContents: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    CacheContents(
      indexes: try form("indexes", it?.indexes), droppedEntries: try form("droppedEntries", it?.droppedEntries),
      tables: try form("tables", it?.tables), pageCount: try form("pageCount", it?.pageCount),
      pageBytes: try form("pageBytes", it?.pageBytes), logBytes: try form("logBytes", it?.logBytes),
      checksums: try form("checksums", it?.checksums))
  }
}

extension CacheSurvey: JSONRecord {
  package static func form(_ form: inout JSONForm, _ it: Self?) throws(JSONError) -> Self {
    var survey = CacheSurvey(
      time: try form("time", it?.time), policy: try form("policy", it?.policy), bytes: try form("bytes", it?.bytes),
      freeBytes: try form("freeBytes", it?.freeBytes), limit: try form.optional("limit", it?.limit),
      shares: try form("shares", it?.shares), targets: try form("targets", it?.targets),
      leavingTargets: try form("leavingTargets", it?.leavingTargets), victims: try form("victims", it?.victims),
      contents: try form("contents", it?.contents))
    survey.collectionCount = try form("collectionCount", it?.collectionCount)
    return survey
  }
}
