/**
 * What one run of the script may use (plugin-protocol §6.6, threat-model L2, L3).
 *
 * I1 A run that has gone beyond its budget never goes on: every later check of it throws again, and what it returned does not count.
 * I2 What is thrown is no error of the script: protected calls pass it on and no handler of the script sees it.
 * I3 Memory is what the engine reports for the thread beyond what it held before the script, buffers included, garbage not.
 */
import { LIMITS } from '../../../protocol/limits.js'
import { STOP, type Signals } from '../signals.js'

export type Phase = 'entrypoint' | 'callback'
export type Excess = 'cancelled' | 'instructions' | 'time' | 'memory' | 'fault'

/** Why a run was ended; `error` is what was thrown. */
interface Trip {
  readonly excess: Excess
  readonly error: Error
}

export interface Memory {
  /** Bytes the thread holds, heap and buffers. */
  used(): number
  /** Frees what can be freed. */
  collect(): void
}

export interface Budget {
  /** A new run with the whole budget. */
  begin(phase: Phase): void
  readonly tripped: Trip | undefined
  /** Instructions were executed; throws when the run has to end. */
  spend(instructions: number): void
  /** A buffer is about to be made. */
  charge(bytes: number): void
  /** Throws when the run has been ended or is told to. */
  check(): void
  /** Ends the run. */
  trip(excess: Excess): never
}

const { heapBytes, instructions: allowed, load } = LIMITS.lua
/** Cost of a buffer besides its bytes. */
const BUFFER = 64
/** Bytes of new buffers, and instructions, after which memory is looked at. */
const CHARGED = heapBytes / 16
const LOOK_AFTER = 10 * LIMITS.lua.instructionStep
/** Bytes that may come on top of what survived a collection before the next one. */
const ROOM = heapBytes / 4

interface BudgetOptions {
  /** Bytes the thread held before it had a script. */
  readonly baseline: number
  /** How long a callback may last, ms: said when it has. */
  readonly callback: number
}

export function createBudget(signals: Pick<Signals, 'stop'>, memory: Memory, { baseline, callback }: BudgetOptions): Budget {
  let phase: Phase = 'entrypoint'
  let tripped: Trip | undefined
  let spent = 0
  let looked = 0
  let charged = 0
  let tolerated = heapBytes

  function trip(excess: Excess): never {
    tripped ??= { excess, error: new Error(sentence(excess, phase, phase === 'callback' ? callback : load)) }
    throw tripped.error
  }

  function look(): void {
    looked = spent
    charged = 0
    check()
    if (memory.used() - baseline <= tolerated) return
    memory.collect()
    const live = memory.used() - baseline
    if (live > heapBytes) trip('memory')
    tolerated = Math.max(heapBytes, live + ROOM)
  }

  function check(): void {
    if (tripped !== undefined) throw tripped.error
    if (signals.stop !== STOP.none) trip(signals.stop === STOP.cancelled ? 'cancelled' : 'time')
  }

  return {
    begin(next) {
      phase = next
      tripped = undefined
      spent = 0
      looked = 0
    },
    get tripped() {
      return tripped
    },
    spend(instructions) {
      spent += instructions
      if (spent > allowed) trip('instructions')
      if (spent - looked >= LOOK_AFTER) look()
      else check()
    },
    charge(bytes) {
      if (tripped !== undefined) throw tripped.error
      if (bytes > heapBytes) trip('memory')
      charged += bytes + BUFFER
      if (charged > CHARGED) look()
    },
    check,
    trip,
  }
}

function sentence(excess: Excess, phase: Phase, ms: number): string {
  switch (excess) {
    case 'cancelled':
      return 'callback cancelled'
    case 'instructions':
      return `the ${phase} used its budget of ${allowed} instructions`
    case 'time':
      return `the ${phase} used its time budget of ${ms} ms`
    case 'memory':
      return `the script used its ${heapBytes} bytes of memory`
    case 'fault':
      return `the ${phase} nested more calls than the sandbox can hold`
  }
}
