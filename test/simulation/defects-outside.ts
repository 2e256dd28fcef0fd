/** Defects of external agents, and of requests to a model by a network: what stands between them and the server is exchanged. */
import type { ChildPipe } from '../../src/ports/effects.js'
import { LIMITS } from '../../src/protocol/limits.js'
import type { FakeEffects } from '../../src/simulation/effects.js'
import { GUEST_ENV } from './guests.js'
import type { Defect } from './life.js'

type Opening = Parameters<FakeEffects['processes']['open']>[0]
type Post = NonNullable<FakeEffects['post']>

const effectsOf = (change: (effects: FakeEffects) => Partial<FakeEffects>): Defect => ({
  effects: (effects) => ({ ...effects, ...change(effects) }),
})

const isGuest = ({ command }: Opening) => GUEST_ENV.SVC_EXTERNAL_CODEX_COMMAND.includes(command)

/** What the server does with a program of an external agent, and what it hears of it. */
const guestsOf = (
  change: (pipe: ChildPipe) => Partial<ChildPipe>,
  heard: (options: Opening) => Opening = (options) => options,
  more: Partial<FakeEffects['processes']> = {},
): Defect =>
  effectsOf(({ processes }) => ({
    processes: {
      ...processes,
      get alive() {
        return processes.alive
      },
      async open(options) {
        if (!isGuest(options)) return processes.open(options)
        const pipe = await processes.open(heard(options))
        return {
          ...pipe,
          get waiting() {
            return pipe.waiting
          },
          ...change(pipe),
        }
      },
      ...more,
    },
  }))

const postOf = (change: (post: Post) => Post): Defect => ({
  effects: ({ post, ...effects }) => ({ ...effects, ...(post !== undefined && { post: change(post) }) }),
})

/** Timers of so many ms never come due. */
const withoutTimer = (...times: readonly number[]): Defect =>
  effectsOf(({ clock }) => ({ clock: { ...clock, setTimeout: (run, ms) => (times.includes(ms) ? {} : clock.setTimeout(run, ms)) } }))

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const { setup: SETUP, cancel: CANCEL } = LIMITS.external
const { firstByte: FIRST, idle: IDLE } = LIMITS.provider
const FINISH = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

export const OUTSIDE_DEFECTS: Readonly<Record<string, () => Defect>> = {
  'an external agent that is left running': () => guestsOf(() => ({ kill: () => undefined, signal: () => true, gone: Promise.resolve() })),
  'an external agent whose death nobody notices': () => guestsOf(() => ({ ended: new Promise(() => undefined), gone: Promise.resolve() })),
  'an external agent that is waited for for ever': () => withoutTimer(CANCEL, SETUP),
  'an external agent that is heard once its turn is over': () => {
    let late: Uint8Array | undefined
    return guestsOf(
      () => ({}),
      (options) => ({
        ...options,
        onStdout(chunk) {
          if (text(chunk).includes('late-')) return void (late = chunk)
          options.onStdout(chunk)
          if (late === undefined || !text(chunk).includes('agent_message_chunk')) return
          options.onStdout(late)
          late = undefined
        },
      }),
    )
  },
  'an answer to an external agent that is told twice': () =>
    guestsOf((pipe) => ({ write: (data) => pipe.write(data) && (!String(data).includes('"outcome"') || pipe.write(data)) })),
  'a word of an external agent that is lost': () =>
    guestsOf(
      () => ({}),
      (options) => ({ ...options, onStdout: (chunk) => (/\bg\d+\.1 /.test(text(chunk)) ? undefined : options.onStdout(chunk)) }),
    ),
  'a model that is waited for for ever': () => withoutTimer(FIRST, IDLE),
  'a connection that is not closed': () =>
    postOf((post) => async (address, request) => {
      const answer = await post(address, { ...request, onOpen: () => request.onOpen(() => undefined) })
      return { ...answer, cancel: () => undefined }
    }),
  'an answer that was cut off and counts as whole': () =>
    postOf((post) => async (address, request) => {
      const answer = await post(address, request)
      let isOver = false
      return {
        ...answer,
        async read() {
          const piece = isOver ? undefined : await answer.read().catch(() => undefined)
          if (piece !== undefined || isOver) return piece
          isOver = true
          return new TextEncoder().encode(FINISH)
        },
      }
    }),
  'a request that is sent twice': () =>
    postOf((post) => (address, request) => {
      post(address, { ...request, onOpen: () => undefined }).catch(() => undefined)
      return post(address, request)
    }),
}
