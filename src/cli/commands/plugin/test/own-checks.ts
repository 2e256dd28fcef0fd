/** The checks that an author wrote, one after the other (`check-file.ts`). */
import { firstIssue } from '../../../../actors/plugin/process/json-schema.js'
import type { ToolDeclaration } from '../../../../protocol/plugin/plugin-frame.js'
import { METHOD_OF_SERVICE, ROUTE_REQUEST } from './requests.js'
import { type Check, nameOf } from '../check-file.js'
import { messageOf } from '../../../../protocol/message-of.js'
import { difference, shown } from './expected.js'
import type { Asked, Reply } from './conversation.js'
import type { Harness } from './harness.js'

/** ms; how long a package may take to answer what asks nothing, and what it wrote before may take to be read. */
const HEARD = 2000
const READ = 100

export interface Outcome {
  readonly name: string
  /** What is wrong; absent when nothing is. */
  readonly problem?: string
  /** What the package wrote to its log meanwhile, where something is wrong. */
  readonly log?: readonly string[]
}

interface Given {
  /** What the host answers unless a check says otherwise. */
  readonly host: Readonly<Record<string, unknown>>
  /** What the package offers. */
  readonly tools: readonly Pick<ToolDeclaration, 'id' | 'parameters'>[]
}

/** Never rejects. */
export async function runCheck(harness: Harness, check: Check, { host, tools }: Given): Promise<Outcome> {
  const name = nameOf(check)
  const misfit = misfitOf(check, tools)
  // An author who expects an error tries what the package makes of an input that svc would not hand on.
  if (misfit !== undefined && check.error === undefined) return { name, problem: misfit }
  await heard(harness, HEARD).catch(() => undefined) // what it still wrote for the check before
  const [logged, asked] = [harness.log.length, harness.asked.length]
  harness.answers = { ...host, ...check.host }
  try {
    const answer = await perform(harness, check)
    const problem =
      told(judged(check, answer), misfit) ??
      (await loggedProblem(harness, check, logged)) ??
      askedProblem(check, harness.asked.slice(asked)) ??
      progressProblem(check, harness.asked.slice(asked))
    return problem === undefined ? { name } : { name, problem, log: await logSince(harness, logged) }
  } catch (error) {
    return { name, problem: messageOf(error), log: await logSince(harness, logged) }
  }
}

/** Why svc would refuse the call before the package hears of it; undefined = it would not. */
function misfitOf(check: Check, tools: Given['tools']): string | undefined {
  const tool = 'tool' in check ? tools.find(({ id }) => id === check.tool) : undefined
  const issue = tool && 'tool' in check ? firstIssue(tool.parameters, check.input ?? {}) : undefined
  if (tool === undefined || issue === undefined) return undefined
  const at = issue.path.length === 0 ? '' : `${issue.path.join('.')}: `
  return `the input does not fit the parameters of the tool "${tool.id}": ${at}${issue.message}; svc refuses such a call before the package hears of it`
}

function told(problem: string | undefined, misfit: string | undefined): string | undefined {
  return problem === undefined || misfit === undefined ? problem : `${problem}; ${misfit}`
}

/** What it wrote meanwhile: on another pipe than its answers, and maybe after them. */
async function logSince(harness: Harness, from: number): Promise<readonly string[]> {
  await heard(harness, HEARD).catch(() => undefined)
  await harness.until(() => harness.log.length > from, READ)
  return harness.log.slice(from)
}

/** Resolves once the package has answered what asks nothing: what came before was heard, and what it had to write is in its pipe. */
async function heard(harness: Harness, timeoutMs?: number): Promise<void> {
  await harness.call('hook.invoke', { hook: 'svc.test.none', context: {}, value: null }, timeoutMs)
}

async function perform(harness: Harness, check: Check): Promise<Reply> {
  const request = 'request' in check ? check.request : undefined
  if ('tool' in check) {
    const { tool, input = {}, sessionId = 'ses_test' } = check
    return harness.call('tool.invoke', { tool, directory: '/workspace', sessionId, messageId: 'msg_test', callId: 'call_test', input })
  }
  if ('hook' in check) return harness.call('hook.invoke', { hook: check.hook, context: check.context ?? {}, value: check.value ?? null })
  if ('service' in check) {
    const service = { workspaceId: '/workspace', directory: '/workspace', options: {} }
    const base = check.service === 'prompts' ? { promptId: 'default', variables: {}, service } : service
    return harness.call(METHOD_OF_SERVICE[check.service], { serviceId: check.id, request: { ...base, ...request } })
  }
  if ('route' in check) return harness.call('route.handle', { routeId: check.route, request: { ...ROUTE_REQUEST, ...request } })
  if ('event' in check) {
    harness.send({ method: 'event', params: { id: 'evt_test', properties: {}, ...check.event } })
    await heard(harness)
    return { result: null }
  }
  if ('provider' in check) return streamed(await harness.stream('provider.stream', { serviceId: check.provider, request: check.request }))
  const params = { routeId: check.socket, request: { ...ROUTE_REQUEST, ...request } }
  const opened = await harness.stream('route.websocket.open', params, (streamId) => {
    for (const message of check.send ?? [{ kind: 'close' }])
      harness.send({ method: 'route.websocket.message', params: { streamId, message } })
  })
  return streamed(opened)
}

function streamed({ reply, items, error }: Awaited<ReturnType<Harness['stream']>>): Reply {
  if ('error' in reply) return reply
  return error === undefined ? { result: items } : { error }
}

function judged({ expect, error }: Check, reply: Reply): string | undefined {
  if (error !== undefined) {
    if (!('error' in reply)) return `it answered ${shown(reply.result)}, not an error`
    return reply.error.includes(error) ? undefined : `the error is ${shown(reply.error)}, without ${shown(error)}`
  }
  if ('error' in reply) return `it answered the error ${shown(reply.error)}`
  return expect === undefined ? undefined : difference(expect, reply.result)
}

async function loggedProblem(harness: Harness, { log }: Check, from: number): Promise<string | undefined> {
  if (log === undefined) return undefined
  const isThere = () => harness.log.slice(from).some((line) => line.includes(log))
  return (await harness.until(isThere)) ? undefined : `its log has no line with ${shown(log)}`
}

function askedProblem({ asks }: Check, asked: readonly Asked[]): string | undefined {
  if (asks === undefined) return undefined
  const methods = asked.flatMap(({ method, hasId }) => (hasId ? [method] : []))
  return difference(asks, methods, 'what it asked the host for')
}

/** What a tool says of how far it is. */
function progressProblem(check: Check, asked: readonly Asked[]): string | undefined {
  if (!('tool' in check) || check.progress === undefined) return undefined
  const told = asked.flatMap(({ method, params }) => (method === 'host.tool.progress' ? [params] : []))
  return difference(
    check.progress,
    told.map((params) => (params as { metadata?: unknown } | null)?.metadata),
    'what it said of its progress',
  )
}
