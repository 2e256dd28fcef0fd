/** What a service is told that works for one workspace of a controller's. */
import type { Deployment } from '../actors/runtime/deployment.js'
import type { CredentialSource } from '../ports/credentials.js'

export interface WorkerDuty {
  readonly deployment: Deployment
  readonly callers: CredentialSource
  /** It waits for what is under way, and is gone then. */
  isEnding(): boolean
}
