/** The runtime under test. Part of the declarations of `svc/testing`: types only. */
import type { PermissionReply, PermissionRequest, QuestionReply, QuestionRequest } from '../../protocol/interaction/interaction.js'
import type { Message, PromptRequest } from '../../protocol/message/message.js'
import type { CreateSessionRequest, Session } from '../../protocol/session/session.js'
import type { WorkflowCatalog, WorkflowProjection, WorkflowRun } from '../../protocol/workflow/workflow.js'
import type { AwaitState, SendEvent, TakeTrace, TestActors } from './actor-types.js'
import type { TestJournal } from './journal-types.js'
import type { TestModel } from './model-types.js'
import type { PlayPlugin } from './played-plugin-types.js'
import type { TestTool, TestToolOptions } from './tool-types.js'

/** Unix ms, a date, or an instant such as `2026-10-25T00:30:00Z`. */
export type Instant = number | string | Date

export interface TestRuntimeOptions {
  /** Where the clock stands at the start; 2026-01-05T12:00:00Z when absent. */
  readonly at?: Instant
  /** Time zone of the machine; `UTC` when absent. */
  readonly zone?: string
  /** Configuration of the installation, besides the played model and `permission: { '*': 'allow' }`. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Files of the workspace, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Tools to play: a tool of which nothing but its id matters may be given as its id. */
  readonly tools?: readonly (string | TestToolOptions)[]
  /** Real milliseconds that waiting may take; 5000 when absent. */
  readonly waitMs?: number
}

/** A clock that stands still until it is told. */
export interface TestClock {
  /** Unix ms. */
  readonly now: number
  /** Lets time pass: every timer that falls due fires in order, and what follows from it happens, file work included. */
  advance(ms: number): Promise<void>
  /** Lets time pass until an instant; throws when it is in the past. */
  advanceTo(instant: Instant): Promise<void>
  /** Steps the wall clock alone, as an operator or a suspend does. */
  stepWall(ms: number): void
  /** Lets everything happen that needs no time. */
  settle(): Promise<void>
}

/** Files of the workspace; paths are relative to it. Whoever watches them is told at once. */
export interface TestFiles {
  write(path: string, text: string): Promise<void>
  read(path: string): Promise<string>
  remove(path: string): Promise<void>
}

/** A program that svc runs to its end: a command of the `bash` tool, a search. */
interface ProgramRun {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
}

/** How it ends; a silent success where nothing is said. */
interface ProgramEnd {
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
}

/** Programs that svc runs are played; without an answer they cannot be started. */
interface TestPrograms {
  /** Plays programs from now on; `undefined` leaves a program to what was said before. */
  answer(play: (run: ProgramRun) => ProgramEnd | Promise<ProgramEnd> | undefined): void
  /** Every program so far. */
  readonly runs: readonly ProgramRun[]
}

type SessionRef = string | { readonly id: string }

export interface TestSessions {
  create(request?: Partial<CreateSessionRequest>): Promise<Session>
  get(session: SessionRef): Session
  /** Resolves once the prompt is stored; the run begins by itself. */
  prompt(session: SessionRef, prompt: string | PromptRequest): Promise<void>
  /** Resolves with whether there was something to abort. */
  abort(session: SessionRef): Promise<boolean>
  /** Resolves when the session is idle; fails when the model was asked and had no step left. */
  idle(session: SessionRef): Promise<void>
  /** Prompts, waits until the session is idle, and answers the text of its last message. */
  ask(session: SessionRef, prompt: string | PromptRequest): Promise<string>
  messages(session: SessionRef): readonly Message[]
}

/** What is asked of the user, and the answers. */
export interface TestInteractions {
  permissions(): readonly PermissionRequest[]
  questions(): readonly QuestionRequest[]
  allow(request: { readonly id: string }, reply?: 'once' | 'always'): void
  reject(request: { readonly id: string }, message?: string): void
  reply(request: { readonly id: string }, reply: PermissionReply): void
  answer(request: { readonly id: string }, answers: QuestionReply['answers']): void
}

/** Scheduled workflows of the workspace: files `.svc/workflows/<id>.md`. */
export interface TestWorkflows {
  list(): Promise<WorkflowCatalog>
  /** Runs so far, the latest first; the latest 200 at most. */
  runs(id: string): Promise<readonly WorkflowRun[]>
  /** Runs it by hand. */
  run(id: string): Promise<WorkflowRun>
  activate(id: string): Promise<WorkflowProjection>
  pause(id: string): Promise<WorkflowProjection>
}

export interface OperationArguments {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

export interface TestRuntime {
  /** Canonical path of the workspace. */
  readonly directory: string
  readonly clock: TestClock
  readonly files: TestFiles
  readonly programs: TestPrograms
  readonly model: TestModel
  readonly sessions: TestSessions
  readonly interactions: TestInteractions
  readonly workflows: TestWorkflows
  readonly journal: TestJournal
  readonly actors: TestActors
  readonly state: AwaitState
  readonly send: SendEvent
  readonly playPlugin: PlayPlugin
  readonly trace: TakeTrace
  /** Warnings and errors the service logged. */
  readonly logs: readonly { readonly level: string; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[]
  /** A tool named in the options. */
  tool(id: string): TestTool
  /** Merges into the configuration of the installation, as an editor of its file does, and lets it take effect. */
  configure(change: Readonly<Record<string, unknown>>): Promise<void>
  /** An operation of a built-in plugin by its id, such as `v2.plugins.pty.list`. */
  call(operationId: string, args?: OperationArguments): Promise<unknown>
  /** Stops in order and removes the temporary directory. Idempotent. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts a runtime in memory: a clock that stands still, a played model, played programs, files below a temporary directory, no network. */
export type StartTestRuntime = (options?: TestRuntimeOptions) => Promise<TestRuntime>
