// SPDX-License-Identifier: Apache-2.0
import CommandTransfer
import Dashboard
package import DashboardModel
import FirestoreClientState
package import FirestoreModel

// Cases are listed without a default, so that a new event cannot be forgotten.

extension Redaction {
  package func event(_ event: ClientEvent) -> ClientEvent {
    switch event {
    case .snapshot(let snapshot): .snapshot(self.snapshot(snapshot))
    case .listenerFailed(let tag, let status): .listenerFailed(tag, self.status(status))
    case .listenerStopped, .snapshotsMissed, .faults: event
    case .attachmentEnded(let reason): .attachmentEnded(text(reason))
    case .windowLoaded(let tag, let documents, let isFromCache, let total):
      .windowLoaded(tag, documents.map(document), isFromCache: isFromCache, total: total)
    case .windowFailed(let tag, let status): .windowFailed(tag, self.status(status))
    case .searched(let tag, let news):
      .searched(
        tag,
        SearchNews(
          hits: news.hits.map(document), looked: news.looked, found: news.found, isDone: news.isDone,
          isFromCache: news.isFromCache))
    case .located(let tag, let key, let count): .located(tag, key.map(self.key), cachedCount: count)
    case .collections(let parent, let ids): .collections(below: path(parent), ids)
    case .collectionsUnlisted(let parent, let status): .collectionsUnlisted(below: path(parent), self.status(status))
    case .missingDocuments(let path, let keys): .missingDocuments(in: self.path(path), keys.map(key))
    case .counted(let path, let count, let isFromCache): .counted(self.path(path), count, isFromCache: isFromCache)
    case .committed(.collections(let notices)):
      .committed(
        .collections(
          notices.map {
            CollectionNotice(path($0.collection), created: $0.created, deleted: $0.deleted, changed: $0.changed)
          }))
    case .committed(.everything): event
    case .commitsUnheard(let reason): .commitsUnheard(text(reason))
    case .status(let status): .status(self.status(status))
    case .storage(let notice):
      .storage(StorageNotice(badge: notice.badge, message: text(notice.message)))
    case .company(let company): .company(self.company(company))
    case .pendingWrites(let writes, let size):
      .pendingWrites(writes.map(pending), of: size)
    case .writeAcknowledged(let batch, let time, let documents):
      .writeAcknowledged(batch, after: time, of: documents?.renamed(key))
    case .writeCancelled, .rejectedWritesForgotten, .indexes: event
    case .retentions(let retentions): .retentions(retentions.map(retention))
    case .writeRejected(let batch, let status): .writeRejected(batch, self.status(status))
    case .rejectedWrites(let writes): .rejectedWrites(writes.map(rejected))
    case .detail(let key, let remote, let overlay, let local, let isFromCache):
      .detail(
        self.key(key), remote: remote.map(document), overlay: overlay.map(mutation), local: local.map(document),
        isFromCache: isFromCache)
    case .conflict(let conflict):
      .conflict(
        WriteConflict(
          batch: conflict.batch, key: key(conflict.key), fields: conflict.fields.map(field),
          commitTime: conflict.commitTime))
    case .answered(let write): .answered(answered(write))
    case .contested(let conflict): .contested(self.conflict(conflict))
    case .marked(let text): .marked(self.text(text))
    case .editConflict(let conflict): .editConflict(self.conflict(conflict))
    case .undoConflict(let conflict): .undoConflict(self.conflict(conflict))
    case .editorFailed(let request, let line, let column, let reason):
      .editorFailed(self.request(request), line: line, column: column, reason: hidden(reason, "reason"))
    case .created(let key): .created(self.key(key))
    case .editorGaveUp(let reason): .editorGaveUp(text(reason))
    case .explained(let query, let result): .explained(self.query(query), self.result(result))
    case .decisions(let result): .decisions(self.result(result))
    case .inside(let result): .inside(self.result(result))
    case .surveyed(let result): .surveyed(self.result(result))
    case .fieldTypes(let path, let result): .fieldTypes(in: self.path(path), self.result(result))
    case .previewed(let query, let result): .previewed(self.query(query), self.result(result))
    case .transferring(let transfer): .transferring(self.transfer(transfer))
    case .transferred(let account): .transferred(self.account(account))
    case .listenersRead(let definitions, let file): .listenersRead(definitions.map(definition), from: file)
    case .question(let title, let body, let action, _):
      .question(title: text(title), body: body.map(text), action: action, HeldEffects([]))
    case .notice(let kind, let text): .notice(kind, self.text(text))
    }
  }

  // MARK: Listeners and files

  package func definition(_ definition: ListenerDefinition) -> ListenerDefinition {
    ListenerDefinition(name: text(definition.name), query: query(definition.query), options: definition.options)
  }

  private func request(_ request: TransferRequest) -> TransferRequest {
    switch request {
    case .export(let paths, let file, let replaces): .export(paths?.map(path), file: file, replaces: replaces)
    case .importing(let file, let collection): .importing(file: file, into: collection.map(path))
    case .freezing(let path, let file, let replaces): .freezing(path.map(self.path), file: file, replaces: replaces)
    case .bundle(.documents(let keys), let file, let replaces):
      .bundle(.documents(keys.map(key)), file: file, replaces: replaces)
    case .bundle(.result(let query, let name), let file, let replaces):
      .bundle(.result(self.query(query), name: text(name)), file: file, replaces: replaces)
    }
  }

  private func transfer(_ transfer: TransferState) -> TransferState {
    var transfer = transfer
    transfer.request = request(transfer.request)
    return transfer
  }

  /// Redacts an account: refused lines quote documents.
  private func account(_ account: TransferAccount) -> TransferAccount {
    var account = account
    account.request = request(account.request)
    account.refused = account.refused.map { hidden($0, "refusal") }
    account.notes = account.notes.map(text)
    if case .failed(let reason) = account.end { account.end = .failed(text(reason)) }
    return account
  }

  private func result(_ result: ClientEvent.PreviewResult) -> ClientEvent.PreviewResult {
    switch result {
    case .success(var preview):
      preview.query = query(preview.query)
      return .success(preview)
    case .failure(let status): return .failure(self.status(status))
    }
  }

  private func snapshot(_ snapshot: ListenerSnapshot) -> ListenerSnapshot {
    var snapshot = snapshot
    snapshot.changes = snapshot.changes.map { change in
      ListenerSnapshot.Change(
        change.kind, document(change.document), previous: change.previous.map(document), now: change.now.map(document))
    }
    snapshot.causes = snapshot.causes.map { cause in
      switch cause {
      case .limboResolved(let key): .limboResolved(self.key(key))
      case .rejected(let batch, let status): .rejected(batch, self.status(status))
      default: cause
      }
    }
    return snapshot
  }

  /// Redacts the names of programs, which they give themselves.
  private func company(_ company: DataCompany) -> DataCompany {
    func named(_ member: DataMember) -> DataMember { DataMember(process: member.process, name: text(member.name)) }
    let standing: DataCompany.Standing =
      switch company.standing {
      case .owner: .owner
      case .attached(let owner): .attached(to: named(owner))
      case .unreachable(let reason): .unreachable(text(reason))
      }
    return DataCompany(standing, others: company.others.map(named))
  }

  // MARK: Words

  /// Redacts a program's message, which may quote anything.
  package func text(_ text: String) -> String { isAll ? hidden(text, "message") : text }

  package func status(_ status: RPCStatus) -> RPCStatus { RPCStatus(status.code, text(status.message)) }

  private func status(_ status: ClientStatus) -> ClientStatus {
    var status = status
    if case .failed(let failure)? = status.reason { status.reason = .failed(self.status(failure)) }
    status.watch.lastError = status.watch.lastError.map(self.status)
    status.write.lastError = status.write.lastError.map(self.status)
    status.storeFailure = status.storeFailure.map(self.status)
    status.reads = status.reads.map { ReadMeter(target: target($0.target), sent: $0.sent, kept: $0.kept) }
    status.pendingWrites = status.pendingWrites.map(pending)
    status.rejectedWrites = status.rejectedWrites.map(rejected)
    status.recentOutcomes = []
    return status
  }

  // MARK: Writes

  private func pending(_ write: PendingWrite) -> PendingWrite {
    var write = write
    write.mutations = write.mutations.map(mutation)
    write.lastError = write.lastError.map(status)
    return write
  }

  private func rejected(_ write: RejectedWrite) -> RejectedWrite {
    var write = write
    write.mutations = write.mutations.map(mutation)
    write.rejection.status = status(write.rejection.status)
    return write
  }

  private func field(_ field: WriteConflict.Field) -> WriteConflict.Field {
    func shown(_ value: Value?) -> Value? { value.map { self.value($0, at: field.path) } }
    return WriteConflict.Field(
      path: field.path, base: shown(field.base), mine: shown(field.mine), theirs: shown(field.theirs))
  }

  private func answered(_ write: AnsweredWrite) -> AnsweredWrite {
    var write = write
    write.mutations = write.mutations.map(mutation)
    write.existed = Dictionary(write.existed.map { (key($0.key), $0.value) }, uniquingKeysWith: { $1 })
    return write
  }

  private func conflict(_ conflict: ClientConflict) -> ClientConflict {
    var conflict = conflict
    conflict.key = key(conflict.key)
    if case .replaced(let fields, let after) = conflict.outcome {
      conflict.outcome = .replaced(fields.map(field), after: after)
    }
    return conflict
  }

  /// The clients of a screen, whose users count as values where all of them are hidden.
  func facts(_ facts: StageFacts) -> StageFacts {
    guard isAll else { return facts }
    var facts = facts
    for index in facts.clients.indices {
      facts.clients[index].user = facts.clients[index].user.map { hidden($0, "user") }
    }
    return facts
  }

  private func conflict(_ conflict: EditConflict) -> EditConflict {
    EditConflict(
      key: key(conflict.key), fields: conflict.fields.map(field), isDeleted: conflict.isDeleted,
      overwriting: conflict.overwriting.map(mutation), keepingTheirs: conflict.keepingTheirs.map(mutation),
      replacing: conflict.replacing.map(mutation), again: again(conflict.again))
  }

  private func conflict(_ conflict: UndoConflict) -> UndoConflict {
    UndoConflict(
      batch: conflict.batch, isRedo: conflict.isRedo,
      documents: conflict.documents.map { document in
        UndoConflict.Document(
          key: key(document.key), left: document.left.map(fields), now: document.now.map(fields),
          writing: UndoConflict.Writing(document.writing.operation, document.writing.fields.map(field)))
      })
  }

  private func again(_ again: EditConflict.Again) -> EditConflict.Again {
    switch again {
    case .text(let request): .text(self.request(request))
    case .fields(let fields): .fields(over: fields.map(self.fields))
    }
  }

  private func request(_ request: EditRequest) -> EditRequest {
    let subject: EditRequest.Subject =
      switch request.subject {
      case .document(let key): .document(self.key(key))
      case .newDocument(let path): .newDocument(in: self.path(path))
      case .documentToCreate(let key): .documentToCreate(self.key(key))
      case .rejectedWrite: request.subject
      }
    return EditRequest(subject, text: hidden(request.text, "text"))
  }

  private func result(_ result: ClientEvent.DecisionsResult) -> ClientEvent.DecisionsResult {
    switch result {
    case .success(let decisions):
      .success(
        decisions.map { decision in
          var decision = decision
          decision.path = path(decision.path)
          decision.user = decision.user.map { hidden($0, "user") }
          decision.reason = text(decision.reason)
          decision.statements = decision.statements.map { $0.map(statement) }
          return decision
        })
    case .failure(let status): .failure(self.status(status))
    }
  }

  private func statement(_ statement: RuleDecision.Statement) -> RuleDecision.Statement {
    var statement = statement
    statement.text = hidden(statement.text, "rule")
    statement.message = text(statement.message)
    statement.values = statement.values.map { seen in
      RuleDecision.SeenValue(
        hidden(seen.expression, "expression"), hidden(seen.value, "value"), isFailure: seen.isFailure)
    }
    return statement
  }

  private func result(_ result: ClientEvent.ExplanationResult) -> ClientEvent.ExplanationResult {
    switch result {
    case .success(var explanation):
      explanation.query = query(explanation.query)
      for index in explanation.indexes.indices {
        explanation.indexes[index].servedFilters = explanation.indexes[index].servedFilters.map(condition)
      }
      return .success(explanation)
    case .failure(let status): return .failure(self.status(status))
    }
  }
}

extension Redaction {
  func retention(_ retention: Retention) -> Retention {
    var retention = retention
    retention.target = target(retention.target)
    return retention
  }

  func result(_ result: ClientEvent.InsideResult) -> ClientEvent.InsideResult {
    switch result {
    case .success(var inside):
      for index in inside.targets.indices { inside.targets[index].target = target(inside.targets[index].target) }
      inside.lookups.listed = inside.lookups.listed.map { Lookups.Lookup(key($0.key), target: $0.target) }
      for index in inside.streams.indices {
        inside.streams[index].status.lastError = inside.streams[index].status.lastError.map(status)
      }
      for index in inside.queries.indices { inside.queries[index].query = query(inside.queries[index].query) }
      inside.retentions = inside.retentions.map(retention)
      return .success(inside)
    case .failure(let status): return .failure(self.status(status))
    }
  }

  func result(_ result: ClientEvent.FieldTypesResult) -> ClientEvent.FieldTypesResult {
    switch result {
    case .success(let types): .success(types.renamed(key))
    case .failure(let status): .failure(self.status(status))
    }
  }

  func result(_ result: ClientEvent.SurveyResult) -> ClientEvent.SurveyResult {
    switch result {
    case .success(var survey):
      for index in survey.shares.indices { survey.shares[index].path = path(survey.shares[index].path) }
      survey.victims = survey.victims.map { victim in
        var victim = victim
        switch victim.subject {
        case .result(let target, let documents): victim.subject = .result(self.target(target), documents: documents)
        case .document(let key, let bytes): victim.subject = .document(self.key(key), bytes: bytes)
        }
        return victim
      }
      return .success(survey)
    case .failure(let status): return .failure(self.status(status))
    }
  }
}
