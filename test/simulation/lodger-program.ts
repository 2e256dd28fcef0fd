/** One program of the lodger, as it runs: it speaks the protocol as a plugin in a process does, and does not always keep to it. */
import type { ChildPipe } from '../../src/ports/effects.js'
import type { Host } from '../../src/published/kit/host-calls-types.js'
import { recordOf } from '../../src/published/kit/frames.js'
import type { Plugin } from '../../src/published/kit/plugin-types.js'
import { createRuntime, type PluginRuntime } from '../../src/published/kit/runtime.js'
import type { PlayedChild } from '../../src/simulation/child.js'
import type { FakeClock } from '../../src/simulation/clock.js'

/** In the workspace. */
export const BY_LODGER = 'by-lodger.txt'

/**
 * How a program of it does what it is asked for: `late` answers when nobody waits any more, `clings` does not end when it is told to and goes on
 * asking, `refuses` and `dawdles` do not come to serve.
 */
export type Manner = 'well' | 'slow' | 'late' | 'twice' | 'dies' | 'hangs' | 'floods' | 'clings' | 'refuses' | 'dawdles'

export interface Program {
  readonly number: number
  readonly content: number
  /** Of whose life it is. */
  readonly life: object
  /** Ends it, as it happens, or lets it hang. */
  crash(how: 'dies' | 'hangs'): void
  stir(): void
  readonly isOver: boolean
  /** I2, on the clock of its life, ms. */
  readonly retiredAt: number | undefined
  /** When calls were made that wait for an answer, by their ids. */
  readonly calls: ReadonlyMap<number, number>
}

/** What it knows of its world. */
export interface Told {
  readonly clock: FakeClock
  manner(): Manner
  onCall(call: { readonly sessionId: string; readonly id: string }): void
}

interface RunningProgram extends Program {
  begin(child: PlayedChild): void
  /** The pipe to it, through which is seen what the server asks. */
  seen(pipe: ChildPipe, onRequest: (method: string) => void): ChildPipe
}

/** ms: within what a call may take, longer than that, and longer than a start may take. */
const SLOW = 5000
const LATE = 90_000
const DAWDLES = 10_000
/** Lines that are no frames: more than it may say in a second. */
const FLOOD = 1100
const CLINGS = { ms: 200, times: 20, floods: 5 }

export function lodgerProgram(
  { number, content, life }: Pick<Program, 'number' | 'content' | 'life'>,
  { clock, manner, onCall }: Told,
): RunningProgram {
  const calls = new Map<number, number>()
  let child: PlayedChild | undefined
  let runtime: PluginRuntime | undefined
  let host: Host | undefined
  let isHung = false
  let retiredAt: number | undefined

  const pause = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(resolve, ms))

  function retired(): void {
    retiredAt ??= clock.monotonic()
  }

  function end(exitCode: number): void {
    child?.end({ exitCode })
    runtime?.end()
  }

  function crash(how: 'dies' | 'hangs'): void {
    if (how === 'dies') return end(1)
    isHung = true
    child?.stopReading()
  }

  /** What comes of it tells who knows of the disk and of the log. */
  function stir(): void {
    if (host === undefined || isHung || child?.ended === true) return
    host.events.publish({ namespace: 'lodger', name: 'stirred', payload: { program: number } }).catch(() => undefined)
    host.workspace.write(BY_LODGER, new TextEncoder().encode(String(number))).catch(() => undefined)
  }

  function flood(): void {
    child?.stdout('no frame\n'.repeat(FLOOD))
  }

  async function cling(): Promise<void> {
    for (let time = 0; time < CLINGS.times && child?.ended !== true; time++) {
      stir()
      if (time === CLINGS.floods) flood()
      await pause(CLINGS.ms)
    }
  }

  async function execute({ id }: { readonly id: string }): Promise<string> {
    stir()
    const is = manner()
    if (is === 'dies') end(3)
    if (is === 'hangs') crash('hangs')
    if (is === 'floods') flood()
    if (is === 'slow') await pause(SLOW)
    if (is === 'late') await pause(LATE)
    if (isHung) await new Promise(() => undefined)
    return `${id} is done`
  }

  const plugin: Plugin = {
    tools: [
      {
        id: 'lodges',
        description: `It lodges, as its content ${content} does.`,
        parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
        execute: (input, { sessionId = '' }) => {
          const call = input as { readonly id: string }
          onCall({ sessionId, id: call.id })
          return execute(call)
        },
      },
    ],
    async initialize(context) {
      host = context.host
      if (manner() === 'refuses') throw new Error('not today')
      if (manner() === 'dawdles') await pause(DAWDLES)
    },
  }

  return {
    number,
    content,
    life,
    crash,
    stir,
    calls,
    get isOver() {
      return child?.ended === true
    },
    get retiredAt() {
      return retiredAt
    },
    begin(begun) {
      child = begun
      if (begun.ended) return
      const running = createRuntime(plugin, {
        async send(line) {
          const frame = recordOf(JSON.parse(line))
          const isReply = !('method' in frame)
          if (isReply) calls.delete(Number(frame['id']))
          begun.stdout(isReply && manner() === 'twice' ? `${line}\n${line}\n` : `${line}\n`)
        },
        note: (text) => begun.stderr(`${text}\n`),
        ended: () => begun.end({ exitCode: 0 }),
      })
      runtime = running
      let rest = ''
      begun.onInput((text) => {
        const lines = `${rest}${text}`.split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const frame: unknown = JSON.parse(line)
          if (recordOf(frame)['method'] === 'shutdown' && manner() === 'clings') void cling()
          else running.accept(frame)
        }
      })
      begun.onEnd(() => {
        if (begun.ended || (!isHung && manner() !== 'clings')) running.end()
      })
    },
    seen(pipe, onRequest) {
      return {
        ...pipe,
        get waiting() {
          return pipe.waiting
        },
        write(data) {
          const isTaken = pipe.write(data)
          if (isTaken) for (const frame of framesOf(data)) see(frame, onRequest)
          return isTaken
        },
        closeInput() {
          retired()
          pipe.closeInput()
        },
        kill() {
          retired()
          pipe.kill()
        },
      }
    },
  }

  function see(frame: Readonly<Record<string, unknown>>, onRequest: (method: string) => void): void {
    const { id, method, params } = frame
    if (method === 'shutdown') retired()
    if (method === '$/cancel') calls.delete(Number(recordOf(params)['id']))
    if (typeof id !== 'number' || typeof method !== 'string') return
    calls.set(id, clock.monotonic())
    onRequest(method)
  }
}

/** Each is written whole. */
function framesOf(data: string | Uint8Array): readonly Readonly<Record<string, unknown>>[] {
  const text = typeof data === 'string' ? data : new TextDecoder().decode(data)
  return text.split('\n').flatMap((line) => (line === '' ? [] : [recordOf(JSON.parse(line))]))
}
