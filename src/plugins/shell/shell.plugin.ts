/** The built-in plugin with the tools that run commands: in the call, in a sandbox, in the background (sessions-events §10.4–10.6). */
import type { NativeHost, NativePlugin } from '../../ports/plugin.js'
import type { EventsContribution } from '../../ports/contributions.js'
import { SvcError } from '../../protocol/errors.js'
import { isRecord } from '../../protocol/text/json.js'
import { type BackgroundJobStopResponse, JobParams, jobRoutes } from '../../protocol/session/job.js'
import { createShellScanner } from './judge/scan.js'
import { createJobs, type Jobs } from './jobs/jobs.js'
import { SESSION_ROWS } from './jobs/ledger.js'
import { jobTools } from './jobs/tools.js'
import { bashTool, sandboxTool } from './run/bash.js'
import { createCommands } from './run/commands.js'
import { createShellEnvironment, type Variables } from './run/environment.js'

export interface ShellOptions {
  /** Absolute path of `web-tree-sitter.wasm`; read when the first command is judged. */
  readonly coreWasm: string
  /** Absolute path of `tree-sitter-bash.wasm`. */
  readonly grammarWasm: string
  /** Reduces variables to those the programs of this installation may have. */
  readonly allowVariables: (variables: Variables) => Variables
}

const WASM_BYTES = 8 * 1024 * 1024

export function shellPlugin({ coreWasm, grammarWasm, allowVariables }: ShellOptions): NativePlugin {
  let jobs: Jobs | undefined
  return {
    id: 'dev.svc.shell',
    name: 'Shell',
    capability: { id: 'svc.tools.shell', apiPrefix: '/v2/tools' },
    eventNamespaces: ['session.background_task'],
    sessionRows: SESSION_ROWS,
    start(host) {
      const { effects } = host
      const load = (path: string) => effects.files.read(path, WASM_BYTES)
      const grammar = { core: () => load(coreWasm), bash: () => load(grammarWasm) }
      const scanner = createShellScanner(grammar, () => effects.clock.monotonic())
      const commands = createCommands({ host, scanner, environment: createShellEnvironment({ effects, allow: allowVariables }) })
      jobs = createJobs(host)
      const confined = offerSandbox(host)
      const sandboxed = [sandboxTool({ host, commands }, confined.withdraw)]
      return {
        tools: [bashTool({ host, commands }), ...jobTools({ jobs, commands })],
        within: () => ({ tools: confined.isOffered() ? sandboxed : [], commands: [] }),
        operations: operationsOf(jobs),
        events: watchSessions(jobs),
      }
    },
    async stop() {
      await jobs?.end()
    },
  }
}

/** The sandbox is offered where its program is, until that is found not to work here. */
function offerSandbox({ effects, offersChanged }: NativeHost) {
  let isOffered = false
  const offer = (whether: boolean) => {
    if (whether === isOffered) return
    isOffered = whether
    offersChanged()
  }
  if (effects.platform.os === 'linux') void effects.processes.find('bwrap').then((path) => offer(path !== undefined))
  return { isOffered: () => isOffered, withdraw: () => offer(false) }
}

function operationsOf(jobs: Jobs): NonNullable<ReturnType<NativePlugin['start']>['operations']> {
  return {
    async [jobRoutes.cancel.id]({ params }): Promise<BackgroundJobStopResponse> {
      const { session_id: sessionId, job_id: jobId } = JobParams.parse(params)
      const details = { sessionId, jobId }
      if (jobs.find(sessionId, jobId) === undefined)
        throw new SvcError('resource.not_found', `There is no job "${jobId}" of this session.`, details)
      if (!jobs.cancel(jobId)) throw new SvcError('resource.conflict', 'The job has ended.', details)
      return { jobId, status: 'stopping' }
    },
  }
}

/** Jobs end with their session. */
function watchSessions(jobs: Jobs): EventsContribution {
  return {
    namespaces: ['session.deleted', 'session.updated'],
    deliver({ type, properties }) {
      if (!isRecord(properties) || typeof properties['sessionID'] !== 'string') return
      if (type === 'session.deleted') jobs.leave(properties['sessionID'], 'gone')
      else if (isArchived(properties['info'])) jobs.leave(properties['sessionID'], 'archived')
    },
  }
}

function isArchived(info: unknown): boolean {
  return isRecord(info) && isRecord(info['time']) && info['time']['archived'] !== undefined
}
