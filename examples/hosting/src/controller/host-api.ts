/** What applications ask of their host (http-contract §7.3). The tenant is that of the bearer: no path names one. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Route } from '../broker/routes.js'
import { bearerOf, holderOf } from '../credentials/bearers.js'
import type { Grant } from '../credentials/grant.js'
import type { Sealed } from '../credentials/sealed.js'
import type { Bindings } from '../database/bindings.js'
import type { BoundWorkspace } from '../database/rows.js'
import { readJson, sendJson } from '../http/json.js'
import { ConnectionGrant, EmptyRequest, type HostErrorCode, HostStatus, LifecycleRequest, STATUS } from '../records/host-api.js'
import { type Intent, type MachineHandle, sameHandle, type WorkspaceKey } from '../records/machines.js'
import type { Application, ControllerConfig } from './config.js'
import { type Launches, seconds } from './launches.js'

export class HostRefusal extends Error {
  readonly code: HostErrorCode

  constructor(code: HostErrorCode) {
    super(code)
    this.code = code
  }
}

export interface HostApiParts {
  readonly config: Pick<ControllerConfig, 'applications' | 'provider' | 'times' | 'baseUrl'>
  readonly bindings: Bindings
  readonly launches: Launches
  readonly grants: Sealed<Grant>
  readonly wake: (key: WorkspaceKey) => Promise<Route | undefined>
  readonly log: (message: string, error: unknown) => void
}

export interface HostApi {
  /** False when the path is none of these. */
  answer(request: IncomingMessage, response: ServerResponse): boolean
}

const PATH = /^\/v1\/workspaces\/([^/?]+)\/runtime\/(status|ensure|start|stop|destroy|connection)$/
const NAME = /^[A-Za-z0-9_.:-]{1,128}$/
const LONGEST = 16 * 1024

export function createHostApi(parts: HostApiParts): HostApi {
  async function reply(request: IncomingMessage, workspace: string, operation: string): Promise<unknown> {
    const application = applicationOf(request, parts.config.applications)
    if ((request.method === 'GET') !== (operation === 'status')) throw new HostRefusal('invalid')
    if (!NAME.test(workspace)) throw new HostRefusal('invalid')
    const key = { tenant: application.tenant, workspace }
    // Not admitted and not there are one thing for who may not know.
    if (!(await parts.bindings.isAdmitted(key))) throw new HostRefusal('denied')
    const body = request.method === 'GET' ? {} : await bodyOf(request)
    if (operation === 'status') return statusOf(await open(parts, key))
    if (operation === 'connection') {
      parseAs(EmptyRequest, body)
      return connect(parts, key, application)
    }
    if (operation === 'ensure') {
      parseAs(EmptyRequest, body)
      await open(parts, key)
      return statusOf(await intend(parts, key, 'ensure'))
    }
    const { expected_handle } = parseAs(LifecycleRequest, body)
    return statusOf(await intend(parts, key, operation as Intent, expected_handle))
  }

  return {
    answer(request, response) {
      const [, workspace, operation] = PATH.exec(request.url ?? '') ?? []
      if (workspace === undefined || operation === undefined) return false
      reply(request, workspace, operation)
        .then((body) => sendJson(response, 200, body))
        .catch((error: unknown) => {
          const code = error instanceof HostRefusal ? error.code : 'unavailable'
          if (!(error instanceof HostRefusal)) parts.log(`${operation} of a workspace failed`, error)
          sendJson(response, STATUS[code], { code })
        })
      return true
    },
  }
}

function applicationOf(request: IncomingMessage, applications: readonly Application[]): Application {
  const bearer = bearerOf(request)
  const application = bearer === undefined ? undefined : holderOf(applications, bearer)
  if (application === undefined) throw new HostRefusal('denied')
  if (application.expiresAt !== undefined && application.expiresAt <= seconds()) throw new HostRefusal('denied')
  return application
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  if (request.headers['content-type']?.split(';')[0]?.trim() !== 'application/json') throw new HostRefusal('invalid')
  return readJson(request, LONGEST).catch(() => {
    throw new HostRefusal('invalid')
  })
}

function parseAs<Parsed>(
  schema: { safeParse(body: unknown): { success: true; data: Parsed } | { success: false } },
  body: unknown,
): Parsed {
  const parsed = schema.safeParse(body)
  if (!parsed.success) throw new HostRefusal('invalid')
  return parsed.data
}

/** A workspace that was never asked for has a binding of which nothing is there and nothing is wanted. */
function open({ bindings, launches, config }: HostApiParts, key: WorkspaceKey): Promise<BoundWorkspace> {
  return bindings.open(key, config.provider.name, launches.next())
}

function intend({ bindings }: HostApiParts, key: WorkspaceKey, intent: Intent, expected?: MachineHandle): Promise<BoundWorkspace> {
  return bindings.intend(key, ({ binding: { retired, status, pending } }) => {
    if (expected !== undefined && (status == null || !sameHandle(status.handle, expected))) throw new HostRefusal('conflict')
    if (retired) {
      if (intent === 'destroy') return undefined
      throw new HostRefusal('conflict')
    }
    // What is destroyed comes not back.
    if (pending === 'destroy' && intent !== 'destroy') throw new HostRefusal('conflict')
    return intent
  })
}

const statusOf = ({ binding, verification }: BoundWorkspace): HostStatus => HostStatus.parse({ binding, verification })

async function connect(parts: HostApiParts, key: WorkspaceKey, application: Application): Promise<ConnectionGrant> {
  const { config, grants, launches, wake } = parts
  const { binding } = await open(parts, key)
  if (binding.retired || binding.pending === 'destroy') throw new HostRefusal('conflict')
  const route = await wake(key)
  const allocation = route?.bound.binding.allocation
  const status = route?.bound.binding.status
  if (allocation?.launch == null || status == null) throw new HostRefusal('unready')
  const left = launches.left(allocation.launch)
  if (left < 1) throw new HostRefusal('expired')
  const { subject, actorType, scopes } = application
  const expiresAt = seconds() + Math.min(config.times.grant, left)
  const grant = { owner: allocation.owner, generation: allocation.generation, subject, actorType, scopes, expiresAt }
  return ConnectionGrant.parse({
    version: 1,
    baseUrl: `${config.baseUrl}/t/${key.tenant}/w/${key.workspace}`,
    bearer: grants.seal(grant),
    expiresAt,
    handle: status.handle,
    root: allocation.launch.root,
    runtimeId: allocation.launch.runtime_id,
    workerGeneration: allocation.generation,
    capabilities: config.provider.capabilities,
  })
}
