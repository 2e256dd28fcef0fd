import type { OnCall } from '../../../src/actors/plugin/calls/call-log.js'
import type { InstanceProblem, ReverseRequest } from '../../../src/actors/plugin/generation/instance.js'
import { createLink, type Link } from '../../../src/actors/plugin/link/link.js'
import type { PluginOwner } from '../../../src/protocol/plugin/plugin-frame.js'
import { createFakeClock, type FakeClock } from '../../../src/simulation/clock.js'

export const OWNER: PluginOwner = {
  pluginId: 'dev.example.tool',
  instanceId: 'plugin-instance-7',
  packageRevision: 'sha256:abc',
  registryGeneration: 3,
  scope: 'workspace',
  workspaceId: '/project/place',
}

export interface PlayedLink {
  readonly link: Link
  readonly clock: FakeClock
  /** Frames the plugin was sent. */
  readonly sent: readonly Record<string, unknown>[]
  /** Sends a frame, or raw text with its newline, as the plugin. */
  plugin(...frames: (object | string)[]): void
  readonly problems: readonly InstanceProblem[]
  readonly failures: readonly string[]
  readonly audits: readonly string[]
  readonly paused: boolean
  readonly inputClosed: boolean
  /** From now on the plugin takes no input. */
  refuseInput(): void
  setWaiting(bytes: number): void
}

/** A link over a pipe in memory; `serve` answers the requests of the plugin. */
export function playLink(serve: (request: ReverseRequest) => Promise<unknown> = async () => null, onCall?: OnCall): PlayedLink {
  const clock = createFakeClock()
  const sent: Record<string, unknown>[] = []
  const problems: InstanceProblem[] = []
  const failures: string[] = []
  const audits: string[] = []
  const pipe = { paused: false, inputClosed: false, takes: true, waiting: 0 }
  const link = createLink({
    clock,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    owner: OWNER,
    callTimeoutMs: 60_000,
    pipe: {
      write(text) {
        if (!pipe.takes || pipe.inputClosed) return false
        sent.push(JSON.parse(String(text)) as Record<string, unknown>)
        return true
      },
      get waiting() {
        return pipe.waiting
      },
      closeInput: () => void (pipe.inputClosed = true),
      pause: () => void (pipe.paused = true),
      resume: () => void (pipe.paused = false),
    },
    serve,
    audit: (method, outcome) => audits.push(`${method} ${outcome}`),
    onFailure: (reason) => failures.push(reason),
    onProblem: (problem) => problems.push(problem),
    onCall,
  })
  return {
    link,
    clock,
    sent,
    problems,
    failures,
    audits,
    plugin: (...frames) =>
      link.receive(Buffer.from(frames.map((frame) => (typeof frame === 'string' ? frame : `${JSON.stringify(frame)}\n`)).join(''))),
    get paused() {
      return pipe.paused
    },
    get inputClosed() {
      return pipe.inputClosed
    },
    refuseInput: () => void (pipe.takes = false),
    setWaiting: (bytes) => void (pipe.waiting = bytes),
  }
}
