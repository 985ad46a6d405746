// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState

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
