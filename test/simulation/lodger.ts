/**
 * A plugin package of the operator whose programs are played: what is known of it from outside, and what its programs do.
 *
 * I1 Approved is what the configuration says, as far as a server may go by it (`lately.ts`).
 * I2 A program was told to end when the server sent it `shutdown`, closed its input or ended it. What is asked of it, and what comes of what it
 *    asked for, is noted in that very moment.
 * I3 What happens in a life that is over is noted no more.
 */
import { join } from 'node:path'
import { LIMITS } from '../../src/protocol/limits.js'
import type { TrustRecord } from '../../src/protocol/plugin/plugin.js'
import type { FakeEffects } from '../../src/simulation/effects.js'
import type { Store } from '../../src/store/store.js'
import { createLately, type Lately, type Moment, SEEN } from './lately.js'
import { PLACES } from './life.js'
import { BY_LODGER, lodgerProgram, type Manner, type Program, type Told } from './lodger-program.js'

export const LODGER = 'dev.example.lodger'
export const LODGER_ROOT = join(PLACES.config, 'plugins', LODGER)
/** More than what a timer is late by, ms. */
export const MARGIN = 100
const EVENT = 'plugin.lodger.stirred'

/** Something that a program has begun to do, was asked for, or has brought about. */
interface Deed {
  readonly what: 'is started' | 'is called' | 'publishes' | 'writes'
  readonly program: number
  readonly content: number
  readonly isApproved: boolean
  /** It was told to end before. */
  readonly isRetired: boolean
}

export interface KnownLodger {
  readonly manner: { is: Manner }
  /** Number of the content that lies there, the first is 1; 0 = none. */
  content: number
  /** So many were made. */
  contents: number
  /** As the configuration has them. */
  records: readonly TrustRecord[]
  /** Contents that are approved. */
  readonly approved: Lately<readonly number[]>
  /** Contents of which programs may run: for as long as it takes to end those that are approved no more. */
  readonly running: Lately<readonly number[]>
  readonly deeds: Deed[]
  /** Of all lives, oldest first. */
  readonly programs: Program[]
  /** Numbers of programs that ran as the server had ended. */
  readonly orphans: number[]
  /** The life that goes on, of those of programs; undefined = the server is dead. */
  life: object | undefined
}

export function createKnownLodger(now: () => Moment): KnownLodger {
  return {
    manner: { is: 'well' },
    content: 0,
    contents: 0,
    records: [],
    approved: createLately<readonly number[]>([[]], now),
    running: createLately<readonly number[]>([[]], now, SEEN + LIMITS.plugins.shutdownGrace + MARGIN),
    deeds: [],
    programs: [],
    orphans: [],
    life: undefined,
  }
}

function isApproved({ approved }: KnownLodger, content: number): boolean {
  return approved.values().some((contents) => contents.includes(content))
}

/** What was written for a content, as it lies on the disk. */
export function manifestOf(content: number): string {
  const command = ['/usr/bin/lodger', LODGER, String(content)]
  const agent = { runtime: 'process', command, scope: 'workspace', capabilities: CAPABILITIES, eventNamespaces: ['lodger'] }
  return JSON.stringify({ id: LODGER, name: 'Lodger', version: String(content), agent })
}

export const CAPABILITIES = ['event-publish', 'workspace-write'] as const

interface Housing {
  readonly known: KnownLodger
  readonly trace: { add(what: unknown): void }
  /** A tool is executed. */
  onCall(call: { readonly sessionId: string; readonly id: string }): void
}

export interface House {
  /** Begins a life: effects in which programs of it run. */
  effects(effects: FakeEffects): FakeEffects
  store(store: Store): Store
  /** The server of that life has ended. */
  over(life: object | undefined): void
}

type Opening = Parameters<FakeEffects['processes']['open']>[0]
/** As it runs: what the server does with it, and what it says, are noted. */
type Running = ReturnType<typeof lodgerProgram>

export function house({ known, trace, onCall }: Housing): House {
  function note(program: Program, what: Deed['what']): void {
    if (program.life !== known.life) return
    const { number, content, retiredAt } = program
    known.deeds.push({ what, program: number, content, isApproved: isApproved(known, content), isRetired: retiredAt !== undefined })
    trace.add([what, number, content])
  }

  const noteOf = (number: unknown, what: Deed['what']) => {
    const program = known.programs.find((each) => each.number === number)
    if (program !== undefined) note(program, what)
  }

  return {
    effects(effects) {
      known.life = effects
      const { processes, files, clock } = effects
      const starting = new Map<Opening, Running>()
      processes.pipe((options) => {
        const program = starting.get(options)
        return program && ((child) => program.begin(child))
      })
      async function open(options: Opening) {
        if (options.args[0] !== LODGER) return processes.open(options)
        const number = known.programs.length + 1
        const told: Told = { clock, manner: () => known.manner.is, onCall: (call) => void (known.life === effects && onCall(call)) }
        const program = lodgerProgram({ number, content: Number(options.args[1]), life: effects }, told)
        known.programs.push(program)
        starting.set(options, program)
        note(program, 'is started')
        return program.seen(await processes.open(options), (method) => {
          if (method === 'tool.invoke') note(program, 'is called')
        })
      }
      return {
        ...effects,
        processes: {
          ...processes,
          get alive() {
            return processes.alive
          },
          open,
        },
        files: {
          ...files,
          writeAtomic(path, data, options) {
            if (path === join(PLACES.cwd, BY_LODGER))
              noteOf(Number(typeof data === 'string' ? data : new TextDecoder().decode(data)), 'writes')
            return files.writeAtomic(path, data, options)
          },
        },
      }
    },
    store: (store) => ({
      ...store,
      events: {
        ...store.events,
        insert(...rows) {
          for (const { type, json } of rows) if (type === EVENT) noteOf(programIn(json), 'publishes')
          store.events.insert(...rows)
        },
      },
    }),
    over(life) {
      known.orphans.push(...known.programs.filter((program) => program.life === life && !program.isOver).map(({ number }) => number))
    },
  }
}

function programIn(envelope: string): unknown {
  const { data } = JSON.parse(envelope) as { readonly data?: { readonly program?: unknown } }
  return data?.program
}
