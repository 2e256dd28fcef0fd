/** What holds of external agents, and of a model that is reached by a network. */
import { TRUSTED_CALLER } from '../../src/protocol/caller.js'
import { LIMITS } from '../../src/protocol/limits.js'
import type { Message } from '../../src/protocol/message/message.js'
import { GHOST, openRequests } from './far.js'
import { type Guest, UNHEARD } from './guest-program.js'
import { runningGuests } from './guests.js'
import type { Invariant } from './invariants.js'
import { MARGIN } from './lodger.js'
import type { World } from './world.js'

export const OUTSIDE_INVARIANTS: readonly Invariant[] = [
  { says: 'no program of an external agent outlives its server', when: 'always', fault: noneOutlives },
  { says: 'an external agent is gone before another goes on with its session', when: 'always', fault: ({ guests }) => guests.overlaps[0] },
  { says: 'an external agent is prompted in its time, or gone', when: 'always', fault: promptedInTime },
  { says: 'an external agent that was told to end its prompt has done so in its time, or is gone', when: 'always', fault: cancelledInTime },
  { says: 'what an external agent asks for is answered once', when: 'always', fault: answeredOnce },
  { says: 'nothing that an external agent asked for is open once its turn is over', when: 'always', fault: noneAsked },
  { says: 'what comes after its turn, or belongs to another, is in no answer', when: 'always', fault: nothingUnheard },
  { says: 'the turn of an external agent that has died fails', when: 'always', fault: deathsFail },
  { says: 'the turn of an external agent that has died is over soon', when: 'always', fault: deathsEnd },
  { says: 'the answer of an external agent is what it has said in its turn', when: 'always', fault: saysAll },
  { says: 'no program of an external agent runs once nothing is under way', when: 'calm', fault: noneRuns },
  { says: 'a request to a model ends in its time', when: 'always', fault: requestsEnd },
  { says: 'a prompt has one request to its model under way', when: 'always', fault: ({ far }) => far.doubled[0] },
  { says: 'an answer that has come to its end is all that the model has said', when: 'always', fault: wholeAnswers },
  { says: 'no request to a model is open once nothing is under way', when: 'calm', fault: noneOpen },
]

const { setup: SETUP, cancel: CANCEL } = LIMITS.external
const { firstByte: FIRST, idle: IDLE } = LIMITS.provider
/** In which what was answered is told. */
const SOON = 1000

function noneOutlives({ guests: { orphans } }: World): string | undefined {
  return orphans.length === 0 ? undefined : `the program ${orphans[0]} runs`
}

function promptedInTime({ guests, life }: World): string | undefined {
  const until = life.clock.monotonic() - SETUP - MARGIN
  const late = runningGuests(guests).find(({ isPrompted, begunAt }) => !isPrompted && begunAt < until)
  return late && `the program ${late.number} has begun at ${late.begunAt}`
}

function cancelledInTime({ guests, life }: World): string | undefined {
  const until = life.clock.monotonic() - CANCEL - MARGIN
  const late = runningGuests(guests).find(({ cancelledAt, end }) => end === 'open' && cancelledAt !== undefined && cancelledAt < until)
  return late && `the program ${late.number} was told so at ${late.cancelledAt}`
}

function answeredOnce({ guests: { programs } }: World): string | undefined {
  for (const { number, asked } of programs) {
    const twice = [...asked].find(([, times]) => times > 1)
    if (twice !== undefined) return `the program ${number} was answered ${twice[1]} times to ${twice[0]}`
  }
  return undefined
}

/** What cannot be recorded just now is recorded later. */
function noneAsked({ guests, life, isShaken }: World): string | undefined {
  if (isShaken) return undefined
  const busy = life.runtime.sessions.status(TRUSTED_CALLER)
  for (const id of guests.sessions) {
    if (busy[id] !== undefined) continue
    const [open] = life.runtime.interactions.permissions(TRUSTED_CALLER, id)
    if (open !== undefined) return `${open.id} of ${id} is open`
  }
  return undefined
}

interface Answer {
  readonly sessionId: string
  readonly message: Message
  readonly text: string
}

/** Of those that have ended well. */
function answersOf(world: World, among: readonly string[]): readonly Answer[] {
  return among.flatMap((sessionId) =>
    world.sessions.includes(sessionId)
      ? world.messages(sessionId).flatMap((message) => {
          const { info } = message
          if (info.role !== 'assistant' || info.time.completed === undefined || info.error !== undefined) return []
          return [{ sessionId, message, text: textOf(message) }]
        })
      : [],
  )
}

function textOf({ parts }: Message): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function nothingUnheard(world: World): string | undefined {
  for (const id of [...world.guests.sessions, ...world.far.sessions]) {
    if (!world.sessions.includes(id)) continue
    for (const message of world.messages(id)) {
      const text = message.info.role === 'assistant' ? textOf(message) : ''
      const found = [...UNHEARD, GHOST].find((word) => text.includes(word))
      if (found !== undefined) return `${found} is in ${message.info.id}`
    }
  }
  return undefined
}

/** Whose words these are: each has its own. */
function guestOf({ guests }: World, text: string): Guest | undefined {
  const number = Number(/\bg(\d+)\./.exec(text)?.[1])
  return guests.programs[number - 1]
}

function deathsFail(world: World): string | undefined {
  for (const { message, text } of answersOf(world, world.guests.sessions)) {
    const guest = guestOf(world, text)
    if (guest?.end === 'died') return `the program ${guest.number} died, and ${message.info.id} has ended well`
  }
  return undefined
}

/** What cannot be recorded just now is recorded later. */
function deathsEnd(world: World): string | undefined {
  const { guests, life, isShaken, prompts, sessions, messages } = world
  if (isShaken) return undefined
  const until = life.clock.monotonic() - SOON
  for (const { number, diedAt, asks = 0, life: lived } of guests.programs) {
    if (diedAt === undefined || diedAt > until || lived !== guests.life) continue
    const { sessionId = '', messageId } = prompts.get(asks) ?? {}
    const answer = sessions.includes(sessionId)
      ? messages(sessionId).find(
          ({ info }) => info.role === 'assistant' && info.parentId === messageId && info.time.completed === undefined,
        )
      : undefined
    if (answer !== undefined) return `the program ${number} died at ${diedAt}, and ${answer.info.id} goes on`
  }
  return undefined
}

function saysAll(world: World): string | undefined {
  for (const { message, text } of answersOf(world, world.guests.sessions)) {
    const guest = guestOf(world, text)
    const said = guest?.said.join('').trim()
    if (guest?.end === 'answered' && said !== text.trim()) return `${message.info.id} is "${text}", and "${said}" was said`
  }
  return undefined
}

function noneRuns({ guests }: World): string | undefined {
  const [left] = runningGuests(guests)
  return left && `the program ${left.number} runs`
}

function requestsEnd({ far, life }: World): string | undefined {
  const now = life.clock.monotonic()
  const late = openRequests(far).find(({ heardAt, hasAnswer }) => now - heardAt > (hasAnswer ? IDLE : FIRST) + SOON)
  return late && `of the request ${late.number} nothing was heard since ${late.heardAt}`
}

function wholeAnswers(world: World): string | undefined {
  const whole = new Set(world.far.requests.map(({ whole: text }) => text?.trim()))
  for (const { message, text } of answersOf(world, world.far.sessions)) {
    const last = message.parts.findLast((part) => part.type === 'text')
    if (last?.type !== 'text' || whole.has(last.text.trim())) continue
    return `${message.info.id} is "${text}"`
  }
  return undefined
}

function noneOpen({ far }: World): string | undefined {
  const [open] = openRequests(far)
  return open && `the request ${open.number} is open`
}
