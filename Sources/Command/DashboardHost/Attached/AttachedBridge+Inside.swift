// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
package import FirestoreClientState
import FirestoreModel

/// The inside of a watched program's client.
extension AttachedBridge {
  func lookInside() {
    ask(.inside) { [weak self] answer in
      switch answer {
      case .inside(let inside): self?.emit(.inside(.success(inside.plausible)))
      case .failed(let status): self?.emit(.inside(.failure(status)))
      default: break
      }
    }
  }

  /// Counts page by page: a program answers a bounded number of documents at a time.
  func countFieldTypes(_ count: FieldTypeCount) {
    ask(.documents(count.page(limit: FieldTypeCount.answered))) { [weak self] answer in
      switch answer {
      case .documents(let documents):
        var count = count
        count.add(documents)
        // An answer that is short may have been cut at its size.
        if documents.isEmpty {
          self?.emit(.fieldTypes(in: count.path, .success(count.types)))
        } else {
          self?.countFieldTypes(count)
        }
      case .failed(let status): self?.emit(.fieldTypes(in: count.path, .failure(status)))
      default: break
      }
    }
  }

  func surveyCache() {
    ask(.survey) { [weak self] answer in
      switch answer {
      case .survey(let survey): self?.emit(.surveyed(.success(survey.plausible)))
      case .failed(let status): self?.emit(.surveyed(.failure(status)))
      default: break
      }
    }
  }
}

// Figures from another program are added up here, and absurd ones would overflow and end the watcher.

extension ClientInside {
  var plausible: ClientInside {
    var inside = self
    inside.targets = Array(targets.prefix(Self.listed)).map { target in
      var target = target
      (target.documents, target.sent, target.kept) = (
        target.documents.plausible, target.sent.plausible, target.kept.plausible
      )
      return target
    }
    inside.targetCount = targetCount.plausible
    for index in inside.targets.indices {
      inside.targets[index].lastUse = targets[index].lastUse.map { Int64(Int(clamping: $0).plausible) }
    }
    inside.retentions = Array(retentions.prefix(Self.listed))
    inside.indexes = indexes.prefix(Self.listed).map(\.plausible)
    (inside.lookups.asked, inside.lookups.waiting) = (lookups.asked.plausible, lookups.waiting.plausible)
    for index in inside.streams.indices {
      inside.streams[index].messagesSent = streams[index].messagesSent.plausible
      inside.streams[index].messagesReceived = streams[index].messagesReceived.plausible
    }
    return inside
  }
}

extension CacheSurvey {
  var plausible: CacheSurvey {
    var survey = self
    survey.targets = targets.plausible
    survey.leavingTargets = leavingTargets.plausible
    for index in survey.shares.indices {
      survey.shares[index].documents = shares[index].documents.plausible
      survey.shares[index].names = shares[index].names.plausible
      survey.shares[index].overlays = shares[index].overlays.plausible
      survey.shares[index].leavingDocuments = shares[index].leavingDocuments.plausible
    }
    survey.contents = contents.plausible
    return survey
  }
}

extension CacheContents {
  fileprivate var plausible: CacheContents {
    CacheContents(
      indexes: indexes.prefix(ClientInside.listed).map {
        Index($0.state.plausible, entries: $0.entries.plausible, bytes: $0.bytes)
      }, droppedEntries: droppedEntries.plausible,
      tables: tables.prefix(ClientInside.listed).map { Table($0.name, rows: $0.rows.plausible, bytes: $0.bytes) },
      pageCount: pageCount.plausible, pageBytes: pageBytes, logBytes: logBytes, checksums: checksums)
  }
}

extension IndexState {
  fileprivate var plausible: IndexState {
    var state = self
    state.backfill = backfill.map {
      IndexProgress(documentsIndexed: $0.documentsIndexed.plausible, documentsTotal: $0.documentsTotal.plausible)
    }
    return state
  }
}

// Counts from another program are added up here, and absurd ones would overflow and end the watcher.

extension Int {
  /// Not negative, and with room for sums.
  package var plausible: Int { Swift.min(Swift.max(self, 0), 1 << 40) }
}

extension ClientStatus {
  package var plausible: ClientStatus {
    var status = self
    status.queue = QueueSize(
      count: queue.count.plausible, total: queue.total.plausible, byteCount: queue.byteCount.plausible)
    for index in status.pendingWrites.indices {
      status.pendingWrites[index].byteCount = pendingWrites[index].byteCount.plausible
      status.pendingWrites[index].attempts = pendingWrites[index].attempts.plausible
    }
    for index in status.reads.indices {
      status.reads[index].sent = reads[index].sent.plausible
      status.reads[index].kept = reads[index].kept.plausible
    }
    status.activeTargets = activeTargets.plausible
    status.inFlightWrites = inFlightWrites.plausible
    return status
  }
}
