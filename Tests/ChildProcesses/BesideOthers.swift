// SPDX-License-Identifier: Apache-2.0
package import Testing

/// Runs all tests of a suite on `TestThreads`, where they wait for processes only, and not for what other tests compute.
package struct BesideOthers: SuiteTrait, TestScoping {
  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(TestThreads.shared) { try await function() }
  }
}

extension Trait where Self == BesideOthers {
  package static var besideOthers: Self { Self() }
}
