/** Where a worker gets credentials for models: the host lends them, for a while (docs/workers.md). */
import type { WorkerBootstrap } from '../protocol/hosting/worker.js'

export interface ModelBroker {
  /** https, or this machine. */
  readonly url: URL
  /** For whom they are. */
  readonly worker: WorkerBootstrap
  /** What the host is asked with; `anew` looks whether it is another one now. */
  bearer(anew?: 'anew'): string
}
