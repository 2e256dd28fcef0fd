/**
 * Models of the user's providers, as plugins ask them (`host.provider.call`).
 *
 * I1 What is used counts against the budget of the package for the day, whatever generations and places it runs in, also what was given up:
 *    then it is estimated. What was asked in a session is part of what that has cost. What runs holds the most it may use until it has ended.
 * I2 No key, header or option of a provider is told, and none is taken.
 * I3 Nobody's hooks are asked: a plugin that is one cannot call itself by it.
 */
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { TokenUsage } from '../../../protocol/message/token-usage.js'
import type { OperationInput } from '../../../protocol/plugin/broker-operations.js'
import { wellFormed } from '../../../protocol/text/well-formed.js'
import type { BrokerPlace, PluginModelDoor } from '../../../ports/broker-doors.js'
import type { Effects } from '../../../ports/effects.js'
import type { ModelMessage } from '../../../ports/provider-adapter.js'
import type { Store } from '../../../store/store.js'
import { type Broker, type BrokerLease, defineBroker } from './broker.js'
import { type BudgetHolds, createBudgetHolds } from './models/budget-holds.js'
import { dayOf, estimatedUsage, spentReason, tokensOf } from './models/model-budget.js'
import { modelUse } from './models/model-use.js'
import { createOpenings, type Opening, type Openings } from './openings.js'
import { meantSession } from './own-sessions.js'

export interface ProviderBrokerDeps {
  readonly effects: Pick<Effects, 'clock'> & { readonly paths: Pick<Effects['paths'], 'config'> }
  readonly store: Pick<Store, 'sessions'>
  models(): PluginModelDoor
}

interface Answer {
  readonly model: string
  /** What it has said that was not read yet. */
  unread: string
  said: number
  grown: () => void
  end?: { readonly reason: string; readonly usage: TokenUsage; readonly cost: number }
}

type Question = OperationInput<'provider-access', 'complete'>

const limits = LIMITS.pluginModels

export function providerBroker(deps: ProviderBrokerDeps): Broker {
  const holds = createBudgetHolds()
  const broker = defineBroker('provider-access', (lease) => {
    const openings = createOpenings<Answer>(lease, {
      clock: deps.effects.clock,
      what: ['question to a model', 'questions to models'],
      kind: 'answer',
      running: limits.running,
      kept: limits.kept,
    })
    const placeOf = (sessionId: string | undefined): BrokerPlace => {
      const session = meantSession(deps.store.sessions, lease, sessionId)
      return session === undefined
        ? { directory: lease.place.workspace ?? deps.effects.paths.config }
        : { directory: session.directory, sessionId: session.id }
    }
    const open = async (question: Question, signal: AbortSignal) => {
      openings.refuseTooMany()
      const place = placeOf(question.sessionId)
      await refuseSpent(deps, lease.owner.pluginId)
      signal.throwIfAborted()
      return ask(deps, lease, openings, { question, place, holds })
    }

    return {
      operations: {
        async models(input) {
          const { models, default: usual, small = null } = await deps.models().list(placeOf(input?.sessionId))
          return { models: models.slice(0, limits.listed).map((model) => ({ ...model })), default: usual, small }
        },
        async budget() {
          const { pluginId } = lease.owner
          const day = dayOf(deps.effects.clock.now())
          const limit = await deps.models().budget(pluginId)
          const used = deps.models().used(pluginId, day)
          return { day, tokens: { limit: limit.tokens, used: used.tokens }, cost: { limit: limit.cost, used: used.cost } }
        },
        async complete(question, { signal }) {
          const { opaqueId } = await open(question, signal)
          await openings.until(opaqueId, { ms: limits.time * 2, signal })
          try {
            const opening = openings.find(opaqueId)
            return { text: opening.about.unread, ...endOf(opening) }
          } finally {
            await openings.close(opaqueId)
          }
        },
        async open(question, { signal }) {
          return { opaqueId: (await open(question, signal)).opaqueId }
        },
        async read({ opaqueId, waitMs }, { signal }) {
          const { about } = openings.find(opaqueId)
          if (about.unread === '') {
            const changed = () => new Promise<void>((resolve) => (about.grown = resolve))
            await openings.until(opaqueId, { ms: waitMs, signal, changed })
          }
          const opening = openings.find(opaqueId)
          const text = about.unread
          about.unread = ''
          const { isOver } = opening
          if (!isOver) return { text, end: null }
          await openings.close(opaqueId)
          return { text, end: endOf(opening) }
        },
        close: async ({ opaqueId }) => ({ closed: await openings.close(opaqueId) }),
      },
    }
  })
  return { ...broker, used: modelUse(deps) }
}

const HELD = 'what is left of the budget of the package for this day is held by its questions that run: wait for one of them'

/** I1 */
async function refuseSpent({ models, effects }: ProviderBrokerDeps, pluginId: string): Promise<void> {
  const limit = await models().budget(pluginId)
  const reason = spentReason(limit, models().used(pluginId, dayOf(effects.clock.now())))
  if (reason !== undefined) throw new SvcError('quota.exceeded', reason, { pluginId })
}

interface Asked {
  readonly question: Question
  readonly place: BrokerPlace
  readonly holds: BudgetHolds
}

async function ask(
  deps: ProviderBrokerDeps,
  lease: BrokerLease,
  openings: Openings<Answer>,
  { question, place, holds }: Asked,
): Promise<Opening<Answer>> {
  const { pluginId } = lease.owner
  const model = await deps.models().find(place, question.model)
  const budget = await deps.models().budget(pluginId)
  const used = deps.models().used(pluginId, dayOf(deps.effects.clock.now()))
  const held = holds.of(pluginId)
  const left = { tokens: budget.tokens - used.tokens - held.tokens, cost: budget.cost - used.cost - held.cost }
  if (left.tokens <= 0 || left.cost < 0 || (left.cost === 0 && budget.cost > 0)) throw new SvcError('quota.exceeded', HELD, { pluginId })
  const maxOutputTokens = Math.max(1, Math.min(question.maxOutputTokens, left.tokens))
  const messages = messagesOf(question)
  const asking = JSON.stringify(messages).length
  const most = { ...estimatedUsage(asking, 0), output: maxOutputTokens }
  const about: Answer = { model: model.name, unread: '', said: 0, grown: () => undefined }
  const note = (usage: TokenUsage): void => {
    const day = dayOf(deps.effects.clock.now())
    const cost = model.costOf(usage)
    deps.models().spend({ pluginId, day, sessionId: place.sessionId, usage, cost })
    lease.count(tokensOf(usage))
  }
  const run = async (signal: AbortSignal): Promise<void> => {
    const release = holds.hold(pluginId, { tokens: tokensOf(most), cost: model.costOf(most) }) // before anything else is asked
    await answered(signal).finally(release)
  }
  const answered = async (signal: AbortSignal): Promise<void> => {
    const long = new AbortController()
    const push = (text: string): void => {
      about.unread += text
      about.said += text.length
      if (Buffer.byteLength(about.unread) > limits.answerBytes) long.abort(new Error('the answer is longer than an answer may be'))
      about.grown()
    }
    const { temperature } = question
    const asked = { messages, maxOutputTokens, temperature, asker: pluginId }
    const generated = await model.generate(asked, push, AbortSignal.any([signal, long.signal])).catch((error: unknown) => {
      note(estimatedUsage(asking, about.said))
      throw long.signal.aborted ? long.signal.reason : error
    })
    about.unread = wellFormed(about.unread)
    about.end = { ...generated, cost: model.costOf(generated.usage) }
    note(generated.usage)
  }
  return openings.open(about, { timeoutMs: limits.time, run })
}

function messagesOf({ system, messages }: Question): readonly ModelMessage[] {
  const said = messages.map(({ role, text }): ModelMessage => ({ role, content: [{ type: 'text', text }] }))
  return system === undefined ? said : [{ role: 'system', text: system }, ...said]
}

/** Throws what it failed with. */
function endOf({ about, stopped, failure }: Opening<Answer>) {
  const { model, end } = about
  if (end === undefined)
    throw new SvcError('request.unprocessable', stopped === 'time' ? 'the provider takes too long' : (failure ?? 'the question was ended'))
  const { reason, usage, cost } = end
  const { input: inputTokens, output: outputTokens, reasoning: reasoningTokens, cache } = usage
  return { model, reason, usage: { inputTokens, outputTokens, reasoningTokens, cachedTokens: cache.read, cost } }
}
