/** What a controller itself asks of workers, with tokens that it makes for itself. */
import * as z from 'zod'
import type { Signer } from '../credentials/worker-token.js'
import { TOKEN_LIFETIME } from '../credentials/worker-token.js'
import type { Grant } from '../credentials/grant.js'
import type { Allocation, WorkerConnection } from '../records/machines.js'
import { isWorkerOf, RuntimeInfo } from '../records/worker.js'
import { seconds } from './launches.js'

type Who = Pick<Grant, 'subject' | 'actorType' | 'scopes'>

export interface Workers {
  /** A token for somebody at the worker of this allocation, for as long as both may. */
  tokenFor(allocation: Allocation, who: Who, expiresAt?: number): string
  /** Whether who answers there is the worker of this allocation. Rejects when nobody answers. */
  isGenuine(allocation: Allocation, connection: WorkerConnection): Promise<boolean>
  /** Whether anything runs there. */
  isBusy(allocation: Allocation, connection: WorkerConnection): Promise<boolean>
}

const CONTROLLER: Who = { subject: 'controller', actorType: 'service-account', scopes: ['agent:read'] }
const PATIENCE = 10_000
/** Runs, queued prompts and commands in the background, by the session that began them. */
const Activity = z.array(z.looseObject({ finished: z.boolean() }))

/** `ask`: a `fetch` that trusts the authority of workers. */
export function createWorkers(signer: Signer, ask: typeof fetch = fetch): Workers {
  function tokenFor(
    { owner, generation, launch }: Allocation,
    { subject, actorType, scopes }: Who,
    until = Number.MAX_SAFE_INTEGER,
  ): string {
    if (launch == null) throw new Error('a token for a worker without a launch descriptor')
    const issuedAt = seconds()
    return signer.token({
      version: 1,
      tenantId: owner.tenant,
      workspaceId: owner.workspace,
      runtimeId: launch.runtime_id,
      runtimeGeneration: generation,
      subject,
      actorType,
      directoryPrefix: launch.root,
      scopes: [...scopes],
      issuedAt,
      expiresAt: Math.min(issuedAt + TOKEN_LIFETIME, launch.expires_at, until),
    })
  }

  async function get(allocation: Allocation, { agent_api_base_url }: WorkerConnection, path: string): Promise<Response> {
    return ask(new URL(path, agent_api_base_url), {
      headers: { authorization: `Bearer ${tokenFor(allocation, CONTROLLER)}` },
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE),
    })
  }

  return {
    tokenFor,
    async isGenuine(allocation, connection) {
      const response = await get(allocation, connection, 'v2/runtime')
      if (response.status === 401 || response.status === 403) return false
      if (!response.ok) throw new Error(`the worker answered ${response.status} when it was asked who it is`)
      const info = RuntimeInfo.safeParse(await response.json())
      return info.success && isWorkerOf(allocation, info.data)
    },
    async isBusy(allocation, connection) {
      const response = await get(allocation, connection, 'v2/execution-activity')
      const activity = Activity.safeParse(response.ok ? await response.json() : undefined)
      // What cannot be known may run.
      return !activity.success || activity.data.some(({ finished }) => !finished)
    },
  }
}
