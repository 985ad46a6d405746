// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import Glibc

/// Builds the bloom filter of an existence filter. It contains the names of all documents that match a target at the
/// backend.
///
/// The size m in bits is the smallest prime not below −n·ln p / (ln 2)² for n names and the false-positive rate p. The
/// number of hashes is m/n · ln 2, rounded. The real backend's test data shows these formulas (PROTOCOL §2.5).
package struct BloomFilterBuilder {
  private var bitmap: [UInt8]
  private let bitCount: UInt64
  private let hashCount: Int

  /// - Parameters:
  ///   - count: the number of names to insert.
  ///   - falsePositiveRate: the maximum share of other names that the filter seems to contain. With 1 the filter is
  ///     empty.
  package init(count: Int, falsePositiveRate: Double) {
    // Clients would ignore a filter without bits, so a filter for no names has some bits, all of them 0.
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

/// The document counts of watched queries, each at some version. The count for a returning listener is computed from
/// the old count and the later changes, which is cheaper than a scan.
final class CachedCounts {
  private struct Query: Hashable {
    let database: Int64
    let target: Target
  }

  private struct Count {
    var number: Int
    var version: Int64
  }

  /// The number of stored counts beyond which all of them are dropped.
  private static let most = 1_024

  private var counts: [Query: Count] = [:]

  /// Records a query's document count at the reader's version.
  func note(_ number: Int, of target: Target, _ reader: DocumentReader) {
    guard reader.past == nil else { return }
    let query = Query(database: reader.state.id, target: target)
    if counts.count >= Self.most, counts[query] == nil { counts = [:] }
    counts[query] = Count(number: number, version: reader.state.committed)
  }

  /// A query's document count at the reader's version, computed from the changes since a count was recorded.
  /// - Parameter historyStart: the version before which the history is unknown.
  /// - Returns: `nil` if no count was recorded, if the changes are unknown, or if there are more changes than one step
  ///   reads.
  func number(of target: Target, _ reader: DocumentReader, historyStart: Int64) throws(StoreError) -> Int? {
    guard reader.past == nil, let known = counts[Query(database: reader.state.id, target: target)] else { return nil }
    if known.version == reader.state.committed { return known.number }
    var missed = MissedChanges(since: known.version)
    guard known.version >= historyStart, !missed.isCut(reader.state) else { return nil }
    _ = try missed.next(of: target, upTo: .max, historyStart: historyStart, reader)
    return missed.isDone && !missed.isVague ? known.number + missed.growth : nil
  }
}

extension DocumentReader {
  /// The document count of a target without a limit.
  /// - Parameter historyStart: the version before which the history is unknown.
  func count(of target: Target, historyStart: Int64) throws(StoreError) -> Int {
    let known = try counts?.number(of: target, self, historyStart: historyStart)
    let number: Int
    if let known { number = known } else { number = try countMatches(of: ServedQuery(target)) }
    counts?.note(number, of: target, self)
    return number
  }
}
