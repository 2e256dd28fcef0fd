/** Acts beside conversations and workflows, drawn: moments, a slow disk, connections, tasks, folders. */
import type { Random } from '../../src/simulation/random.js'
import type { History, Play, Step } from './history.js'

/** Where it matters what happens: machines and states as charts call them. */
const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  activation: ['claiming', 'retrying'],
  compaction: ['opening', 'summarising', 'recording', 'ending'],
  interaction: ['asked.withdrawing', 'asked.waiting.expiring'],
  restore: ['checking', 'noting', 'forward.writing', 'forward.recording', 'backward.forgetting'],
  run: ['working.preparing', 'working.generating', 'closing', 'compacting', 'ending.recording'],
  session: ['looking', 'idle', 'recovering', 'pausing'],
  'step-recorder': ['open.storing'],
  task: ['queued', 'running', 'reporting.recording', 'reporting.telling', 'stopping.ending'],
  'tool-call': ['judging', 'asking', 'executing', 'faulting'],
  'workflow-engine': ['starting.recovering', 'serving.schedule.beating'],
  'workflow-run': ['retry-waiting.reclaiming', 'working.queued', 'working.starting', 'working.submitted', 'ending.recording'],
}
const MACHINES = Object.keys(MOMENTS)
const SLOW = [0, 0, 5, 100, 1000]
const CLIENTS = 2
const SESSIONS = 3

export function drawBeside(random: Random, name: number, plays: () => readonly Play[]): Step {
  switch (random.pick(['when', 'when', 'when', 'when', 'slow', 'stall', 'stall', 'nudge', 'drop'] as const)) {
    case 'when': {
      const machine = random.pick(MACHINES)
      return { do: 'when', machine, state: random.pick(MOMENTS[machine] ?? []), nth: 1 + random.below(3), steps: drawThen(random) }
    }
    case 'slow':
      return { do: 'slow', ms: random.pick(SLOW) }
    case 'stall':
      return { do: 'stall', client: random.below(CLIENTS) }
    case 'nudge':
      return { do: 'nudge', name, plays: plays() }
    case 'drop':
      return { do: 'drop', workflow: random.below(SESSIONS) }
  }
}

function drawThen(random: Random): History {
  const session = random.below(SESSIONS)
  const fill: Step = { do: 'fill', how: random.pick(['ENOSPC', 'EIO', 'EROFS']) }
  return random.pick<History>([
    [fill],
    [fill],
    [fill],
    [{ do: 'die', how: random.isOneIn(3) ? 'kill' : 'power', torn: random.below(1_000_000) }],
    [{ do: 'restart' }],
    [{ do: 'abort', session, queue: 'go-on' }],
    [{ do: 'stop', session }],
    [{ do: 'pop', session }],
  ])
}
