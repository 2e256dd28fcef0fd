/** What a look at files and configuration found out about one package in one scope; the package machine decides by it. */
import type { PackageDiagnostic } from '../../protocol/plugin/plugin.js'

export interface Assessment {
  /** `invalid` covers incompatible packages; `ungranted`: a capability this host does not give in this scope. */
  readonly verdict: 'invalid' | 'disabled' | 'untrusted' | 'ungranted' | 'trusted'
  /** Content as it was found, `sha256:<hex>`; '' when it could not be hashed. */
  readonly revision: string
  /** Changes with everything that makes another generation necessary: revision, options, capabilities. */
  readonly signature: string
  readonly diagnostics: readonly PackageDiagnostic[]
  /** Revisions the installation approves in this place. */
  readonly approved: readonly string[]
  /** An approved revision of which a copy is kept, to serve while `revision` waits for approval. */
  readonly retained: string | undefined
}
