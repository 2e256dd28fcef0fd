/** The simulation for authors. Part of the declarations of `svc/testing`: types only. */
import type { Plugin } from '../../kit/plugin-types.js'
import type { Session } from '../../../protocol/session/session.js'
import type { TakeTrace } from '../actor-types.js'
import type { EventMatch, JournalEvent } from '../journal-types.js'
import type { ModelCall, ModelRequest } from '../model-types.js'
import type { PlayedPlugin, PlayedPluginOptions } from '../played-plugin-types.js'
import type { Instant, TestFiles, TestInteractions, TestSessions, TestWorkflows } from '../runtime-types.js'

/** Milliseconds, or parts that are added up; a day has 24 hours. */
export type Duration = number | DurationParts

interface DurationParts {
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
  readonly milliseconds?: number
}

export interface SimulationOptions {
  /** Everything that is left to chance follows from it; 1 when absent. */
  readonly seed?: number
  /** Where the clock stands at the start; 2026-01-05T12:00:00Z when absent. */
  readonly at?: Instant
  /** Time zone of the machine; `UTC` when absent. */
  readonly zone?: string
  /** Configuration of the installation, besides the played model and `permission: { '*': 'allow' }`. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Files of the workspace, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Text of the workflows of the workspace, by their ids. */
  readonly workflows?: Readonly<Record<string, string>>
  /** Plugins in processes of their own, approved. */
  readonly plugins?: readonly SimulatedPlugin[]
  /** Answers for the model, whenever it is asked; it says `Done.` when absent. */
  readonly model?: (request: SimulatedRequest) => ModelAnswer
  readonly faults?: SimulationFaults
  /** Records what every machine does in each life, for `world.inspected`. */
  readonly inspect?: boolean
}

interface SimulatedPlugin extends Omit<PlayedPluginOptions, 'approved'> {
  readonly plugin: Plugin
}

export interface SimulatedRequest extends ModelRequest {
  /** How often the model was asked before, in all lives of the host. */
  readonly asked: number
}

/** What the model says; or more than that. */
export type ModelAnswer = string | ModelTurn

interface ModelTurn {
  readonly says?: string
  readonly calls?: readonly ModelCall[]
  /** Fails after what it says, as a provider does. */
  readonly fails?: string
  readonly retryable?: boolean
  /** How long it takes, of simulated time; nothing when absent. */
  readonly takes?: Duration
}

export interface SimulationFaults {
  /** The host dies, and starts again by itself. */
  readonly hostDies?: HostDeath
}

interface HostDeath {
  /** At one moment of the plugins: that of a number, or the first that the function answers true for. */
  readonly at?: number | ((moment: PluginMoment) => boolean)
  /** Again and again, once in so much time on average; when is drawn. */
  readonly every?: Duration
  /** `kill` is the death of the process alone; with the power all that was not synced may be lost. Drawn each time when absent. */
  readonly how?: 'kill' | 'power'
  /** How long it is away; one second when absent. */
  readonly down?: Duration
}

/** A frame between svc and a plugin, before it is delivered. */
export interface PluginMoment {
  /** Counted from 1, once all plugins are approved. */
  readonly number: number
  readonly plugin: string
  readonly from: 'svc' | 'plugin'
  /** In words: `svc asks tool.invoke book`, `plugin answers tool.invoke book`. */
  readonly says: string
  readonly frame: Readonly<Record<string, unknown>>
}

/** The simulated clock: it moves in `advance` and `advanceTo`, and while a call of the world takes time. */
export interface SimulatedClock {
  /** Unix ms. */
  readonly now: number
  advance(duration: Duration): Promise<void>
  /** Throws when the instant is past. */
  advanceTo(instant: Instant): Promise<void>
  /** Steps the wall clock alone, as an operator does. */
  stepWall(duration: Duration): void
  /** What clocks show at an instant, such as `2026-03-29 03:00`; in the zone of the machine and now when absent. */
  local(instant?: Instant, zone?: string): string
}

export interface SimulatedAnswer {
  readonly status: number
  /** Parsed where it is JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/**
 * A host with its machine, and the one who drives it. Calls let time pass until they are answered, at most an hour, and are made again
 * when the host dies meanwhile, as a client does that has heard no answer; a prompt has the same message id then.
 */
export interface SimulatedWorld {
  readonly seed: number
  /** Path of the workspace. */
  readonly directory: string
  readonly clock: SimulatedClock
  readonly files: TestFiles
  readonly sessions: Omit<TestSessions, 'get'> & { get(session: string | { readonly id: string }): Promise<Session> }
  readonly interactions: TestInteractions
  readonly workflows: TestWorkflows
  /** Everything that was published in all lives, in order, as a client heard it who comes back after each start. */
  readonly events: readonly JournalEvent[]
  /** Lets time pass until an event fits, past or future. */
  until(match: EventMatch): Promise<JournalEvent>
  /** A call of the API, as `x-svc-directory` of the workspace; `path` begins with `/v2`. */
  call(method: string, path: string, body?: unknown): Promise<SimulatedAnswer>
  plugin(id: string): PlayedPlugin
  /** Frames between svc and plugins so far. */
  readonly moments: readonly PluginMoment[]
  /** What the model was sent. */
  readonly requests: readonly ModelRequest[]
  /** How often the host was started. */
  readonly lives: number
  readonly isUp: boolean
  /** Ends the host now, as a crash of its process does; with `power`, as one of the machine. It stays away until `start`. */
  kill(how?: 'kill' | 'power'): Promise<void>
  /** Ends it in order. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Warnings and errors the host logged in all lives. */
  readonly logs: readonly { readonly level: string; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[]
  /** What was recorded of the last life, in the form of the inspector; `inspect` of the options has it recorded. */
  inspected(): ReturnType<TakeTrace>
  /** SHA-256 of all events so far, hex: two runs with the same of everything have the same. */
  readonly trace: string
}

/** Plays a story in a simulated world; answers what the story does. Nothing of the world is left then. */
export type Simulate = <T>(options: SimulationOptions, story: (world: SimulatedWorld) => Promise<T>) => Promise<T>
