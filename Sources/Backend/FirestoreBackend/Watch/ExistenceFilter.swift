// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import Glibc

/// Builds the bloom filter of an existence filter: the names of all documents that a target has at the backend.
///
/// The size is what the real backend chooses, recovered from its test data (PROTOCOL §2.5): the smallest prime number
/// of bits not below −n·ln p / (ln 2)², and n/m · ln 2 hashes, rounded.
package struct BloomFilterBuilder {
  private var bitmap: [UInt8]
  private let bitCount: UInt64
  private let hashCount: Int

  /// - Parameters:
  ///   - count: how many names will be inserted.
  ///   - falsePositiveRate: at least this many of the names not inserted are told apart; 1 makes an empty filter.
  package init(count: Int, falsePositiveRate: Double) {
    // A filter without bits would be ignored by clients; for no names, one that contains nothing says so.
    let names = Double(max(count, 1))
    let wanted = (-names * log(falsePositiveRate) / (M_LN2 * M_LN2)).rounded(.up)
    guard wanted >= 1 else {
      (bitmap, bitCount, hashCount) = ([], 0, 0)
      return
    }
    let bits = Self.smallestPrime(notBelow: Int(wanted))
    bitCount = UInt64(bits)
    hashCount = max(Int((Double(bits) / names * M_LN2).rounded()), 1)
    bitmap = [UInt8](repeating: 0, count: (bits + 7) / 8)
  }

  /// - Parameter name: the document's full resource name.
  package mutating func insert(_ name: String) {
    guard bitCount > 0 else { return }
    let digest = MD5(name.utf8)
    for index in 0..<UInt64(hashCount) {
      let bit = (digest.low &+ index &* digest.high) % bitCount
      bitmap[Int(bit / 8)] |= 1 << (bit % 8)
    }
  }

  package var bits: BloomFilterBits {
    BloomFilterBits(bitmap: bitmap, padding: bitmap.count * 8 - Int(bitCount), hashCount: hashCount)
  }

  private static func smallestPrime(notBelow start: Int) -> Int {
    var candidate = max(start, 2)
    while !isPrime(candidate) { candidate += 1 }
    return candidate
  }

  private static func isPrime(_ number: Int) -> Bool {
    if number < 4 { return number > 1 }
    if number.isMultiple(of: 2) { return false }
    var divisor = 3
    while divisor * divisor <= number {
      if number.isMultiple(of: divisor) { return false }
      divisor += 2
    }
    return true
  }
}

/// The numbers of documents that watched queries matched at some version. A listener that comes back is compared with
/// the number of today, which is that of then and the changes since: it costs what has changed, not a scan.
final class KnownCounts {
  private struct Query: Hashable {
    let database: Int64
    let target: Target
  }

  private struct Count {
    var number: Int
    var version: Int64
  }

  /// The number of remembered counts beyond which all are forgotten.
  private static let most = 1_024

  private var counts: [Query: Count] = [:]

  /// Notes the number of a query's documents at the reader's version.
  func note(_ number: Int, of target: Target, _ reader: DocumentReader) {
    guard reader.past == nil else { return }
    let query = Query(database: reader.state.id, target: target)
    if counts.count >= Self.most, counts[query] == nil { counts = [:] }
    counts[query] = Count(number: number, version: reader.state.version)
  }

  /// The number of a query's documents at the reader's version, by the changes since it was noted.
  /// - Parameter historyStart: the version before which the history is not known.
  /// - Returns: `nil` if it was not noted, or there are more changes than one step reads.
  func number(of target: Target, _ reader: DocumentReader, historyStart: Int64) throws(StoreError) -> Int? {
    guard reader.past == nil, let known = counts[Query(database: reader.state.id, target: target)] else { return nil }
    if known.version == reader.state.version { return known.number }
    var missed = MissedChanges(since: known.version)
    guard known.version >= historyStart, !missed.isCut(reader.state) else { return nil }
    _ = try missed.next(of: target, upTo: .max, historyStart: historyStart, reader)
    return missed.isDone && !missed.isVague ? known.number + missed.growth : nil
  }
}

extension DocumentReader {
  /// The number of documents that a target without a limit has.
  /// - Parameter historyStart: the version before which the history is not known.
  func count(of target: Target, historyStart: Int64) throws(StoreError) -> Int {
    let known = try counts?.number(of: target, self, historyStart: historyStart)
    let number: Int
    if let known { number = known } else { number = try countMatches(of: ServedQuery(target)) }
    counts?.note(number, of: target, self)
    return number
  }
}
