/**
 * An agent and its subagents in one turn: which of them tells something, and which asks (subsystems l.4). The agent is shown in the session of the
 * turn, each subagent in a session of its own below that of whoever gave it work, and the call that did so links it.
 *
 * I1 A subagent has an id of its own, announced by whoever gave it work (`subagent_update`), or is known by the call that gave it work, and what it
 *    calls is told as of that call (`_meta.claudeCode.parentToolUseId`). What is told of others is dropped.
 * I2 Of more than `LIMITS.external.children` nothing is shown but the calls that gave them work.
 * I3 All have ended when `end` resolves, those below before those above.
 * I4 Each is begun, and ended, in a turn of the event loop of its own, one after the other; the agent is heard again once those have their session,
 *    and have been told of their end, that it has told of.
 */
import { createLane, type Lane } from '../../../kernel/lane.js'
import type { Earlier } from '../../../kernel/message-pace.js'
import { nextTurn } from '../../../kernel/pause.js'
import type { ExecutedResult } from '../../../ports/provider-adapter.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Session } from '../../../protocol/session/session.js'
import { isRecord } from '../../../protocol/text/json.js'
import { type Announced, announcedIn, failureIn, giverIn, merged } from './announced.js'
import { type Child, type ChildHost, type ChildOptions, createChild } from './child.js'
import { type Member, openMember, type Seat } from './member.js'

const { most: MOST, depth: DEPTH } = LIMITS.external.children
/** Calls of subagents that are told under the id of the agent. */
const OWNED = 10_000
const UNENDED = 'It had not ended when the turn of its agent did.'

export interface FamilyOptions
  extends Pick<ChildOptions, 'nested' | 'unattended'>,
    Pick<Seat, 'provider' | 'directory' | 'signal' | 'push' | 'desk' | 'onUsage'> {
  readonly host: ChildHost
  readonly sessionId: string
  /** By which id the agent knows the session of the turn. */
  own(): string
  /** A subagent that lets itself be stopped is to stop. */
  cancel(agentSession: string): void
}

export interface Family {
  take(agentSession: unknown, update: unknown): void
  /** I4. */
  readonly earlier: Earlier
  /** Undefined = there is no such method. */
  answer(method: string, params: unknown): Promise<object> | undefined
  /** I3. `how`: what becomes of those that have not ended. */
  end(how: 'completed' | 'failed' | 'stopped'): Promise<void>
}

/** A place in the family: a member, and subagents by the calls that gave them work. */
interface Place {
  readonly depth: number
  readonly member: Member
  readonly below: Map<string, Below>
}

interface Below extends Place {
  readonly child: Child
  readonly above: Place
  readonly callId: string
}

/** A subagent that has an id of its own, as it was told of last. */
interface Named {
  readonly place: Below
  readonly told: Announced
}

interface House {
  readonly options: FamilyOptions
  /** Files that were written here for the agent. */
  readonly written: Set<string>
  readonly named: Map<string, Named>
  /** Whose calls these are, of those that are told under an id that is not theirs. */
  readonly owners: Map<string, Below>
  readonly all: Below[]
  readonly working: Set<Place>
  readonly results: Promise<void>[]
  readonly lane: Lane
}

export function createFamily(options: FamilyOptions): Family {
  const { host, sessionId, push, desk, onUsage, own } = options
  const house: House = {
    options,
    written: new Set(),
    named: new Map(),
    owners: new Map(),
    all: [],
    working: new Set(),
    results: [],
    lane: createLane({ most: 3 * MOST }),
  }
  const root = placeOf(house, 0, {
    push,
    desk,
    onUsage,
    session: async () => sessionIn(host, sessionId),
    onPlan: (todos) => host.todos.replace(sessionId, todos),
  })
  const placeFor = (agentSession: unknown): Place | undefined =>
    typeof agentSession !== 'string' ? undefined : agentSession === own() ? root : house.named.get(agentSession)?.place
  return {
    take(agentSession, update) {
      const place = placeFor(agentSession)
      if (place === undefined) return
      const announced = announcedIn(update)
      if (announced !== undefined) return announce(house, place, announced)
      const owner = ownerOf(house, place, update)
      if (owner === root || house.working.has(owner)) owner.member.updates.take(update)
    },
    earlier: { isUnsettled: () => house.lane.size > 0, settled: () => house.lane.run(nextTurn) },
    answer(method, params) {
      if (!Object.hasOwn(root.member.requests, method)) return undefined
      const place = isRecord(params) ? placeFor(params['sessionId']) : undefined
      if (place === undefined || !isRecord(params)) return Promise.reject(new Error('there is no such session under way'))
      return ownerOf(house, place, params['toolCall']).member.requests[method]?.(params)
    },
    end(how) {
      root.member.end()
      return endAll(house, how)
    },
  }
}

function placeOf(house: House, depth: number, seat: Pick<Seat, 'push' | 'desk' | 'session' | 'onPlan' | 'onUsage'>): Place {
  const { options, written } = house
  const below: Place['below'] = new Map()
  const work: Seat['work'] = {
    began: (callId, given) => begin(house, place, callId, given),
    ended: (callId, result) => finish(house, below.get(callId), result),
  }
  const place = { depth, below, member: openMember({ ...options, ...seat, written, work }) }
  return place
}

/** I2 */
function begin(house: House, above: Place, callId: string, work: Pick<ChildOptions, 'title' | 'prompt'>): void {
  const { all, working, options, lane } = house
  if (all.length >= MOST || above.depth >= DEPTH) return
  const child = createChild({
    ...options,
    ...work,
    lane,
    above: above.member.session,
    onOpened: (link) => above.member.push({ type: 'tool-progress', callId, metadata: { ...link } }),
    onEnded: () => ended(house, place),
  })
  const { push, desk, opened: session, plan: onPlan, used: onUsage } = child
  const place: Below = { ...placeOf(house, above.depth + 1, { push, desk, session, onPlan, onUsage }), child, above, callId }
  above.below.set(callId, place)
  all.push(place)
  working.add(place)
}

/** One that has an id of its own, and that the agent has not told to be over, was stopped here. */
function ended({ working, named, options }: House, place: Below): void {
  working.delete(place)
  place.member.end()
  for (const [agentSession, { place: known, told }] of named) {
    if (known !== place || told.state?.state === 'idle') continue
    if (told.capabilities?.cancel != null) options.cancel(agentSession)
    settle(place, 'It was stopped.')
  }
}

/** The call that gave it work has ended, as if the agent had said so. */
function settle({ above, callId }: Below, failure: string | undefined): void {
  above.member.updates.take({
    sessionUpdate: 'tool_call_update',
    toolCallId: callId,
    status: failure === undefined ? 'completed' : 'failed',
    content: failure === undefined ? [] : [{ type: 'content', content: { type: 'text', text: failure } }],
  })
}

function finish(house: House, place: Below | undefined, result: ExecutedResult): boolean {
  if (place === undefined) return false
  const { working, results } = house
  const { child, member, above } = place
  const said = result.shown?.text ?? ''
  if (!result.isError && said !== '') member.updates.take({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: said } })
  working.delete(place)
  const left = [...place.below.values()].filter((each) => working.has(each))
  for (const each of left) settle(each, UNENDED)
  results.push(
    Promise.all(left.map((each) => each.child.over()))
      .then(() => inOwnTurn(house, () => child.end(result.isError ? 'failed' : 'completed', said)))
      .then(() => child.over())
      .then(({ metadata, text }) => above.member.push(withLink(result, metadata, text))),
  )
  return true
}

/** I4 */
function inOwnTurn({ lane }: House, end: () => void): Promise<void> {
  return lane.run(async () => {
    await nextTurn()
    end()
  })
}

function announce(house: House, above: Place, told: Announced): void {
  const { named, working, options } = house
  const { sessionId: agentSession } = told
  if (agentSession === options.own()) return
  const known = named.get(agentSession)
  const now = known === undefined ? told : merged(known.told, told)
  const isAgain = known !== undefined && !working.has(known.place) && told.state?.state === 'running'
  const place = known === undefined || isAgain ? invite(house, above, now) : known.place
  if (place === undefined) return
  named.set(agentSession, { place, told: now })
  if (told.state?.state === 'idle' && working.has(place)) settle(place, failureIn(told))
}

/** As if the agent had called a tool that gives work to a subagent. */
function invite({ all }: House, above: Place, { title, description }: Announced): Below | undefined {
  if (all.length >= MOST || above.depth >= DEPTH) return undefined
  const callId = `subagent-${all.length + 1}`
  const prompt = description ?? title ?? 'Work of a subagent'
  const name = title ?? prompt.split('\n', 1)[0] ?? prompt
  const call = { sessionUpdate: 'tool_call', toolCallId: callId, kind: 'task', title: name, status: 'in_progress' }
  above.member.updates.take({ ...call, rawInput: { description: name, prompt } })
  return above.below.get(callId)
}

/** I1 */
function ownerOf({ owners }: House, place: Place, told: unknown): Place {
  const { callId, giver } = giverIn(told)
  if (giver !== undefined) {
    const above = owners.get(giver) ?? place
    above.member.updates.delegate(giver)
    const owner = above.below.get(giver)
    if (owner !== undefined && callId !== undefined && owners.size < OWNED) owners.set(callId, owner)
    if (owner !== undefined) return owner
  }
  return (callId === undefined ? undefined : owners.get(callId)) ?? place
}

async function endAll(house: House, how: 'completed' | 'failed' | 'stopped'): Promise<void> {
  const { all, working, results } = house
  for (const place of all.toReversed()) {
    if (working.has(place)) {
      if (how === 'stopped') await inOwnTurn(house, () => place.child.end('stopped'))
      else settle(place, how === 'completed' && isAtRest(house, place) ? undefined : UNENDED)
    }
    await place.child.over()
  }
  await Promise.all(results)
}

/** The agent has told of it, and not that it works. */
function isAtRest({ named }: House, place: Below): boolean {
  const found = [...named.values()].find((each) => each.place === place)
  return found !== undefined && found.told.state?.state !== 'running'
}

function sessionIn({ sessions }: ChildHost, sessionId: string): Session {
  const session = sessions.get(sessionId)
  if (session === undefined) throw new Error('the session is gone')
  return session
}

function withLink(result: ExecutedResult, link: Readonly<Record<string, unknown>>, text: string): ExecutedResult {
  const { title = result.tool, text: said = '', metadata } = result.shown ?? {}
  const shown = said === '' ? text : said
  return { ...result, output: shown, shown: { title, text: shown, metadata: { ...metadata, ...link } } }
}
