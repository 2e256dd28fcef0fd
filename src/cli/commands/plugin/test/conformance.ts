/**
 * What every package is held to by `svc plugin test`, whatever it is written in (plugin-protocol §4, §15): seventeen checks in the order of the
 * table in docs/plugins.md. Each answers a sentence when the package breaks it, and nothing when it does not.
 */
import { schemaProblem } from '../../../../actors/plugin/process/json-schema.js'
import { parseInitializeReply } from '../../../../actors/plugin/link/initialize.js'
import { uncalledHooks } from '../../../../actors/plugin/process/external.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { messageOf } from '../../../../protocol/message-of.js'
import { type InitializeReply, isSameOwner, PluginOwner } from '../../../../protocol/plugin/plugin-frame.js'
import { difference, shown } from './expected.js'
import type { Reply } from './conversation.js'
import type { Harness } from './harness.js'

/** A package that was started and initialised. */
export interface Started {
  readonly harness: Harness
  readonly reply: Reply
  /** What it offers, when that is valid. */
  readonly offered: InitializeReply | undefined
  /** The revision before it ran, and after everything. */
  readonly revision: string
  revisionNow(): Promise<string>
}

type Problem = string | undefined

export interface Conformance {
  readonly name: string
  /** What is required, as the rest of "the package …". */
  readonly requires: string
  check(started: Started): Promise<Problem> | Problem
}

/** Of what these checks ask for and nobody has. */
export const NOBODY = 'svc-test-no-such-thing'
const TOOL = { tool: NOBODY, directory: '/workspace', input: {} }
const WORKERS = 32
/** How long what needs no work may take to be refused, ms. */
const PROMPT = 5000

/** Before what the author wrote; after a first that fails nothing can be asked. */
export const AT_FIRST: readonly Conformance[] = [
  {
    name: 'initialize',
    requires: 'answers initialize within 8 s, with svc-plugin/2 and nothing malformed',
    check({ reply }) {
      if ('error' in reply) return `it answered the error ${shown(reply.error)}`
      try {
        parseInitializeReply(reply.result)
        return undefined
      } catch (error) {
        return messageOf(error)
      }
    },
  },
  {
    name: 'offers something',
    requires: 'offers at least one thing, and no hook that nobody calls',
    check({ offered }) {
      if (offered === undefined) return undefined
      const { tools, hooks, eventNamespaces, services, routes, websocketRoutes, messageParts, mcp } = offered
      const lists = [tools, hooks, eventNamespaces, routes, websocketRoutes, messageParts, mcp, ...Object.values(services)]
      const uncalled = uncalledHooks(offered)
      return uncalled ?? (lists.every((list) => !Array.isArray(list) || list.length === 0) ? 'it offers nothing' : undefined)
    },
  },
  {
    name: 'tools are described',
    requires: 'says of each tool what it is for, and its input by a JSON Schema of an object',
    check({ offered }) {
      for (const { id, description, parameters } of offered?.tools ?? []) {
        if (description.trim() === '') return `the tool "${id}" has no description, by which a model knows when to use it`
        const problem = schemaProblem(parameters)
        if (problem !== undefined) return `the parameters of "${id}" are no JSON Schema: ${problem}`
        if (parameters['type'] !== 'object') return `the parameters of "${id}" are not those of an object`
      }
      return undefined
    },
  },
  {
    name: 'unknown tool',
    requires: 'answers a tool it has not with an error that says "unknown tool"',
    async check({ harness }) {
      return without('unknown tool', await harness.call('tool.invoke', TOOL, PROMPT))
    },
  },
  {
    name: 'unknown method',
    requires: 'answers a method it does not know with an error, instead of silence',
    async check({ harness }) {
      return without('', await harness.call(`svc.test.${NOBODY}`, {}, PROMPT))
    },
  },
  {
    name: 'undeclared hook',
    requires: 'gives the value of a hook it has not back as it was, or answers an error',
    async check({ harness }) {
      const value = { a: [1, 'ü', null, { b: true }], c: 'x', d: null }
      const reply = await harness.call('hook.invoke', { hook: NOBODY, context: {}, value }, PROMPT)
      if ('error' in reply) return undefined
      return difference(value, reply.result, 'the value')
    },
  },
  {
    name: 'unknown service, route and provider',
    requires: 'answers each that it has not with an error',
    async check({ harness }) {
      const request = { workspaceId: null, directory: null, options: {} }
      const calls = [
        harness.call('command.list', { serviceId: NOBODY, request }, PROMPT),
        harness.call('route.handle', { routeId: NOBODY, request: {} }, PROMPT),
        harness.call('provider.auth', { serviceId: NOBODY, providerId: NOBODY }, PROMPT),
      ]
      const replies = await Promise.all(calls)
      return replies.map((reply) => without('', reply)).find((problem) => problem !== undefined)
    },
  },
  {
    name: 'event without an id',
    requires: 'takes an event whose id is null, and answers it with nothing',
    async check({ harness }) {
      const before = harness.strays.length
      harness.send({ id: null, method: 'event', params: { id: 'evt_test', type: 'svc.test', properties: {} } })
      harness.send({ method: 'event', params: { id: 'evt_test', type: 'svc.test', sequence: 7, properties: { more: [] } } })
      return (await stillServes(harness)) ?? (harness.strays.length > before ? `it answered ${shown(harness.strays.at(-1))}` : undefined)
    },
  },
  {
    name: 'cancellations',
    requires: 'takes cancellations of calls and streams it does not know',
    async check({ harness }) {
      harness.send({ method: '$/cancel', params: { id: 4_000_000 } })
      harness.send({ method: '$/cancelStream', params: { streamId: NOBODY, requestId: 4_000_000 } })
      return stillServes(harness)
    },
  },
  {
    name: 'late answers',
    requires: 'takes answers that it does not wait for',
    async check({ harness }) {
      harness.send({ id: 4_000_000, result: null })
      harness.send({ id: 4_000_001, error: 'nobody asked' })
      return stillServes(harness)
    },
  },
  {
    name: 'lines that are no frames',
    requires: 'skips a line that is no JSON, a blank one and one with a carriage return, and goes on',
    async check({ harness }) {
      harness.write('this is no JSON\n\n   \n{"method":"event","params":{"id":"e","type":"svc.test","properties":{}}}\r\n[1]\n')
      return stillServes(harness)
    },
  },
  {
    name: 'further members',
    requires: 'takes frames and params with members it does not know',
    async check({ harness }) {
      const reply = await harness.call('tool.invoke', { ...TOOL, svcTest: { more: [1] } })
      return without('unknown tool', reply)
    },
  },
  {
    name: 'the longest frame',
    requires: 'takes a frame of 1 MiB',
    async check({ harness }) {
      const frame = (text: string) => ({ ...TOOL, input: { text } })
      const around = Buffer.byteLength(JSON.stringify({ id: 1_000_000, method: 'tool.invoke', params: frame('') })) + 1
      return without('unknown tool', await harness.call('tool.invoke', frame('x'.repeat(LIMITS.plugins.frameBytes - around))))
    },
  },
  {
    name: 'calls at once',
    requires: `answers ${WORKERS} calls at once, each with its own id`,
    async check({ harness }) {
      const calls = Array.from({ length: WORKERS }, async (_, index) =>
        harness.call('tool.invoke', { ...TOOL, tool: `${NOBODY}-${index}` }),
      )
      const replies = await Promise.all(calls)
      return replies
        .map(
          (reply, index) =>
            without('unknown tool', reply) ??
            ('error' in reply && !reply.error.includes(`${NOBODY}-${index}`)
              ? `the answer of call ${index} is that of another: ${shown(reply.error)}`
              : undefined),
        )
        .find((problem) => problem !== undefined)
    },
  },
]

/** Of everything that was heard of it, and of its end. */
export const AT_LAST: readonly Conformance[] = [
  {
    name: 'owner',
    requires: 'puts the owner it was given, unchanged, on everything it asks',
    check({ harness }) {
      const expected = PluginOwner.parse(harness.owner)
      const wrong = harness.asked.find(({ owner, method }) => {
        if (!method.startsWith('host.')) return false // what its own runner says
        const parsed = PluginOwner.safeParse(owner)
        return !parsed.success || !isSameOwner(parsed.data, expected)
      })
      return wrong === undefined ? undefined : `${wrong.method} came with the owner ${shown(wrong.owner)}`
    },
  },
  {
    name: 'clean streams',
    requires: 'writes nothing but frames to standard output, no line of its log over 64 KiB, and nothing into its package',
    async check({ harness, revision, revisionNow }) {
      if (harness.nonsense.length > 0) return `standard output had ${shown(harness.nonsense[0])}; print to standard error`
      if (harness.strays.length > 0) return `it sent ${shown(harness.strays[0])}, which answers nothing`
      if (harness.longestLog > LIMITS.plugins.logLineBytes) return `a line of its log has ${harness.longestLog} bytes`
      return revision === (await revisionNow()) ? undefined : 'its content changed while it ran: it would have to be approved again'
    },
  },
  {
    name: 'shutdown',
    requires: 'answers shutdown where that has an id, and ends within 1.5 s, with code 0',
    async check({ harness }) {
      const reply = await harness.call('shutdown', {}, PROMPT)
      if ('error' in reply) return `it answered the error ${shown(reply.error)}`
      harness.closeInput()
      let how: Awaited<Harness['ended']> | undefined
      void harness.ended.then((ended) => (how = ended))
      if (!(await harness.until(() => how !== undefined, LIMITS.plugins.shutdownGrace))) return 'it was still there after 1.5 s'
      return how?.exitCode === 0 ? undefined : `it ended with ${how?.exitCode ?? how?.signal}`
    },
  },
]

function without(part: string, reply: Reply): Problem {
  if (!('error' in reply)) return `it answered ${shown(reply.result)}, not an error`
  return reply.error.toLowerCase().includes(part) ? undefined : `the error is ${shown(reply.error)}, without "${part}"`
}

async function stillServes(harness: Harness): Promise<Problem> {
  return without('unknown tool', await harness.call('tool.invoke', TOOL, PROMPT))
}
