/**
 * Regular expressions in linear time (threat-model X2): all ways to match are followed at once, and sets of them that
 * came up before are remembered as the states of a growing automaton.
 *
 * I1 A character costs at most one pass over the program, whatever the pattern and the text.
 * I2 What is remembered is bounded by `REMEMBERED`; beyond it a line is matched without remembering, and the next one starts anew.
 */
import { isWord } from './characters.js'
import { compileProgram, type Program } from './program.js'
import { type Flags, parseRegex } from './syntax.js'

export type Matcher = (line: string) => boolean

/** Instructions in remembered states, and transitions between them. */
const REMEMBERED = 200_000

/** What stands beside a position. */
type Side = 'edge' | 'word' | 'other'

interface State {
  /** Instructions reached so far, before assertions and splits are followed. */
  readonly core: readonly number[]
  readonly before: Side
  readonly next: Map<number, State | 'match'>
}

/** Whether a line contains a match; throws `ToolError` for a pattern that cannot be used. */
export function compileRegex(pattern: string, flags: Flags): Matcher {
  const program = compileProgram(parseRegex(pattern, flags))
  let automaton = createAutomaton(program)
  return (line) => {
    if (automaton.isFull()) automaton = createAutomaton(program) // I2
    return automaton.matches(line)
  }
}

function createAutomaton(program: Program): { matches: Matcher; isFull(): boolean } {
  const states = new Map<string, State>()
  let remembered = 0

  const stateOf = (core: readonly number[], before: Side): State => {
    if (remembered > REMEMBERED) return { core, before, next: new Map() }
    const key = `${before}:${core.join(',')}`
    const known = states.get(key)
    if (known !== undefined) return known
    const state: State = { core, before, next: new Map() }
    states.set(key, state)
    remembered += core.length
    return state
  }
  const step = (state: State, code: number): State | 'match' => {
    const side = isWord(code) ? 'word' : 'other'
    const reached = follow(program, state, side)
    const result = reached === 'match' ? reached : stateOf(advance(program, reached, code), side)
    if (remembered <= REMEMBERED) state.next.set(code, result)
    remembered++
    return result
  }
  const start = stateOf([], 'edge')

  return {
    isFull: () => remembered > REMEMBERED,
    matches(line) {
      let state = start
      for (let at = 0; at < line.length; at++) {
        const code = line.codePointAt(at) ?? 0
        if (code > 0xffff) at++
        const next = state.next.get(code) ?? step(state, code)
        if (next === 'match') return true
        state = next
      }
      return follow(program, state, 'edge') === 'match'
    },
  }
}

/** All instructions reachable without a character; a match may begin anywhere, so the start is always among them. */
function follow(program: Program, { core, before }: State, after: Side): Set<number> | 'match' {
  const reached = new Set<number>()
  const open = [...core, program.start]
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    if (reached.has(index)) continue
    reached.add(index)
    const instruction = program.instructions[index]
    if (instruction?.op === 'match') return 'match'
    if (instruction?.op === 'split') open.push(...instruction.next)
    if (instruction?.op === 'assert' && holds(instruction.kind, before, after)) open.push(instruction.next)
  }
  return reached
}

function advance(program: Program, reached: ReadonlySet<number>, code: number): number[] {
  const core = new Set<number>()
  for (const index of reached) {
    const instruction = program.instructions[index]
    if (instruction?.op === 'char' && instruction.test(code)) core.add(instruction.next)
  }
  return [...core].toSorted((a, b) => a - b)
}

function holds(kind: 'start' | 'end' | 'boundary' | 'inside', before: Side, after: Side): boolean {
  if (kind === 'start') return before === 'edge'
  if (kind === 'end') return after === 'edge'
  const boundary = (before === 'word') !== (after === 'word')
  return kind === 'boundary' ? boundary : !boundary
}
