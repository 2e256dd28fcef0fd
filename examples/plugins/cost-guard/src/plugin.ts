/**
 * Keeps a session within a budget: once its messages have cost more than `plugins.dev.example.cost-guard.options.config.dollars` (1 without
 * it), tools are refused, with a sentence that the model passes on. The tool `spent` says how much it is by now.
 */
import { definePlugin, type PluginEvent } from './svc-plugin.js'

type Fields = Readonly<Record<string, unknown>>

/** Sessions remembered; the one that was quiet longest is forgotten first. */
const SESSIONS = 1000

let budget = 1
/** By session, then by message: a message is told again when it has grown. */
const costs = new Map<string, Map<string, number>>()

function heard({ properties }: PluginEvent): void {
  const info = fieldsOf(fieldsOf(properties)['info'])
  const session = info['sessionID'] ?? fieldsOf(properties)['sessionID']
  const { id, cost } = info
  if (typeof session !== 'string' || typeof id !== 'string' || typeof cost !== 'number') return
  const messages = costs.get(session) ?? new Map<string, number>()
  costs.delete(session)
  costs.set(session, messages.set(id, cost))
  for (const oldest of costs.keys()) {
    if (costs.size <= SESSIONS) break
    costs.delete(oldest)
  }
}

function spentIn(session: string | undefined): number {
  return [...(costs.get(session ?? '')?.values() ?? [])].reduce((sum, cost) => sum + cost, 0)
}

const dollars = (amount: number) => `$${amount.toFixed(2)}`

function guard({ sessionId, toolId }: { readonly sessionId?: string; readonly toolId?: string }, input: unknown): unknown {
  const spent = spentIn(sessionId)
  if (spent <= budget || toolId === 'spent') return input
  throw new Error(`this session has cost ${dollars(spent)}, more than its budget of ${dollars(budget)}: say so, and stop`)
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export const plugin = definePlugin({
  name: 'Cost guard',
  version: '1.0.0',
  initialize({ config }) {
    const configured = fieldsOf(config)['dollars'] ?? budget
    if (typeof configured !== 'number' || !(configured >= 0)) throw new Error('config.dollars is no amount')
    budget = configured
  },
  events: { namespaces: ['message.updated'], handler: heard },
  hooks: { 'tool.before': guard },
  tools: [
    {
      id: 'spent',
      description: 'Says what this session has cost so far, and its budget.',
      parameters: { type: 'object', properties: {} },
      execute: (_input, { sessionId }) => `${dollars(spentIn(sessionId))} of ${dollars(budget)}`,
    },
  ],
})
