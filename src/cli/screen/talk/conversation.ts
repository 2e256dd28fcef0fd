/** One conversation with a server, as whoever shows it sees it; it lives by the machine `screen`. */
import { type AnyEventObject, createActor, fromCallback, fromPromise, toPromise } from 'xstate'
import { screenMachine } from '../../../machines/screen/screen.machine.js'
import type { Client } from '../../../published/client/client-types.js'
import { tellFirst } from '../../commands/run/first-notes.js'
import { chooseModel } from '../../commands/run/model-choice.js'
import { existingSession } from '../../commands/session/existing-session.js'
import { connect, connectToRunning } from '../../connection.js'
import type { Line } from '../../terminal/span.js'
import type { Story } from '../story/story.js'
import type { Facts } from './facts.js'
import { follow, isAway } from './following.js'
import { hear, readAgain } from './hearing.js'
import type { Requests } from './requests.js'
import type { Said } from './said.js'
import { abort, say } from './sending.js'
import { choose, createTalk, fail, note, type Talk, type TalkOptions } from './talk.js'

export interface Conversation {
  /** Lines that are done since the last call. */
  take(width: number, height: number): readonly Line[]
  live(width: number, height: number): readonly Line[]
  readonly activity: Story['activity']
  readonly facts: Facts
  readonly requests: Requests
  /** What was sent and has not begun. */
  readonly waiting: readonly string[]
  readonly directory: string
  readonly sessionId: string | undefined
  readonly client: Client | undefined
  /** Names of commands of the configuration. */
  readonly known: readonly string[]
  readonly agents: readonly string[]
  is(state: 'opening' | 'running' | 'aborting' | 'away' | 'warned'): boolean
  say(said: Said): void
  typed(): void
  interrupt(): void
  leave(): void
  note(text: string): void
  /** Resolves when it is over; rejects where it could not go on. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

export function createConversation(given: TalkOptions): Conversation {
  const talk = createTalk(given, (event) => actor.send(event))
  const actor = createActor(logicOf(talk), { input: { random: Math.random } })
  actor.subscribe(() => talk.onChange())
  const isIn = (state: Parameters<ReturnType<typeof actor.getSnapshot>['matches']>[0]) => actor.getSnapshot().matches(state)
  actor.start()
  return {
    take(width, height) {
      const lines = talk.stories.flatMap((story) => story.take(width, height))
      talk.stories.splice(0, talk.stories.length - 1)
      return lines
    },
    live: (width, height) => talk.stories.at(-1)?.live(width, height) ?? [],
    get activity() {
      return talk.stories.at(-1)?.activity
    },
    get facts() {
      const { model, agent, facts } = talk
      return {
        ...facts,
        ...(model !== undefined && { model: `${model.providerId}/${model.modelId}` }),
        ...(agent !== undefined && { agent }),
      }
    },
    get requests() {
      return talk.requests
    },
    get waiting() {
      return [...talk.waiting.values()]
    },
    directory: talk.directory,
    get sessionId() {
      return talk.sessionId
    },
    get client() {
      return talk.connection?.client
    },
    get known() {
      return talk.commands.map(({ name }) => name)
    },
    get agents() {
      return talk.agents
    },
    is(state) {
      if (state === 'opening') return isIn('opening')
      // Until it answers: each try in between fails like the last one.
      if (state === 'away') return actor.getSnapshot().context.losses > 0
      return state === 'warned' ? isIn({ open: { person: 'warned' } }) : isIn({ open: { work: state } })
    },
    say: (said) => say(talk, said, isIn({ open: { work: 'running' } }) || isIn({ open: { work: 'aborting' } })),
    typed: () => actor.send({ type: 'person.typed' }),
    interrupt: () => actor.send({ type: 'person.interrupted' }),
    leave: () => actor.send({ type: 'person.left' }),
    note: (text) => note(talk, text),
    ended: toPromise(actor).then(({ failure }) => {
      if (failure !== undefined) throw failure as Error
    }),
    async close() {
      talk.left.abort(new Error('left'))
      talk.unsent.abort(new Error('left'))
      actor.stop()
      talk.requests.stop()
      await talk.connection?.close()
    },
  }
}

function logicOf(talk: Talk) {
  return screenMachine.provide({
    actors: {
      open: fromPromise<unknown, object>(() => talk.lane.run(() => open(talk))),
      follow: fromCallback<AnyEventObject, object>(({ sendBack }) => {
        const stop = new AbortController()
        void listen(talk, stop.signal, sendBack)
        return () => stop.abort()
      }),
      abort: fromCallback<AnyEventObject, object>(() => abort(talk)),
    },
  })
}

/** Finds the server, and the session to go on in where there is one. */
async function open(talk: Talk): Promise<void> {
  const { options, directory } = talk
  talk.connection = await connect(options.server, { isApart: true })
  const { client } = talk.connection
  const existing = await existingSession(client, options)
  talk.model = options.model === undefined ? undefined : await chooseModel(client, existing?.directory ?? directory, options.model)
  if (existing !== undefined) choose(talk, existing.id)
  else await tellFirst(client, directory, { note: (text) => note(talk, text) }, new Set())
  const [commands, agents] = await Promise.all([client.commands.list({ directory }), client.agents.list({ directory })])
  talk.commands = commands
  talk.agents = agents.filter(({ hidden }) => !hidden).map(({ name }) => name)
}

/** One connection, and how it has ended. */
async function listen(talk: Talk, signal: AbortSignal, report: (event: AnyEventObject) => void): Promise<void> {
  const { sessionId = '', cursor, connection, options } = talk
  if (connection === undefined) return
  const onOpen = () => {
    report({ type: 'link.up' })
    readAgain(talk, signal).catch((error: unknown) => (signal.aborted || isAway(error) ? undefined : fail(talk, error)))
  }
  try {
    await follow({ connection, sessionId, cursor, signal, onOpen, onEvent: (event) => hear(talk, event) })
  } catch (error) {
    if (!signal.aborted && !isAway(error)) return report({ type: 'link.refused', failure: error })
    // The server that uses the state directory may be another one by now.
    if (options.server === undefined) talk.connection = (await connectToRunning().catch(() => undefined)) ?? talk.connection
  }
  if (!signal.aborted) report({ type: 'link.lost' })
}
