// SPDX-License-Identifier: Apache-2.0

/// The pages of this folder, embedded in the binary so that the manual needs no resource files.
package enum ManualPages {
  /// The topic and the Markdown of every page, in the order of the help.
  package static let sources: [(topic: String, source: [UInt8])] = [
    ("dashboard", PackageResources.Dashboard_md),
    ("commands", PackageResources.Commands_md),
    ("queries", PackageResources.Queries_md),
    ("shell", PackageResources.Shell_md),
    ("serve", PackageResources.Serve_md),
    ("emulator", PackageResources.Emulator_md),
    ("testing", PackageResources.Testing_md),
    ("mcp", PackageResources.Mcp_md),
    ("library", PackageResources.Library_md),
  ]
}
